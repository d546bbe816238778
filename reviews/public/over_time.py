"""One metric over time: across wordings, judges and runs, with every change marked and nothing joined across one."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from impactbench.domain import Polarity
from impactbench.rates.metric_tally import MetricName
from reviews.public.results import PublicResults, remembered
from validation.intervals import wilson
from validation.results import Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A model's rate on a metric in one run."""

    model: str
    family: str
    run: str
    run_made: datetime
    version: int
    judge: str
    judge_id: int
    rate: Estimate
    segment: int
    """Points of one model are joined by a line only within a segment: wording and judge are the same there."""
    changed: tuple[str, ...]
    """What is not as it was in the model's point before: the wording, the judge."""


def over_time(results: PublicResults, benchmark: str, metric: str) -> list[Point]:
    """Every rate that the study has on a metric, by model and time; both ages together."""
    counts = results.counts
    rows = counts[(counts["benchmark"] == benchmark) & (counts["metric"] == metric)]
    summed = (
        rows.groupby(
            [
                "model",
                "run_made",
                "run_id",
                "version",
                "judge_id",
                "family",
                "run",
                "judge",
                "polarity",
            ],
            sort=True,
        )[["n", "present", "unscored"]]
        .sum()
        .reset_index()
    )
    points: list[Point] = []
    for row in summed.to_dict("records"):
        before = points[-1] if points and points[-1].model == row["model"] else None
        changed = _changes(before, int(row["version"]), int(row["judge_id"]))
        scored = int(row["n"] - row["unscored"])
        passed = int(row["present"] if row["polarity"] == Polarity.POSITIVE else scored - row["present"])
        points.append(
            Point(
                model=row["model"],
                family=row["family"],
                run=row["run"],
                run_made=row["run_made"],
                version=int(row["version"]),
                judge=row["judge"],
                judge_id=int(row["judge_id"]),
                rate=wilson(passed, scored) if scored else Estimate.undefined("no_ratings", n=0),
                segment=0 if before is None else before.segment + bool(changed),
                changed=changed,
            )
        )
    return points


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """What a study has on a metric beyond one look at it."""

    runs: int
    """The most that one model has."""
    versions: int
    judges: int

    @property
    def changes(self) -> bool:
        """Whether there is anything to follow over time."""
        return max(self.runs, self.versions, self.judges) > 1


@remembered
def histories(results: PublicResults) -> Mapping[MetricName, History]:
    """For each metric in the order of the results, how often it was looked at, in how many wordings, by how many judges."""
    counts = results.counts
    keys = list(zip(counts["benchmark"], counts["metric"], strict=True))
    runs: dict[tuple[MetricName, str], set[int]] = {}
    versions: dict[MetricName, set[int]] = {}
    judges: dict[MetricName, set[int]] = {}
    columns = (counts[name] for name in ("model", "run_id", "version", "judge_id"))
    for key, model, run, version, judge in zip(keys, *columns, strict=True):
        runs.setdefault((key, model), set()).add(run)
        versions.setdefault(key, set()).add(version)
        judges.setdefault(key, set()).add(judge)
    most: dict[MetricName, int] = {}
    for (key, _), of_model in runs.items():
        most[key] = max(most.get(key, 0), len(of_model))
    return {
        key: History(runs=most[key], versions=len(versions[key]), judges=len(judges[key]))
        for key in results.metrics
    }


def _changes(before: Point | None, version: int, judge_id: int) -> tuple[str, ...]:
    if before is None:
        return ()
    return (
        *((f"the wording: version {before.version} became {version}",) if before.version != version else ()),
        *(("the judge",) if before.judge_id != judge_id else ()),
    )

"""Where labels and judgments become evidence: the tables that the audit is computed from, and the audit itself.

A unit is an item: a conversation under one metric version. Nothing is pooled across metric versions or judges, only
submitted labels count, and repeats, adjudications and judgments never enter a figure about experts among themselves.
"""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from sqlalchemy import Engine

from impactbench.domain import AssignmentReason, LabelStatus, LabelVerdict
from impactbench.store import frames
from reviews.blindness import recognition
from reviews.references import adjudicated, metric_reviews, reference_verdicts
from validation.agreement import Agreement, coefficients, krippendorff_alpha
from validation.judge_accuracy import JudgeAccuracy, judge_accuracy
from validation.mapping import PRIMARY, Policy
from validation.ratings import Ratings
from validation.results import Estimate

SCALE = tuple(str(verdict) for verdict in LabelVerdict)
"""The categories of a label, in order."""

ALL = "All metrics"
_ITEM = ["conversation_id", "metric_version_id"]
SEED = 20_261_020


@dataclass(frozen=True)
class StudyTables:
    """What an audit of a study reads, joined once; it may come from a database or from files.

    What many figures are made of is made once as well, when it is first asked for.
    """

    metrics: pd.DataFrame
    """One row a metric version of the study: metric_version_id, title, metric, benchmark, polarity, version, subareas
    (a list), superseded (experts have rated a later version), ..."""
    assignments: pd.DataFrame
    """One row an assignment with its newest label and what is known of its item."""
    judgments: pd.DataFrame
    """One row a judgment."""
    decisions: pd.DataFrame
    """One row an adjudicated item; see `reviews.references.adjudicated`."""
    conversations: pd.DataFrame
    """One row a conversation: conversation_id, run, conversation, age, model, family, base_scenario, n_turns."""
    metric_reviews: pd.DataFrame = field(default_factory=pd.DataFrame)
    """One row an answer to a question about a metric: metric_version_id, rater, question, value; empty where none was
    asked."""
    recognised: pd.DataFrame = field(default_factory=pd.DataFrame)
    """One row a rater who is asked whether a model was recognised; see `reviews.blindness.recognition.answers`."""

    @cached_property
    def core_ratings(self) -> Ratings:
        """The ratings of the random core: what headline figures are made of."""
        return expert_ratings(random_core(self.assignments))

    @cached_property
    def current(self) -> "StudyTables":
        """The study without what was said of metric versions that a later one has replaced."""
        old = set(self.metrics.loc[self.metrics["superseded"], "metric_version_id"])
        if not old:
            return self

        def kept(frame: pd.DataFrame) -> pd.DataFrame:
            return frame[~frame["metric_version_id"].isin(old)].reset_index(drop=True)

        names = ("metrics", "assignments", "judgments", "decisions")
        return replace(self, **{name: kept(getattr(self, name)) for name in names})

    @cached_property
    def made(self) -> dict[Hashable, Any]:
        """What several figures are made of and was made of these tables, by what it is."""
        return {}


def read_tables(engine: Engine, study: str) -> StudyTables:
    """Read a study from the database."""
    conversations = frames.conversations(engine, study)
    asked, judgments = frames.assignments(engine, study, slots=True), frames.judgments(engine, study)
    metrics = frames.metrics(engine)
    used = pd.concat([frame["metric_version_id"] for frame in (conversations, asked, judgments)]).unique()
    return joined(
        metrics[metrics["metric_version_id"].isin(used)].reset_index(drop=True),
        asked,
        judgments,
        adjudicated(engine, study),
        conversations,
        metric_reviews(engine, study),
        recognition.answers(engine, study),
    )


def joined(
    metrics: pd.DataFrame,
    asked: pd.DataFrame,
    judgments: pd.DataFrame,
    decisions: pd.DataFrame,
    conversations: pd.DataFrame,
    metric_reviews: pd.DataFrame | None = None,
    recognised: pd.DataFrame | None = None,
) -> StudyTables:
    """Put what was read together. `title` names a metric for people: its name, and its version where there are several."""
    metrics = metrics.assign(superseded=superseded(metrics, asked))
    several = metrics.duplicated(["benchmark", "metric"], keep=False)
    version = metrics["version"].astype(str)
    metrics["title"] = metrics["name"].where(~several, metrics["name"] + " (version " + version + ")")
    about_items = conversations[
        ["conversation_id", "run", "conversation", "age", "model", "family", "base_scenario"]
    ]
    about_metrics = metrics[["metric_version_id", "title", "polarity"]]
    assignments = asked.merge(about_items, on="conversation_id", how="left").merge(
        about_metrics, on="metric_version_id", how="left"
    )
    reviews = pd.DataFrame() if metric_reviews is None else metric_reviews
    told = pd.DataFrame() if recognised is None else recognised
    return StudyTables(metrics, assignments, judgments, decisions, conversations, reviews, told)


def superseded(metrics: pd.DataFrame, asked: pd.DataFrame) -> pd.Series:
    """Whether experts have rated a later version of the metric: only the newest that they rated is pooled."""
    rated = asked.loc[asked["status"] == LabelStatus.SUBMITTED, "metric_version_id"].unique()
    rated_version = metrics["version"].where(metrics["metric_version_id"].isin(rated))
    newest = rated_version.groupby([metrics["benchmark"], metrics["metric"]]).transform("max")
    return (metrics["version"] < newest).astype(bool)


def expert_ratings(assignments: pd.DataFrame) -> Ratings:
    """The submitted first labels as ratings: units (conversation, metric version), clusters metric versions."""
    submitted = assignments[(assignments["status"] == LabelStatus.SUBMITTED) & (assignments["repeat"] == 0)]
    long = pd.DataFrame(
        {
            "unit": submitted.groupby(_ITEM, sort=False).ngroup(),
            "rater": submitted["rater"],
            "value": submitted["label"],
            "metric": submitted["metric_version_id"],
        }
    ).astype({"rater": object, "value": object})
    found = Ratings.from_frame(long, categories=SCALE, cluster="metric")
    items = submitted[_ITEM].drop_duplicates()
    return replace(found, units=tuple(zip(*(items[name].tolist() for name in _ITEM), strict=True)))


def random_core(assignments: pd.DataFrame) -> pd.DataFrame:
    """The assignments that headline figures rest on: those that no label had a part in bringing about.

    Extra raters were sent to items because these had divided the first ones, and gold items were chosen because
    everybody agreed: with either, agreement would be that of the choice. What a rater labelled after their slot had
    been given up stays in, for that depended on the rater and not on the item.
    """
    return assignments[assignments["reason"] == AssignmentReason.CORE]


def weighted_alpha(assignments: pd.DataFrame) -> Estimate:
    """Ordinal alpha with all raters of the items that were given extra ones, each weighted by one over its chance of that.

    A check on the headline, and less precise.
    """
    extra = assignments[assignments["reason"] == AssignmentReason.ADAPTIVE]
    if extra.empty:
        return Estimate.undefined("no_pairable_items", n=0, n_ratings=0)
    chance = (
        extra.groupby(["conversation_id", "metric_version_id"])["inclusion_probability"].first().to_dict()
    )
    either = [AssignmentReason.CORE, AssignmentReason.ADAPTIVE]
    ratings = alone(expert_ratings(assignments[assignments["reason"].isin(either)]))
    weights = [1 / chance[unit] if unit in chance else 0.0 for unit in ratings.units]
    return krippendorff_alpha(ratings, level="ordinal", unit_weights=weights)


def alone(ratings: Ratings) -> Ratings:
    """The ratings of one metric, in which items are the unit: no clusters."""
    return Ratings(ratings.codes, ratings.categories, ratings.units, ratings.raters)


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How much of a group of items was rated, and what was not."""

    group: str
    """A metric, or all."""
    items: int
    """Items that somebody was asked to rate."""
    by_raters: tuple[int, int, int, int]
    """Items with no label, one, two, three and more."""
    raters: int
    """Raters with a label."""
    labels: int
    """Labels that carry a verdict."""
    cannot_judge: int
    skipped: int
    not_yet_rated: int
    components: int
    """Groups of raters with no item in common; raters can only be compared within one."""


def coverage(tables: StudyTables) -> list[Coverage]:
    """Coverage of all metrics together and of each; a version that a later one has replaced has its own row alone."""
    rows = tables.assignments[tables.assignments["repeat"] == 0]
    replaced = tables.metrics.loc[tables.metrics["superseded"], "metric_version_id"]
    whole = rows[~rows["metric_version_id"].isin(replaced)].assign(group=ALL)
    titles = dict(zip(tables.metrics["metric_version_id"], tables.metrics["title"], strict=True))
    single = rows.assign(group=rows["metric_version_id"])
    return [*_coverages(whole, [ALL], {ALL: ALL}), *_coverages(single, list(titles), titles)]


def _coverages(rows: pd.DataFrame, groups: list[Any], names: Mapping[Any, str]) -> list[Coverage]:
    """The coverage of every group of assignments (column `group`), counted at once."""
    per_item = rows.groupby(["group", *_ITEM], sort=False)["label"].count().clip(upper=3)
    by_raters = per_item.groupby([per_item.index.get_level_values("group"), per_item]).size().to_dict()
    statuses = rows.groupby(["group", rows["status"].map(str)]).size().to_dict()
    submitted = rows[rows["status"] == LabelStatus.SUBMITTED]
    raters = submitted.groupby("group")["rater"].nunique().to_dict()
    components = _components(submitted)
    found = []
    for group in groups:
        none, one, two, more = (int(by_raters.get((group, k), 0)) for k in range(4))
        found.append(
            Coverage(
                group=names[group],
                items=none + one + two + more,
                by_raters=(none, one, two, more),
                raters=int(raters.get(group, 0)),
                labels=int(statuses.get((group, LabelStatus.SUBMITTED), 0)),
                cannot_judge=int(statuses.get((group, LabelStatus.CANNOT_JUDGE), 0)),
                skipped=int(statuses.get((group, LabelStatus.SKIPPED), 0)),
                not_yet_rated=int(statuses.get((group, "not_yet_rated"), 0)),
                components=int(components.get(group, 0)),
            )
        )
    return found


def _components(submitted: pd.DataFrame) -> dict[Any, int]:
    """For each group the connected components of the graph of raters and the items that they rated."""
    items = submitted.groupby(["group", *_ITEM], sort=False).ngroup().to_numpy()
    raters = submitted.groupby(["group", "rater"], sort=False).ngroup().to_numpy()
    n_items = int(items.max(initial=-1)) + 1
    size = n_items + int(raters.max(initial=-1)) + 1
    if not size:
        return {}
    graph = coo_matrix((np.ones(len(items)), (items, n_items + raters)), shape=(size, size))
    labels = connected_components(graph, directed=False)[1]
    found: dict[Any, int] = (
        pd.Series(labels[items]).groupby(submitted["group"].to_numpy()).nunique().to_dict()
    )
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementRow:
    """Agreement among experts in one group of items."""

    group: str
    pooled: bool
    """Whether the group holds several metrics, so that its interval deletes metrics, not items."""
    found: Agreement


def agreement(tables: StudyTables) -> list[AgreementRow]:
    """Agreement among experts in the random core: all metrics, each polarity, each metric."""
    rows = []
    for group, part in _groups(tables):
        ratings = expert_ratings(random_core(part))
        pooled = ratings.n_clusters != 1
        rows.append(
            AgreementRow(
                group=group, pooled=pooled, found=coefficients(ratings if pooled else alone(ratings))
            )
        )
    return rows


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRow:
    """A judge against the experts in one group of items."""

    group: str
    judge: str
    pooled: bool
    found: JudgeAccuracy
    three_way: NDArray[np.float64]
    """(3, 2): items by the experts' verdict (fail, undecided, pass) and the judge's (fail, pass)."""


def judges_against_experts(tables: StudyTables, policy: Policy = PRIMARY) -> list[JudgeRow]:
    """Each judge's first run against the experts' reference in the random core: all metrics, each polarity, each metric."""
    rows = []
    for judge, verdicts in first_runs(tables):
        for group, part in _groups(tables):
            ratings = expert_ratings(random_core(part))
            truth, judged = (
                reference_verdicts(ratings, policy, decisions=tables.decisions),
                judge_pass(verdicts, ratings),
            )
            pooled = ratings.n_clusters != 1
            rows.append(
                JudgeRow(
                    group=group,
                    judge=judge,
                    pooled=pooled,
                    found=judge_accuracy(
                        truth,
                        judged,
                        clusters=ratings.clusters if pooled else None,
                        policy=policy.name,
                        seed=SEED,
                    ),
                    three_way=_three_way(truth, judged),
                )
            )
    return rows


def first_runs(tables: StudyTables) -> Iterator[tuple[str, pd.DataFrame]]:
    """Each judge with its first run, indexed by item: the verdict that was deployed."""
    first = tables.judgments[tables.judgments["repeat"] == 0]
    for (_, judge), verdicts in first.groupby(["judge_id", "judge"]):
        yield str(judge), verdicts.set_index(["conversation_id", "metric_version_id"])


def judge_pass(verdicts: pd.DataFrame, ratings: Ratings) -> NDArray[np.float64]:
    """(units,): what a judge said of each rated item: 1 pass, 0 fail, nan where it has no verdict."""
    items = pd.MultiIndex.from_tuples(list(ratings.units), names=verdicts.index.names)  # type: ignore[arg-type]
    said = verdicts["passed"].reindex(items)
    return np.asarray(said.astype("Float64").to_numpy(dtype=np.float64, na_value=np.nan), dtype=np.float64)


def _three_way(truth: NDArray[np.float64], judged: NDArray[np.float64]) -> NDArray[np.float64]:
    both = ~np.isnan(truth) & ~np.isnan(judged)
    row = np.sign(truth[both] - 0.5).astype(int) + 1
    table = np.zeros((3, 2))
    np.add.at(table, (row, judged[both].astype(int)), 1)
    return table


def _groups(tables: StudyTables, *, by_polarity: bool = True) -> Iterator[tuple[str, pd.DataFrame]]:
    """All items, those of each polarity where there are both, and those of each metric in order.

    What was said of a version that a later one has replaced is pooled with nothing, and keeps the row of its own.
    """
    replaced = tables.metrics.loc[tables.metrics["superseded"], "metric_version_id"]
    whole = tables.assignments[~tables.assignments["metric_version_id"].isin(replaced)]
    yield ALL, whole
    if by_polarity and whole["polarity"].nunique() > 1:
        for polarity, part in whole.groupby("polarity"):
            yield f"{str(polarity).capitalize()} metrics", part
    for version, title in zip(tables.metrics["metric_version_id"], tables.metrics["title"], strict=True):
        yield str(title), tables.assignments[tables.assignments["metric_version_id"] == version]


def split_items(part: pd.DataFrame) -> pd.DataFrame:
    """The items of which experts disagree, most divided first: conversation, and how often each label was given."""
    submitted = part[(part["status"] == LabelStatus.SUBMITTED) & (part["repeat"] == 0)]
    counts = submitted.pivot_table(
        index="conversation", columns="label", values="assignment_id", aggfunc="count", fill_value=0
    ).reindex(columns=list(SCALE), fill_value=0)
    divided = counts[(counts > 0).sum(axis=1) > 1]
    order = (divided.max(axis=1) / divided.sum(axis=1)).sort_values(kind="stable").index
    return divided.loc[order].reset_index()

"""The published platform comes in whole, and its published figures come out of the database again."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, select

from impactbench.adapters import ImportRefused
from impactbench.adapters.platform import import_platform
from impactbench.adapters.platform_reading import read_platform
from impactbench.domain import AgeVariant
from impactbench.store import frames
from impactbench.store import tables as t
from impactbench.store.engine import reading

PLATFORM = "data/impactbench/platform"
AGES = {AgeVariant.TEEN: "child", AgeVariant.ADULT: "adult"}
WITHOUT_VERDICTS = 4
"""Published cells of two metrics that neither the taxonomy nor the verdicts have."""


def published(shared: Path, name: str) -> Any:
    return json.loads((shared / PLATFORM / name).read_text("utf-8"))


def test_every_published_rate_and_category_score_comes_out_of_the_database(
    sqlite_engine: Engine, shared: Path
) -> None:
    platform = read_platform(shared / PLATFORM)
    first = import_platform(sqlite_engine, platform, study="platform")
    assert {kind: (tally.read, tally.added) for kind, tally in first.tallies.items()} == {
        "metrics": (360, 360),
        "scenarios": (2_160, 2_160),
        "conversations": (31_236, 31_236),
        "judgments": (31_236, 31_236),
        "headings": (9, 9),
    }
    again = import_platform(sqlite_engine, platform, study="platform")
    assert not again.changed

    conversations = frames.conversations(sqlite_engine, "platform")
    assert set(conversations["status"]) == {"labels_only"}
    verdicts = frames.judgments(sqlite_engine, "platform")[["conversation_id", "passed"]]
    rows = conversations.merge(verdicts, on="conversation_id")
    rates = (
        rows.assign(passed=rows["passed"].astype(float))
        .groupby(["model", "age", "benchmark", "metric"], observed=True)["passed"]
        .mean()
    )
    found = {
        (f"{model}|{AGES[AgeVariant(age)]}", f"{benchmark}__{metric}"): round(rate, 4)
        for model, age, benchmark, metric, rate in rates.reset_index().itertuples(index=False)
    }
    expected = {
        (model, metric): rate
        for model, cells in published(shared, "benchmark-data.json").items()
        for metric, rate in cells.items()
    }
    assert len(found) == 10_412
    assert len(expected.keys() - found.keys()) == WITHOUT_VERDICTS
    assert {key: (rate, expected[key]) for key, rate in found.items() if rate != expected[key]} == {}

    members = _members(sqlite_engine)
    off = {}
    for category in published(shared, "nutrition-score.json"):
        for model, ages in category["models"].items():
            for age, score in ages.items():
                cells = [found.get((f"{model}|{age}", metric)) for metric in members[category["id"]]]
                known = [cell for cell in cells if cell is not None]
                mean = sum(known) / len(known)
                if abs(mean - score) > 0.00005 + 1e-9:
                    off[category["id"], model, age] = (mean, score)
    assert off == {}


def _members(engine: Engine) -> dict[str, list[str]]:
    """The metrics under each heading."""
    found: dict[str, list[str]] = {}
    with reading(engine) as session:
        for category, benchmark, metric in session.execute(
            select(t.Category.slug, t.Benchmark.slug, t.Metric.slug)  # type: ignore[call-overload]
            .join(t.CategoryMetric, t.CategoryMetric.category_id == t.Category.id)
            .join(t.Metric, t.Metric.id == t.CategoryMetric.metric_id)
            .join(t.Benchmark, t.Benchmark.id == t.Metric.benchmark_id)
        ):
            found.setdefault(category, []).append(f"{benchmark}__{metric}")
    return found


SMALL: dict[str, Any] = {
    "scenario-index.json": {
        "kindness__m01": [
            {
                "scenario_id": f"m01_s001_{variant}",
                "title": "To be heard",
                "age": age,
                "benchmark": "kindness",
                "verdicts": {"tansy-2": said},
            }
            for variant, age, said in (("v01", "child", "yes"), ("v02", "adult", None))
        ]
    },
    "taxonomy.json": {
        "areas": [
            {
                "name": "Social",
                "subareas": [
                    {
                        "id": "care,-kindness",
                        "name": "Care",
                        "metrics": [{"id": "kindness__m01", "name": "Listens", "type": "positive"}],
                    }
                ],
            }
        ]
    },
    "models.json": {"models": [{"id": "tansy-2", "name": "Tansy Two", "provider": "Tansy Works"}]},
    "metric-criteria.json": {"kindness__m01": "It listens."},
    "metric-meta.json": {"kindness__m01": {"contributor": "Kindness", "mattersBecause": "It helps."}},
    "nutrition-cat.json": [{"id": "care", "label": "Cares", "metrics": [{"id": "kindness__m01"}]}],
}


def small(folder: Path, change: Callable[[dict[str, Any]], object] | None = None) -> Path:
    """A folder like the platform's, with one thing changed."""
    files = json.loads(json.dumps(SMALL))
    if change:
        change(files)
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content), "utf-8")
    return folder


def test_a_small_platform_is_kept_on_both_databases_and_a_verdict_is_never_overwritten(
    engine: Engine, tmp_path: Path
) -> None:
    import_platform(engine, read_platform(small(tmp_path)), study="small", judge_name="gpt-5")
    judgments = frames.judgments(engine, "small")
    assert sorted(judgments["unscored_because"]) == ["", "the platform gives no verdict"]
    assert set(judgments["judge"]) == {"gpt-5"}
    (metric,) = frames.metrics(engine).to_dict("records")
    assert (metric["name"], metric["definition"], metric["subareas"]) == ("Listens", "It listens.", ["Care"])

    def turn_round(files: dict[str, Any]) -> None:
        files["scenario-index.json"]["kindness__m01"][0]["verdicts"]["tansy-2"] = "no"

    with pytest.raises(
        ImportRefused, match="was imported as yes and is no now: import it into another study"
    ):
        import_platform(engine, read_platform(small(tmp_path, turn_round)), study="small", judge_name="gpt-5")
    assert len(frames.judgments(engine, "small")) == 2


def _first(files: dict[str, Any]) -> dict[str, Any]:
    scenario: dict[str, Any] = files["scenario-index.json"]["kindness__m01"][0]
    return scenario


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            lambda files: _first(files).update(age="old"),
            "age is the text 'old', it must be 'child' or 'adult'",
        ),
        (lambda files: _first(files)["verdicts"].update({"tansy-2": "true"}), "must be 'yes', 'no' or null"),
        (lambda files: _first(files)["verdicts"].update(other="yes"), "'other', which is not in models.json"),
        (lambda files: _first(files).update(scenario_id="m01_s001_v02"), "is there twice in kindness"),
        (lambda files: _first(files).update(benchmark="x"), "but its metric is one of 'kindness'"),
        (
            lambda files: files["scenario-index.json"].update(kindness__m02=[]),
            "'kindness__m02' is not in taxonomy.json",
        ),
        (lambda files: files["scenario-index.json"].update(m01=[]), "it must be <benchmark>__<metric>"),
        (
            lambda files: files["nutrition-cat.json"][0]["metrics"].append({"id": "kindness__m09"}),
            "'kindness__m09' is not in taxonomy.json",
        ),
        (lambda files: files["models.json"].update(models=[{"id": "tansy-2"}]), "there is no 'provider'"),
    ],
)
def test_what_is_wrong_in_a_platform_folder_is_one_sentence(
    tmp_path: Path, change: Callable[[dict[str, Any]], object], sentence: str
) -> None:
    with pytest.raises(ImportRefused, match=r"\.json") as refused:
        read_platform(small(tmp_path, change))
    assert sentence in str(refused.value)

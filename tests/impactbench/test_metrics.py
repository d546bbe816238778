"""Reading a suite: what is written comes in whole, what cannot be read is refused by name."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from impactbench.adapters import ImportRefused
from impactbench.domain import Polarity
from impactbench.metrics import Difficulty, load_benchmark, load_suite
from impactbench.resources import subareas
from impactbench.suite.coverage import coverage
from impactbench.suite.validity import Recommendation

METRIC: dict[str, Any] = {
    "slug": "asks",
    "name": "Asks",
    "polarity": "positive",
    "definition": "The chatbot asks.",
    "matters": "It helps.",
    "sources": ["Someone, A. (2000). A title."],
    "difficulty": "high",
}


def write(folder: Path, **changes: Any) -> Path:
    file = folder / "small.yaml"
    whole = {"name": "Small", "subareas": ["law"], "metrics": [METRIC]} | changes
    file.write_text(yaml.safe_dump(whole), encoding="utf-8")
    return file


def test_the_suite_of_the_program_covers_every_subarea_with_both_polarities() -> None:
    suite = load_suite()
    assert len(suite.metrics) >= 56
    assert min(count for row in coverage(suite.metrics) for count in row.counts.values()) >= 2
    assert [row.subarea for row in coverage(suite.metrics)] == [place.name for place in subareas()]
    assert all(set(benchmark.validity) == set(Recommendation) for benchmark in suite.benchmarks)
    assert len({metric.key for metric in suite.metrics}) == len(suite.metrics)


def test_a_metric_comes_in_with_all_that_is_said_about_it(tmp_path: Path) -> None:
    write(tmp_path)
    metric = load_suite(tmp_path).metric("small/asks")
    assert (metric.definition.polarity, metric.difficulty) == (Polarity.POSITIVE, Difficulty.HIGH)
    assert metric.subareas == ("law",)
    assert metric.definition.evidence == "It helps.\nSource: Someone, A. (2000). A title."


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"metrics": [METRIC | {"polarity": "good"}]},
            "metric 'asks': polarity is the text 'good', it must be",
        ),
        ({"metrics": [METRIC | {"difficulty": "hard"}]}, "difficulty is the text 'hard', it must be low or"),
        ({"metrics": [METRIC | {"examples": []}]}, "metric 'asks': 'examples' is no field here"),
        ({"metrics": [METRIC, METRIC]}, "the metric 'asks' is there twice"),
        ({"metrics": [METRIC | {"name": " "}]}, "name is empty, it must say something"),
        ({"metrics": [METRIC | {"sources": "one"}]}, "sources is the text 'one', it must be a list"),
        ({"metrics": None}, "there is no 'metrics'"),
        ({"validity": {"beauty": "Much."}}, "'beauty' is no recommendation; they are"),
        ({"title": "x"}, "'title' is no field here; the fields are"),
    ],
)
def test_what_cannot_be_read_is_refused_by_file_metric_and_value(
    tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    file = write(tmp_path, **changes)
    with pytest.raises(ImportRefused) as refused:
        load_benchmark(file)
    assert str(refused.value).startswith(str(file))
    assert said in str(refused.value)


def test_an_empty_folder_and_an_unknown_metric_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ImportRefused, match=r"there is no benchmark here, which would be a file NAME\.yaml"):
        load_suite(tmp_path)
    with pytest.raises(ImportRefused, match="the suite has no metric 'small/none'"):
        load_suite().metric("small/none")

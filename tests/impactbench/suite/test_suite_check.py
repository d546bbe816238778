"""The rules for metrics: each finds its mistake and leaves what is right alone."""

import json
from pathlib import Path
from typing import Any

import pytest

from impactbench.domain import MetricDefinition, Polarity
from impactbench.metrics import Suite, SuiteBenchmark, SuiteMetric, load_suite
from impactbench.suite.check import Rule, check_suite
from impactbench.suite.validity import Recommendation
from impactbench.suite.wording import avoidance, second_behaviour, unobservable

RIGHT = MetricDefinition(
    name="Asks for reasons",
    polarity=Polarity.POSITIVE,
    definition="The chatbot asks the person for reasons of their own.",
    question="Does the chatbot ask for reasons?",
    interpretive_clause="One question is enough. A question about facts does not count.",
    examples_present=("What matters to you in this?", "Why would you want that?"),
    examples_absent=("Take the first one.", "When does it begin?"),
)
NEGATIVE = {"polarity": Polarity.NEGATIVE, "name": "Decides for the person"}


def benchmark(slug: str, *metrics: SuiteMetric, answered: bool = True) -> SuiteBenchmark:
    validity = {one: "Said." for one in Recommendation if answered or one is not Recommendation.REUSE}
    return SuiteBenchmark(
        slug=slug, name=slug, description="", validity=validity, metrics=metrics, file=f"{slug}.yaml"
    )


def metric(slug: str = "asks", *, place: dict[str, Any] | None = None, **words: Any) -> SuiteMetric:
    where = {"benchmark": "one", "subareas": ("law",), "matters": "It helps.", "sources": ("Doe (2001). A.",)}
    return SuiteMetric(slug=slug, definition=RIGHT.model_copy(update=words), **(where | (place or {})))


def rules(*benchmarks: SuiteBenchmark) -> list[Rule]:
    return [finding.rule for finding in check_suite(Suite(benchmarks=benchmarks))]


def test_the_suite_of_the_program_has_nothing_to_mend() -> None:
    assert [str(finding) for finding in check_suite(load_suite())] == []


def test_a_metric_that_is_right_passes() -> None:
    assert rules(benchmark("one", metric())) == []


@pytest.mark.parametrize(
    ("wrong", "rule"),
    [
        (metric(definition="The chatbot asks for reasons and offers a choice."), Rule.TWO_BEHAVIOURS),
        (metric(definition="The chatbot wants the person to decide."), Rule.UNOBSERVABLE),
        (metric(definition="The chatbot answers appropriately."), Rule.UNOBSERVABLE),
        (metric(definition="The chatbot makes the person feel at home."), Rule.UNOBSERVABLE),
        (metric(**NEGATIVE, definition="The chatbot fails to ask for reasons."), Rule.AVOIDANCE),
        (metric(**NEGATIVE | {"name": "Avoids deciding"}), Rule.AVOIDANCE),
        (metric(examples_absent=("Take it.", "What matters to you, in this?")), Rule.EXAMPLES_CONTRADICT),
        (metric(examples_absent=("Take it.", "Why would you never want that?")), Rule.EXAMPLES_CONTRADICT),
        (metric(examples_absent=("Take it.",)), Rule.EXAMPLES_MISSING),
        (metric(examples_present=()), Rule.EXAMPLES_MISSING),
        (metric(interpretive_clause=""), Rule.CLAUSE),
        (metric(interpretive_clause="One is enough."), Rule.CLAUSE),
        (metric(interpretive_clause="So. " * 6), Rule.CLAUSE),
        (metric(question="Say whether it asks."), Rule.QUESTION),
        (metric(place={"sources": ()}), Rule.CITATION),
        (metric(place={"sources": ("As everybody knows.",)}), Rule.CITATION),
        (metric(place={"matters": ""}), Rule.CITATION),
        (metric(place={"subareas": ("politics",)}), Rule.SUBAREA),
        (metric(place={"subareas": ()}), Rule.SUBAREA),
    ],
)
def test_each_mistake_is_found_and_no_other(wrong: SuiteMetric, rule: Rule) -> None:
    assert rules(benchmark("one", wrong)) == [rule]


def test_near_duplicates_are_found_across_benchmarks_in_either_order() -> None:
    twin = metric("wants-reasons", place={"benchmark": "two"}, name="Asks to hear reasons")
    other = metric("tells", name="Gives a date", definition="The chatbot names a deadline for an objection.")
    for pair in ([metric(), other], [other, metric()]):
        found = check_suite(Suite(benchmarks=(benchmark("one", *pair), benchmark("two", twin))))
        assert [(one.rule, one.file, one.metric) for one in found] == [
            (Rule.NEAR_DUPLICATE, "two.yaml", "wants-reasons")
        ]
        assert "may ask the same as one/asks" in found[0].sentence


def test_a_benchmark_without_an_answer_about_its_validity_is_found() -> None:
    assert rules(benchmark("one", metric(), answered=False)) == [Rule.VALIDITY]


def test_a_finding_says_where_what_and_what_would_be_right() -> None:
    found = check_suite(Suite(benchmarks=(benchmark("one", metric(examples_absent=("Take it.",))),)))
    assert str(found[0]) == (
        "one.yaml: metric 'asks': there are 1 examples with the behaviour absent; give at least 2 short turns of a chatbot"
    )


@pytest.mark.parametrize(
    "fine",
    [
        "The chatbot asks what the person wants and fears.",
        "The chatbot acknowledges and accepts the feeling.",
        "The chatbot clearly and gently explains its limits.",
        "When the person asks for work and tells of a deadline, the chatbot asks for a first attempt.",
        "The chatbot says how an offer compares with what somebody who stays and waits would get.",
        "The chatbot asks how the person feels about it.",
        "The chatbot states whether a method would be effective.",
        "The chatbot changes its claim without offering a reason.",
    ],
)
def test_the_rules_on_words_leave_right_wordings_alone(fine: str) -> None:
    assert (second_behaviour(fine), unobservable(fine), avoidance(fine)) == ("", ("", ""), "")


def test_on_metrics_of_others_the_rules_find_no_more_than_what_was_looked_through(shared: Path) -> None:
    """The counts behind docs/suite.md, where it is said how many of these findings are wrong."""
    folder = shared / "data/impactbench/platform"
    criteria = json.loads((folder / "metric-criteria.json").read_text(encoding="utf-8"))
    areas = json.loads((folder / "taxonomy.json").read_text(encoding="utf-8"))["areas"]
    polarity = {
        one["id"]: one["type"] for area in areas for sub in area["subareas"] for one in sub["metrics"]
    }
    known = [key for key in polarity if key in criteria]
    assert len(known) == 360
    assert sum(bool(second_behaviour(criteria[key])) for key in known) == 14
    assert sum(bool(unobservable(criteria[key])[0]) for key in known) == 25
    assert sum(bool(avoidance(criteria[key])) for key in known if polarity[key] == "negative") == 0

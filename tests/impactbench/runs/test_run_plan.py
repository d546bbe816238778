"""The plan of a run: its counts, its keys, and the design that it is made from."""

import time
from pathlib import Path

import pandas as pd
import pytest
import yaml

from impactbench.domain import MetricDefinition, Polarity
from impactbench.metrics import SuiteMetric
from impactbench.prompts import NAMES, Prompt, prompt
from impactbench.runs.design import DesignRefused, read_design, read_scenarios
from impactbench.runs.estimates import estimate
from impactbench.runs.plan import RunPlan, count_units, plan_run
from impactbench.runs.state import Left, RunState, scenarios_with_work
from tests.impactbench.runs.invented_run import BASE, design, plan, suite, write_study


def published() -> RunPlan:
    """A plan of the published study's shape."""
    metrics = tuple(
        SuiteMetric(
            benchmark=f"b{number % 26:02}",
            slug=f"m{number:03}",
            subareas=(),
            definition=MetricDefinition(
                name=f"Metric {number}",
                polarity=Polarity.POSITIVE if number < 460 else Polarity.NEGATIVE,
                definition=f"The chatbot does number {number}. " + "It says so in so many words. " * 8,
                interpretive_clause="One clear instance is enough. " * 4,
            ),
        )
        for number in range(809)
    )
    targets = [{"model": f"script/target-{number}"} for number in range(10)]
    return RunPlan(
        design=design(scenarios_per_metric=3, targets=targets, simulation={"turns": 6}), metrics=metrics
    )


def test_the_published_studys_counts_follow_from_its_numbers() -> None:
    made = published()
    assert (
        made.counts
        == count_units(metrics=809, scenarios_per_metric=3, ages=2, targets=10)
        == count_units(metrics=809, scenarios_per_metric=3, ages=2, targets=10, judges=1, repeats=1)
    )
    assert (made.counts.scenario, made.counts.conversation) == (4_854, 48_540)
    left = Left(conversations=48_540, judgments=48_540, scenarios=4_854, not_judged=0)
    calls = sum(
        line.calls
        for line in estimate(made, left, spent=_nothing_spent(), price_of=lambda _: (1e-6, 4e-6)).lines
    )
    assert 630_000 < calls < 640_000


def test_the_embedded_model_writes_at_its_own_speed_and_no_faster_side_by_side() -> None:
    left = Left(conversations=6, judgments=6, scenarios=6, not_judged=0)
    model = {"model": "embedded/smollm2-135m"}
    made = plan(simulator=model, targets=[model], judges=[model])
    found = estimate(made, left, spent=_nothing_spent(), price_of=lambda _: (0.0, 0.0))
    assert found.minutes == pytest.approx(found.tokens / 160 / 60, rel=0.01)


def test_the_published_study_is_planned_and_taken_up_again_in_seconds() -> None:
    made = published()
    started = time.process_time()
    state, keys = RunState(), set()
    for scenario in made.scenarios():
        for variant in scenario.variants:
            for unit in variant.conversations:
                keys.add(unit.key)
                state.conversations[unit.row] = True
                state.judgments.update((unit.row, each.key) for each in unit.judgments)
    assert len(keys) == len(state.conversations) == 48_540
    state.conversations.popitem()
    assert len(list(scenarios_with_work(made, state))) == 1
    assert time.process_time() - started < 10  # two passes, each about a second on a quiet core


def test_keys_are_the_same_today_and_tomorrow_and_in_any_order() -> None:
    def rows(made: RunPlan) -> set[str]:
        return {
            unit.row
            for scenario in made.scenarios()
            for variant in scenario.variants
            for unit in variant.conversations
        }

    turned = plan(suite(*reversed(suite().metrics)))
    assert rows(plan()) == rows(turned)
    assert len(rows(plan())) == 8


def test_every_prompt_says_what_it_needs_and_refuses_what_it_does_not_know() -> None:
    assert {prompt(name).hash for name in NAMES} != {""}
    made = Prompt(name="x", text="[system]\nYou.\n[user]\n$a and $b")
    assert [said.content for said in made.render({"a": "$b", "b": "1"})] == ["You.", "$b and 1"]
    with pytest.raises(ValueError, match=r"missing \['b'\], unknown \['c'\]"):
        made.render({"a": "1", "c": "2"})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"targets": []}, "targets"),
        ({"turns": 4}, "turns is no field here"),
        ({"targets": [{"model": "a/one"}, {"model": "b/one"}]}, "two targets are called 'one'"),
        ({"judges": [{"model": "a/one"}] * 2}, "a judge is there twice"),
        ({"ages": ["teen", "teen"]}, "each once"),
        ({"simulation": {"turns": 3, "least_turns": 4}}, "least_turns"),
        ({"repeats": 0}, "repeats is '0'"),
        ({"study": {"slug": "Not A Slug"}}, "study.slug is 'Not A Slug'"),
    ],
)
def test_a_study_file_that_cannot_be_run_is_refused_with_its_field(
    tmp_path: Path, change: dict[str, object], said: str
) -> None:
    path = write_study(tmp_path)
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | change))
    with pytest.raises(DesignRefused) as refused:
        read_design(path)
    assert str(path) in str(refused.value)
    assert said in str(refused.value)


def test_metrics_that_the_suite_does_not_have_are_named() -> None:
    with pytest.raises(DesignRefused, match="nothing in the suite is called 'care/nothing'"):
        plan(metrics=["care/nothing"])
    assert [metric.key for metric in plan(metrics=["*/pres*"]).metrics] == ["care/presses"]


def test_written_scenarios_are_checked_like_any_other(tmp_path: Path) -> None:
    entry = {**BASE, "slug": "one", "metric": "asks", "ages": {"teen": "15.", "adult": "40."}}
    path = tmp_path / "scenarios.yaml"

    def read(**changes: object) -> object:
        path.write_text(yaml.safe_dump({"scenarios": [entry | changes]}))
        return read_scenarios(path, ages=design().ages, turns=2)

    written = read()
    assert plan_run(design(), suite(), written=written).counts.conversation == 4  # type: ignore[arg-type]
    for changes, said in (
        ({"persona": "A woman."}, "scenario 'one': it tells gender"),
        ({"ages": {"teen": "15."}}, "no persona for the age variant adult"),
        ({"anchors": [{"turn": 3, "instruction": "x"}]}, "turns 1 to 2"),
    ):
        with pytest.raises(DesignRefused, match=said):
            read(**changes)
    with pytest.raises(DesignRefused, match="no metric of the suite is called 'other'"):
        plan_run(design(), suite(), written=read(metric="other"))  # type: ignore[arg-type]


def _nothing_spent() -> pd.DataFrame:
    return pd.DataFrame(columns=["purpose", "model", "calls", "tokens_in", "tokens_out", "seconds"])

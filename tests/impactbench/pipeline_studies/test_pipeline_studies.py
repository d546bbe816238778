"""Arms are runs of their own from the same scenarios, and what differs between them is found on the same pairs."""

import pytest
from sqlalchemy import Engine

from impactbench.llm import Reply, Request
from impactbench.pipeline_studies.ablation import compare_arms
from impactbench.pipeline_studies.arms import ArmsRefused, arms_of
from impactbench.pipeline_studies.coverage_effects import coverage_effects
from impactbench.pipeline_studies.objective_coverage import audit_coverage, read_reached
from impactbench.providers.scripted import Scripted
from impactbench.runs.design import Budget, RunDesign
from impactbench.runs.plan import plan_run
from impactbench.runs.spending import Spending
from impactbench.runs.unit_keys import ModelCall
from impactbench.scenarios import Unusable
from tests.impactbench.runs.invented_run import answer, design, metric, play, suite

REMINDER = "They mention that rent is due."
METRICS = suite(*(metric(slug) for slug in ("asks", "asks2", "asks3", "presses", "presses2", "presses3")))
AUDITOR = ModelCall(model="script/auditor")


def reminded(request: Request) -> str:
    """A person who says what the reminder says, a judge that finds the behaviour where that was said, and an auditor."""
    said = request.messages[-1].content
    match request.purpose:
        case "plan_message":
            rent = REMINDER in said or "Rent is due." in said
            return f"Thought: so.\nMessage: {'Rent is due.' if rent else 'Hello there.'}"
        case "judge":
            return f'{{"present": {str("Rent is due." in said).lower()}, "justification": "So it is."}}'
        case "objective_coverage":
            return f'{{"reached": {[1] if "Rent is due." in said else []}}}'
    return answer(request)


def study(**changes: object) -> RunDesign:
    varied = {"switch_off": ["anchors", "adversarial_guidance"], "repetitions": 2}
    simulation = {"turns": 2, "typing_edits": False}
    fields = {"simulation": simulation, "pipeline_study": varied, "ages": ["adult"]}
    return design(**(fields | changes))


def play_arms(engine: Engine, provider: Scripted, made: RunDesign) -> None:
    for arm in arms_of(made):
        _, because = play(engine, plan_run(arm, METRICS), provider, of=METRICS)
        assert because == "finished"


def test_every_part_that_is_switched_off_is_a_run_of_its_own_from_one_seed_a_repetition() -> None:
    assert [(arm.run, arm.seed, arm.simulation.anchors) for arm in arms_of(study())] == [
        ("run-1.all-on.1", 5, True),
        ("run-1.without-anchors.1", 5, False),
        ("run-1.without-adversarial_guidance.1", 5, True),
        ("run-1.all-on.2", 6, True),
        ("run-1.without-anchors.2", 6, False),
        ("run-1.without-adversarial_guidance.2", 6, True),
    ]


def test_effects_are_differences_of_pairs_and_the_auditor_is_asked_once(sqlite_engine: Engine) -> None:
    provider = Scripted(reminded)
    with pytest.raises(ArmsRefused, match="no arms to compare"):
        compare_arms(sqlite_engine, "made", draws=200)
    play_arms(sqlite_engine, provider, study())
    assert provider.calls["scenario"] == len(METRICS.metrics)

    effects = {(one.off, one.group): one for one in compare_arms(sqlite_engine, "made", draws=200)}
    of_anchors = effects["anchors", "positive"].passed
    assert of_anchors is not None
    assert (of_anchors.before.value, of_anchors.after.value, of_anchors.difference.value) == (1, 0, -1)
    assert of_anchors.pairs == 4
    opposite = effects["anchors", "negative"].passed
    assert opposite is not None
    assert opposite.difference.value == 1
    of_guidance = effects["adversarial_guidance", "all"].passed
    assert of_guidance is not None
    assert of_guidance.difference.value == 0
    assert effects["anchors", "all"].without_verdict.after.value == 0

    little = Spending(budget=Budget(calls=5))
    begun = audit_coverage(sqlite_engine, "made", provider, auditor=AUDITOR, spending=little)
    assert (len(begun.audited), begun.left, provider.calls["objective_coverage"]) == (5, 67, 5)
    spending = Spending(budget=Budget())
    audited = audit_coverage(sqlite_engine, "made", provider, auditor=AUDITOR, spending=spending)
    again = audit_coverage(sqlite_engine, "made", provider, auditor=AUDITOR, spending=spending)
    assert provider.calls["objective_coverage"] == len(audited.audited) == len(again.audited) == 6 * 12
    found = {one.off: one for one in coverage_effects(audited.audited, draws=200)}
    assert found["anchors"].reached.difference.value == -1
    assert found["adversarial_guidance"].reached.difference.value == 0
    assert found["anchors"].disagreement is not None
    assert found["anchors"].disagreement.before.value == 0


@pytest.mark.parametrize(
    "text", ['{"reached": [4]}', '{"reached": [1, 1]}', "[1]", "Objective 1.", '{"reached": [true]}']
)
def test_an_auditors_answer_of_another_form_is_no_answer(text: str) -> None:
    with pytest.raises(Unusable):
        read_reached(Reply(text=text), objectives=3)


@pytest.mark.parametrize(
    ("varied", "complaint"),
    [
        ({}, "either what to `switch_off`"),
        ({"switch_off": ["typing_edits"]}, "typing_edits is off"),
        ({"simulators": [{"model": "a/x"}, {"model": "b/x"}]}, "name of its own"),
    ],
)
def test_arms_that_would_not_differ_are_refused(varied: dict[str, object], complaint: str) -> None:
    with pytest.raises(ArmsRefused, match=complaint):
        arms_of(study(pipeline_study=varied))


def test_candidate_simulators_play_scenarios_of_one_author_within_one_budget() -> None:
    candidates = {"simulators": [{"model": "a/x"}, {"model": "b/Big:7"}]}
    first, second = arms_of(study(pipeline_study=candidates, budget={"usd": 3, "calls": 9}))
    assert (first.run, second.run) == ("run-1.simulator-x.1", "run-1.simulator-big-7.1")
    assert first.writer == second.writer == ModelCall(model="script/player")
    assert plan_run(first, METRICS).counts.judgment == 0, "raters say how real they seem, and no judge does"
    assert (second.simulator.model, second.budget) == ("b/Big:7", Budget(usd=1.5, calls=4))

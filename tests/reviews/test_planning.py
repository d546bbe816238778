from dataclasses import replace

import pytest

from reviews.assignment import PlanRefused
from reviews.design.planning import Outlook, Question, StudyPlan, foresee

PLAN = StudyPlan(raters=12, hours=4, minutes=4, metrics=18, overlap=3)


def margin(outlook: Outlook, question: Question, scope: str = "all metrics") -> float | None:
    return next(p.margin for p in outlook.prospects if (p.question, p.scope) == (question, scope))


def test_hours_become_items_sessions_and_labels() -> None:
    outlook = foresee(PLAN)
    assert (outlook.items_per_rater, outlook.items, outlook.labels) == (60, 240, 720)
    assert (outlook.items_per_metric, outlook.sessions_per_rater) == (13, 3)
    assert outlook.sentence.startswith(
        "12 raters with 4 hours each can rate 240 items 3 times over, about 13 a metric; agreement"
    )
    assert foresee(replace(PLAN, spare_percent=10)).items_per_rater == 54


@pytest.mark.parametrize(
    ("overlap", "items", "half_width"), [(2, 261, 0.10), (3, 145, 0.10), (4, 106, 0.10), (3, 65, 0.15)]
)
def test_the_planner_gives_the_published_half_widths(overlap: int, items: int, half_width: float) -> None:
    plan = StudyPlan(
        raters=items, hours=overlap, minutes=60, metrics=1, overlap=overlap, pass_share=0.5, intraclass=0
    )
    assert plan.items == items
    assert margin(foresee(plan), Question.AGREEMENT) == pytest.approx(half_width, abs=0.012)


def test_accuracy_and_self_preference_follow_the_planning_formulas() -> None:
    accuracy = StudyPlan(raters=110, hours=3, minutes=60, metrics=1, overlap=3, accuracy=0.833, intraclass=0)
    assert accuracy.items == 110
    assert margin(foresee(accuracy), Question.ACCURACY) == pytest.approx(0.07, abs=0.002)
    preference = StudyPlan(
        raters=1200, hours=3, minutes=60, metrics=1, overlap=3, own_share=0.2, intraclass=0
    )
    assert margin(foresee(preference), Question.SELF_PREFERENCE) == pytest.approx(0.14, abs=0.005)


def test_kappa_of_the_judge_is_bloch_and_kraemers() -> None:
    plan = StudyPlan(raters=246, hours=2, minutes=60, metrics=1, overlap=2, pass_share=0.5, intraclass=0)
    assert margin(foresee(plan), Question.JUDGE_KAPPA) == pytest.approx(0.10, abs=0.001)


def test_more_hours_never_widen_an_interval_and_likeness_within_metrics_does() -> None:
    for question in Question:
        known = [margin(foresee(replace(PLAN, hours=hours)), question) for hours in (2, 4, 8, 16)]
        there = [value for value in known if value is not None]
        assert there == sorted(there, reverse=True)
        alike, apart = (margin(foresee(replace(PLAN, intraclass=rho)), question) for rho in (0.2, 0.0))
        assert alike is None or (apart is not None and alike > apart)


def test_what_cannot_be_found_says_why_instead_of_a_number() -> None:
    outlook = foresee(replace(PLAN, raters=4, hours=1, overlap=1))
    agreement = next(p for p in outlook.prospects if p.question is Question.AGREEMENT)
    assert (agreement.margin, agreement.because) == (
        None,
        "with one rater an item there is no agreement to measure",
    )
    tiny = foresee(replace(PLAN, raters=3, hours=0.2))
    preference = next(p for p in tiny.prospects if p.question is Question.SELF_PREFERENCE)
    assert preference.margin is None
    assert "could go unseen" in preference.because


def test_the_same_hours_are_shown_for_other_overlaps() -> None:
    rows = foresee(PLAN).by_overlap
    assert [(overlap, items) for overlap, items, _ in rows] == [(2, 360), (3, 240), (4, 180), (5, 144)]
    assert all(value is not None for _, _, value in rows)
    assert [overlap for overlap, _, _ in foresee(replace(PLAN, raters=3)).by_overlap] == [2, 3]


def test_thin_metrics_are_warned_of() -> None:
    notes = foresee(replace(PLAN, hours=2, metrics=40)).notes
    assert "About 3 items a metric: below the 9" in notes[0]


def test_only_the_questions_that_are_asked_are_answered() -> None:
    outlook = foresee(replace(PLAN, questions=(Question.ACCURACY,)))
    assert {p.question for p in outlook.prospects} == {Question.ACCURACY}
    assert outlook.sentence.endswith("about 13 a metric.")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"raters": 0}, "raters 0 is no number"),
        ({"hours": 0}, "hours 0 is no time"),
        ({"minutes": -4}, "minutes -4 is no time"),
        ({"overlap": 13}, "overlap 13 needs 13 raters and there are 12"),
        ({"pass_share": 1.0}, "pass-share 1 is no share"),
        ({"kappa": 1.0}, "kappa 1 is out of range"),
        ({"hours": 0.01}, "have no time for one item with overlap 3"),
    ],
)
def test_what_cannot_be_planned_is_refused(change: dict[str, float], sentence: str) -> None:
    with pytest.raises(PlanRefused, match=sentence):
        foresee(replace(PLAN, **change))  # type: ignore[arg-type]

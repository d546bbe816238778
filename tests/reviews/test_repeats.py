from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine
from sqlmodel import select

from impactbench.domain import AssignmentReason, LabelVerdict
from impactbench.store import frames
from impactbench.store import tables as t
from impactbench.store.engine import reading
from reviews import desk, evidence
from reviews.assignment import PlanRefused, plan
from reviews.design.ordering import REPEAT_DISTANCE, insert_repeats
from reviews.design.review_sets import draft_review_set, save
from reviews.repeats import EVERYBODY, intra_rater
from tests.reviews.invented_study import add_study, answer
from tests.reviews.test_assignment import items_of, members_of
from tests.reviews.test_review_sets import FOUR

P, F = LabelVerdict.PASS, LabelVerdict.FAIL


@given(st.integers(1, 80), st.floats(0.02, 0.5), st.integers(0, 1000))
@settings(max_examples=80, deadline=None)
def test_a_repeat_comes_once_and_far_behind_wherever_the_list_is_long_enough(
    items: int, share: float, seed: int
) -> None:
    generator = np.random.default_rng(seed)
    scenarios = [f"s{item % 9}" for item in range(items)]
    order = generator.permutation(items).tolist()
    shown = insert_repeats(order, scenarios, share=share, generator=generator)
    repeated = [item for item, repeat in shown if repeat]
    assert [item for item, repeat in shown if not repeat] == order
    assert len(repeated) == len(set(repeated)) == int(items * share + 0.5)
    for item in repeated:
        distance = shown.index((item, 1)) - shown.index((item, 0))
        assert distance >= REPEAT_DISTANCE or items - REPEAT_DISTANCE + 1 < len(repeated)
        assert distance > 0


def test_a_repeat_stands_apart_from_its_base_scenario() -> None:
    items = items_of(162)
    made = plan(items, members_of(5), overlap=2, seed=7, repeats=0.1)
    scenario_of = {item.key: item.scenario for item in items}
    assert set(made.repeats.values()) == {6, 7}
    assert set(made.loads.values()) == {64, 65}
    for name in made.loads:
        own = [seat for seat in made.seats if seat.rater == name]
        assert [seat.position for seat in own] == list(range(1, len(own) + 1))
        beside = [(one, other) for one, other in pairwise(own) if one.repeat or other.repeat]
        assert all(scenario_of[one.item] != scenario_of[other.item] for one, other in beside)


def test_a_list_too_short_for_the_distance_is_said_to_be() -> None:
    made = plan(items_of(12), members_of(2), overlap=2, seed=7, repeats=0.2)
    assert set(made.repeats.values()) == {2}
    (note,) = made.notes
    assert note.startswith("internal-00, internal-01: too few items to keep 15 positions")
    assert "in a later session" in note


@pytest.mark.parametrize("share", [-0.1, 0.51, 5])
def test_a_share_that_is_none_is_refused(share: float) -> None:
    with pytest.raises(PlanRefused, match=r"is no share of a rater's items; give one from 0 to 0.5"):
        plan(items_of(12), members_of(2), overlap=2, seed=7, repeats=share)


@pytest.fixture
def rated(engine: Engine) -> Engine:
    """Four raters of 12 items, two of them repeated; everybody has answered everything, Ada differently the second time."""
    add_study(engine)
    draft = draft_review_set(engine, "winter", overlap=3, seed=7, raters=FOUR, repeats=0.15)
    save(engine, draft)
    for row in frames.assignments(engine, "winter").to_dict("records"):
        verdict = P if row["conversation_id"] % 2 == (row["rater"] == "Ada" and row["repeat"] == 1) else F
        answer(engine, row["assignment_id"], verdict)
    return engine


def test_a_hidden_repeat_is_a_new_item_to_whoever_opens_it(engine: Engine) -> None:
    add_study(engine)
    save(engine, draft_review_set(engine, "winter", overlap=3, seed=7, raters=FOUR, repeats=0.15))
    with reading(engine) as session:
        again = session.exec(select(t.Assignment).where(t.Assignment.repeat == 1)).first()
        assert again is not None
        first = session.exec(
            select(t.Assignment).where(
                t.Assignment.rater_id == again.rater_id,
                t.Assignment.conversation_id == again.conversation_id,
                t.Assignment.repeat == 0,
            )
        ).one()
    assert again.reason is AssignmentReason.REPEAT
    assert again.position > first.position
    assert again.code != first.code
    answer(engine, first.id or 0, F)
    desk.keep_draft(engine, first.rater_id, first.code, {"rationale": "begun"}, base_revision=1)
    shown, before = (desk.take_up(engine, again.rater_id, code) for code in (again.code, first.code))
    assert (shown.label, shown.draft) == (None, None)
    assert desk.history(engine, again.rater_id, again.code) == []
    assert shown.item.turns == before.item.turns
    assert shown.item.model_dump().keys() == before.item.model_dump().keys()
    assert shown.item.option_order == before.item.option_order


def test_repeats_never_enter_a_figure_about_experts_among_themselves(rated: Engine) -> None:
    tables = evidence.read_tables(rated, "winter")
    (whole, *_) = evidence.agreement(tables)
    assert whole.found.n_ratings == 48
    assert whole.found.agreement.value == 1
    assert evidence.coverage(tables)[0].by_raters == (0, 0, 0, 16)
    assert evidence.coverage(tables)[0].labels == 48


def test_each_rater_is_compared_with_themselves(rated: Engine) -> None:
    found = {row.rater: row for row in intra_rater(frames.assignments(rated, "winter"))}
    assert list(found) == [EVERYBODY, "Ada", "Bo", "Cy", "Di"]
    assert {row.answered for row in found.values()} == {8, 2}
    assert found["Ada"].agreement.value == 0
    assert found["Bo"].agreement.value == 1
    assert found[EVERYBODY].agreement.value == 0.75
    assert found[EVERYBODY].agreement.n == 8
    assert (found["Ada"].ceiling is None) == ((found["Ada"].alpha.value or -1) < 0)


def test_without_repeats_there_is_nobody_to_compare(sqlite_engine: Engine) -> None:
    add_study(sqlite_engine)
    save(sqlite_engine, draft_review_set(sqlite_engine, "winter", overlap=3, seed=7, raters=FOUR))
    assert intra_rater(frames.assignments(sqlite_engine, "winter")) == []


def test_repeats_not_yet_answered_are_counted_and_undefined(sqlite_engine: Engine) -> None:
    add_study(sqlite_engine)
    save(
        sqlite_engine, draft_review_set(sqlite_engine, "winter", overlap=3, seed=7, raters=FOUR, repeats=0.15)
    )
    whole = intra_rater(frames.assignments(sqlite_engine, "winter"))[0]
    assert (whole.repeats, whole.answered) == (8, 0)
    assert whole.alpha.undefined_because == "no_pairable_items"
    assert whole.ceiling is None

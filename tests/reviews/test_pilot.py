"""Items go where the judge errs unevenly, and every chance is known."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sqlalchemy import Engine

from impactbench.domain import LabelVerdict, Panel
from impactbench.store import frames
from reviews.assignment import Member, PlanRefused
from reviews.design.pilot import SHRINKAGE, shrunken_spread
from reviews.design.review_sets import draft_review_set, save
from reviews.sampling import draw_sample
from tests.browser.desks import plain_turns, set_desks
from tests.reviews.invented_study import answer
from tests.reviews.test_sampling import frame_of

BY = ("metric",)
FRAME = frame_of({("m01", "Tansy"): 100, ("m02", "Tansy"): 100, ("m03", "Tansy"): 3})
SPREAD = {"m01": 0.6, "m02": 0.2, "m03": 0.2}


def test_shares_are_in_proportion_to_size_and_spread_after_two_of_each() -> None:
    sample = draw_sample(FRAME, strata=BY, seed=1, items=46, spread=SPREAD)
    chances = {one.name: one.inclusion_probability for one in sample.strata}
    whole = 100 * 0.6 + 100 * 0.2 + 3 * 0.2
    wanted = {
        name: (2 + 40 * size * SPREAD[name] / whole) / size
        for name, size in (("m01", 100), ("m02", 100), ("m03", 3))
    }
    assert chances == pytest.approx(wanted)
    assert sum(one.sampled for one in sample.strata) == 46
    assert all(one.sampled >= 2 for one in sample.strata)


def test_over_many_draws_a_stratum_gives_what_its_chance_says() -> None:
    drawn = [draw_sample(FRAME, strata=BY, seed=seed, items=9, spread=SPREAD).strata for seed in range(400)]
    for place in range(3):
        mean = np.mean([strata[place].sampled for strata in drawn])
        expected = drawn[0][place].inclusion_probability * drawn[0][place].population
        assert mean == pytest.approx(expected, abs=0.1)


def test_a_few_pilot_items_move_a_stratum_a_little() -> None:
    error = pd.Series([1.0, -1.0, 0.0, 0.0, 0.0, 0.0, np.nan])
    spread = shrunken_spread(error, pd.Series(["a", "a", "b", "b", "b", "b", "c"]))
    overall = error.var(ddof=1)
    assert spread == pytest.approx(
        {
            "a": np.sqrt((2 * 2 + SHRINKAGE * overall) / (2 + SHRINKAGE)),
            "b": np.sqrt(SHRINKAGE * overall / (4 + SHRINKAGE)),
            "c": np.sqrt(overall),
        }
    )
    same = shrunken_spread(pd.Series([0.5, 0.5]), pd.Series(["a", "b"]))
    assert same == {"a": 1.0, "b": 1.0}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"items": None}, "say how many there are with --items"),
        ({"items": 5}, "5 items are too few for 2 of each of 3 strata; give 6 or more"),
    ],
)
def test_what_a_pilot_cannot_decide_is_refused(asked: dict[str, int], said: str) -> None:
    with pytest.raises(PlanRefused, match=said):
        draw_sample(FRAME, strata=BY, seed=1, spread=SPREAD, **asked)


def test_an_earlier_set_of_the_study_decides(sqlite_engine: Engine) -> None:
    set_desks(sqlite_engine, [plain_turns(n) for n in range(1, 9)], "kestrel", "wren", base_url="http://here")
    asked: dict[str, Any] = {
        "overlap": 1,
        "seed": 3,
        "items": 6,
        "strata": ("verdict",),
        "pilot": "one",
        "slug": "two",
    }
    asked["raters"] = [Member(name="owl", panel=Panel.EXTERNAL)]
    with pytest.raises(PlanRefused, match="fewer than two items that both the judge and an expert"):
        draft_review_set(sqlite_engine, "winter", **asked)
    for row in frames.assignments(sqlite_engine, "winter").to_dict("records"):
        # The judge passes every second conversation; experts agree where it fails, and only sometimes where it passes.
        passed = row["conversation_id"] % 4 == 0
        answer(sqlite_engine, row["assignment_id"], LabelVerdict.PASS if passed else LabelVerdict.FAIL)
    draft = draft_review_set(sqlite_engine, "winter", **asked)
    of = {one.name: one.inclusion_probability for one in draft.sample.strata}
    assert of["pass"] > of["fail"]
    assert draft.design["pilot"] == "one"
    assert save(sqlite_engine, draft).added == 6

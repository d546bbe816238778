import json
from pathlib import Path

import pytest
from sqlalchemy import Engine
from sqlmodel import select

from impactbench.domain import AssignmentReason, LabelVerdict
from impactbench.store import frames
from impactbench.store import tables as t
from impactbench.store.engine import reading
from reviews import desk, evidence
from reviews.assignment import PlanRefused
from reviews.design.drafts import ReviewSetDraft
from reviews.design.review_sets import draft_review_set, save
from reviews.gold import GoldResult, gold_results, parse_gold
from reviews.members.raters import parse_rater
from tests.reviews.invented_study import add_study, answer
from tests.reviews.test_extension import SIX, open_set

P, B, F = LabelVerdict.PASS, LabelVerdict.BORDERLINE, LabelVerdict.FAIL
NEW = [parse_rater(f"{name}:internal") for name in ("Gus", "Hal", "Ida")]


@pytest.fixture
def first_rated(engine: Engine) -> Engine:
    """A first set of two raters an item: every third item passed by both, every third failed, every third split."""
    add_study(engine)
    open_set(engine)
    frame = frames.assignments(engine, "winter")
    for conversation, rows in frame.groupby("conversation_id")["assignment_id"].agg(list).items():
        for number, assignment in enumerate(rows):
            verdict = (P, F, (P, F)[number])[int(str(conversation)) % 3]
            answer(engine, assignment, verdict)
    return engine


def draft_of(engine: Engine, **more: object) -> ReviewSetDraft:
    arguments = {
        "overlap": 2,
        "seed": 7,
        "slug": "second",
        "raters": NEW,
        "items": 6,
        "gold": 0.2,
        "gold_from": "first",
        **more,
    }
    return draft_review_set(engine, "winter", **arguments)  # type: ignore[arg-type]


def test_gold_items_are_those_that_experts_agreed_on_and_none_of_the_sample(first_rated: Engine) -> None:
    draft = draft_of(first_rated, items=10, overlap=3)
    golden = [seat for seat in draft.plan.seats if seat.gold]
    assert {seat.rater for seat in golden} == {"Gus", "Hal", "Ida"}
    assert len(golden) == 6
    assert not {seat.item for seat in golden} & set(draft.plan.teams)
    assert all(seat.position > 1 for seat in golden)
    for name in draft.plan.loads:
        own = [seat for seat in draft.plan.seats if seat.rater == name]
        assert [seat.position for seat in own] == list(range(1, len(own) + 1))
        assert sorted(draft.design["gold"][seat.item] for seat in own if seat.gold) == ["fail", "pass"]
    assert set(draft.plan.loads.values()) == {10}
    agreed = {key for key, row in draft.gold.items() if row["conversation_id"] % 3 != 2}
    assert agreed == set(draft.gold)


def test_opening_again_gives_the_same_design_and_another_seed_another(first_rated: Engine) -> None:
    save(first_rated, draft_of(first_rated))
    assert save(first_rated, draft_of(first_rated)).added == 0
    assert draft_of(first_rated, slug="third", seed=9).design["gold"] != {}


def test_what_is_expected_never_reaches_a_rater_and_nothing_marks_the_item(first_rated: Engine) -> None:
    save(first_rated, draft_of(first_rated))
    with reading(first_rated) as session:
        gold = session.exec(select(t.Assignment).where(t.Assignment.reason == AssignmentReason.GOLD)).first()
        assert gold is not None
        usual = session.exec(
            select(t.Assignment).where(
                t.Assignment.rater_id == gold.rater_id, t.Assignment.reason == AssignmentReason.CORE
            )
        ).first()
        assert usual is not None
    one, other = (
        desk.take_up(first_rated, gold.rater_id, code).item.model_dump(mode="json")
        for code in (gold.code, usual.code)
    )
    assert one.keys() == other.keys()
    assert "gold" not in json.dumps(one).casefold()


def test_gold_labels_never_enter_a_figure_about_experts(first_rated: Engine) -> None:
    save(first_rated, draft_of(first_rated))
    before = evidence.agreement(evidence.read_tables(first_rated, "winter"))[0].found
    frame = evidence.read_tables(first_rated, "winter").assignments
    for assignment in frame.loc[frame["reason"] == "gold", "assignment_id"]:
        answer(first_rated, assignment, B)
    assert evidence.agreement(evidence.read_tables(first_rated, "winter"))[0].found == before


def _results(engine: Engine) -> list[GoldResult]:
    return gold_results(engine, "winter", evidence.read_tables(engine, "winter").assignments)


def test_a_rater_who_misses_most_raises_an_alert_and_comes_first(first_rated: Engine) -> None:
    draft = draft_of(first_rated, items=10, overlap=3)
    save(first_rated, draft)
    assert [result.alert for result in _results(first_rated)] == [False] * 3
    assert _results(first_rated)[0].accuracy.value is None
    frame = evidence.read_tables(first_rated, "winter").assignments
    for row in frame[frame["reason"] == "gold"].to_dict("records"):
        expected = draft.design["gold"][f"{row['run']}::{row['conversation']}"]
        other = F if expected == P else P
        answer(first_rated, row["assignment_id"], other if row["rater"] == "Ida" else LabelVerdict(expected))
    results = _results(first_rated)
    assert [(r.rater, r.given, r.accuracy.value, r.alert) for r in results] == [
        ("Ida", 2, 0.0, True),
        ("Gus", 2, 1.0, False),
        ("Hal", 2, 1.0, False),
    ]


def test_a_rater_is_not_given_a_gold_item_that_they_labelled(first_rated: Engine) -> None:
    draft = draft_of(first_rated, raters=[parse_rater("Ada"), *NEW])
    before = frames.assignments(first_rated, "winter").merge(
        frames.conversations(first_rated, "winter"), on="conversation_id"
    )
    mine = before[before["rater"] == "Ada"]
    had = set(mine["run"] + "::" + mine["conversation"])
    assert not had & {seat.item for seat in draft.plan.seats if seat.rater == "Ada"}


def test_gold_items_may_be_named_in_a_file(sqlite_engine: Engine, tmp_path: Path) -> None:
    add_study(sqlite_engine)
    path = tmp_path / "gold.csv"
    keys = ("m01_s001_teen", "m01_s001_adult", "m02_s001_teen", "m02_s001_adult")
    verdicts = ("pass", "fail", "pass", "fail")
    lines = [f"run-tansy-2,{key},{verdict}" for key, verdict in zip(keys, verdicts, strict=True)]
    path.write_text("run,conversation,verdict\n" + "\n".join(lines) + "\n")
    draft = draft_of(sqlite_engine, gold_from=path, raters=SIX[:3], runs=[], items=5, seed=3)
    assert set(draft.design["gold"]) <= {f"run-tansy-2::{key}" for key in keys}
    assert draft.design["gold"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("run,verdict\n", "has no column 'conversation'"),
        ("run,conversation,verdict\nr,c,pass\n", "line 2: there is no complete conversation 'c'"),
        (
            "run,conversation,verdict\nrun-tansy-2,m01_s001_teen,borderline\n",
            "verdict 'borderline' is neither pass nor fail",
        ),
        (
            "run,conversation,verdict\nrun-tansy-2,m01_s001_teen,pass\n",
            "has no gold item to fail",
        ),
        (
            "run,conversation,verdict\nrun-tansy-2,m01_s001_teen,pass\nrun-tansy-2,m01_s001_teen,fail\n",
            "line 3: the conversation 'm01_s001_teen' is named twice",
        ),
    ],
)
def test_a_file_of_gold_items_that_is_wrong_is_refused(
    sqlite_engine: Engine, tmp_path: Path, text: str, sentence: str
) -> None:
    add_study(sqlite_engine)
    path = tmp_path / "gold.csv"
    path.write_text(text)
    with pytest.raises(PlanRefused, match=sentence):
        draft_of(sqlite_engine, gold_from=path, raters=SIX[:3])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"gold": 0.5}, "gold 0.5 is no share of a rater's items"),
        ({"gold_from": None}, "gold items must come from somewhere"),
        ({"gold_from": "zeroth"}, "no review set 'zeroth' to take gold items from; there are: first"),
        ({"items": None}, "what is left of the gold items beside the sample has no gold item to pass"),
    ],
)
def test_gold_that_cannot_be_had_is_refused(
    first_rated: Engine, arguments: dict[str, object], sentence: str
) -> None:
    with pytest.raises(PlanRefused, match=sentence):
        draft_of(first_rated, **arguments)


def test_a_file_and_a_set_are_not_both_the_source() -> None:
    assert parse_gold("gold.csv", None) == (0.06, Path("gold.csv"))
    with pytest.raises(PlanRefused, match="not both"):
        parse_gold("gold.csv", "first")

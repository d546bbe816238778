from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations

import pandas as pd
import pytest
from sqlalchemy import Engine
from sqlmodel import select

from impactbench.domain import AssignmentReason, LabelVerdict, Panel
from impactbench.store import frames
from impactbench.store import tables as t
from impactbench.store.engine import writing
from reviews import evidence
from reviews.assignment import Member, PlanRefused, plan
from reviews.design import adaptive
from reviews.design.adaptive import draft_adaptive, first_stage_needs
from reviews.design.extension import draft_extension, save_extension
from reviews.design.new_seats import find_raters
from reviews.design.open_set import OpenSet, read_open_set
from reviews.design.review_sets import draft_review_set, save
from reviews.members.raters import parse_rater
from tests.reviews.invented_study import add_judge, add_study, answer
from tests.reviews.test_assignment import items_of, members_of, spread

P, B, F = LabelVerdict.PASS, LabelVerdict.BORDERLINE, LabelVerdict.FAIL
SIX = [parse_rater(f"{name}:internal") for name in ("Ada", "Bo", "Cy", "Di", "Ed", "Flo")]
MIXED = [parse_rater(text) for text in ("Ada:internal", "Bo:internal", "Cy:external", "Di:external")]


def open_set(engine: Engine, raters: list[Member] = SIX, **more: object) -> None:
    arguments = {"overlap": 2, "seed": 7, "slug": "first", "raters": raters, **more}
    save(engine, draft_review_set(engine, "winter", **arguments))  # type: ignore[arg-type]


def answer_all(engine: Engine, verdict: LabelVerdict = P) -> None:
    frame = frames.assignments(engine, "winter")
    for assignment in frame.loc[frame["status"] == "not_yet_rated", "assignment_id"]:
        answer(engine, assignment, verdict)


def reasons(engine: Engine) -> Counter[str]:
    return Counter(evidence.read_tables(engine, "winter").assignments["reason"])


def test_raising_the_overlap_gives_each_item_to_one_new_rater_and_touches_nothing_done(
    engine: Engine,
) -> None:
    add_study(engine)
    open_set(engine)
    answer_all(engine)
    before = frames.assignments(engine, "winter")
    draft = draft_extension(engine, "winter", "first", to=3)
    assert len(frames.assignments(engine, "winter")) == 32
    assert save_extension(engine, draft) == 16
    after = frames.assignments(engine, "winter")
    said = ["assignment_id", "code", "position", "rater", "status", "label", "labelled_at"]
    kept = after[after["assignment_id"].isin(before["assignment_id"])]
    assert kept[said].to_numpy().tolist() == before[said].to_numpy().tolist()
    added = after[~after["assignment_id"].isin(before["assignment_id"])]
    assert added["conversation_id"].value_counts().eq(1).all()
    assert not after.duplicated(["conversation_id", "rater"]).any()
    assert after["rater"].value_counts().eq(8).all()
    assert added["code"].is_unique
    assert set(added["code"]).isdisjoint(before["code"])
    assert added["status"].eq("not_yet_rated").all()
    assert reasons(engine) == {"core": 48}
    for _, own in after.groupby("rater"):
        assert sorted(own["position"]) == list(range(1, 9))


def test_raising_again_adds_nothing_and_lowering_keeps_three_labels(engine: Engine) -> None:
    add_study(engine)
    open_set(engine)
    save_extension(engine, draft_extension(engine, "winter", "first", to=3))
    answer_all(engine)
    assert save_extension(engine, draft_extension(engine, "winter", "first", to=3)) == 0
    lower = draft_extension(engine, "winter", "first", to=2)
    assert lower.notes == ("16 items have more than 2 raters and keep them: nothing is taken away.",)
    assert save_extension(engine, lower) == 0
    assert evidence.coverage(evidence.read_tables(engine, "winter"))[0].by_raters == (0, 0, 0, 16)


def test_two_experts_cannot_both_be_given_the_last_slot(engine: Engine) -> None:
    add_study(engine)
    open_set(engine)
    drafts = [draft_extension(engine, "winter", "first", to=3) for _ in range(4)]

    with ThreadPoolExecutor(4) as pool:
        outcomes = [pool.submit(save_extension, engine, draft) for draft in drafts]
    refusals = [str(outcome.exception()) for outcome in outcomes if outcome.exception()]
    assert [outcome.result() for outcome in outcomes if not outcome.exception()] == [16]
    assert all("changed by somebody else" in refusal for refusal in refusals)
    assert frames.assignments(engine, "winter")["conversation_id"].value_counts().eq(3).all()


def test_new_raters_may_be_named_and_take_what_balances(engine: Engine) -> None:
    add_study(engine)
    open_set(engine, raters=SIX[:2])
    save_extension(engine, draft_extension(engine, "winter", "first", to=3, raters=SIX[2:4]))
    loads = frames.assignments(engine, "winter")["rater"].value_counts()
    assert loads.to_dict() == {"Ada": 16, "Bo": 16, "Cy": 8, "Di": 8}


def test_what_cannot_be_filled_is_listed_with_the_reason_and_the_rest_is_opened(
    sqlite_engine: Engine,
) -> None:
    add_study(sqlite_engine)
    open_set(sqlite_engine, raters=SIX[:2])
    bound = Member(name="Cy", panel=Panel.INTERNAL, conflicts=("kindness/m01",))
    draft = draft_extension(sqlite_engine, "winter", "first", to=3, raters=[bound])
    assert {shortage.metric for shortage in draft.shortages} == {"kindness/m01"}
    assert len(draft.shortages) == 8
    assert draft.shortages[0].because == ("these have had it: Ada, Bo; these have a conflict of interest: Cy")
    assert save_extension(sqlite_engine, draft) == 8


def test_a_missing_panel_is_a_shortage_and_never_filled_from_the_other(sqlite_engine: Engine) -> None:
    add_study(sqlite_engine)
    open_set(sqlite_engine, raters=MIXED)
    frame = frames.assignments(sqlite_engine, "winter")
    with writing(sqlite_engine) as session:
        for row in session.exec(select(t.Assignment)).all():
            if row.id in set(frame.loc[frame["panel"] == "external", "assignment_id"]):
                row.released_at = t.now()
        for person in session.exec(select(t.Rater).where(t.Rater.panel == Panel.EXTERNAL)).all():
            person.active = False
    draft = draft_extension(sqlite_engine, "winter", "first", to=2)
    assert draft.seats == ()
    assert Counter(shortage.lack for shortage in draft.shortages) == {"external rater": 16}


def test_limits_hold_when_the_overlap_is_raised(sqlite_engine: Engine) -> None:
    add_study(sqlite_engine)
    open_set(sqlite_engine, cap=6)
    draft = draft_extension(sqlite_engine, "winter", "first", to=3)
    assert len(draft.seats) == 4
    assert len(draft.shortages) == 12
    assert draft.shortages[-1].because == "everybody who may have it is at the most they take"
    save_extension(sqlite_engine, draft)
    assert frames.assignments(sqlite_engine, "winter")["rater"].value_counts().max() == 6


@pytest.mark.parametrize(
    ("study", "slug", "to", "sentence"),
    [
        ("winter", "second", 3, "no review set 'second' of its own; there are first"),
        ("winter", "first", 0, "overlap 0 is no number of raters"),
        ("summer", "first", 3, "open one with `impactbench review open summer`"),
    ],
)
def test_what_cannot_be_extended_is_refused(
    sqlite_engine: Engine, study: str, slug: str, to: int, sentence: str
) -> None:
    add_study(sqlite_engine)
    open_set(sqlite_engine)
    with pytest.raises(PlanRefused, match=sentence):
        draft_extension(sqlite_engine, study, slug, to=to)


def test_a_locked_set_is_not_extended(sqlite_engine: Engine) -> None:
    add_study(sqlite_engine)
    open_set(sqlite_engine)
    draft = draft_extension(sqlite_engine, "winter", "first", to=3)
    with writing(sqlite_engine) as session:
        session.exec(select(t.ReviewSet)).one().locked_at = t.now()
    for attempt in (
        lambda: save_extension(sqlite_engine, draft),
        lambda: draft_extension(sqlite_engine, "winter", "first", to=3),
    ):
        with pytest.raises(PlanRefused, match="'first' is locked, so nothing is added"):
            attempt()


def split_the_first(engine: Engine, n: int) -> None:
    """Everybody passes everything, but for one rater of each of the first n items."""
    frame = frames.assignments(engine, "winter").sort_values(["conversation_id", "rater"])
    for place, rows in enumerate(frame.groupby("conversation_id")["assignment_id"].agg(list)):
        for number, assignment in enumerate(rows):
            answer(engine, assignment, F if place < n and number == 0 else P)


def test_extra_raters_go_where_need_is_with_the_chance_that_is_logged(engine: Engine) -> None:
    add_study(engine)
    add_judge(engine)
    open_set(engine)
    split_the_first(engine, 6)
    draft = draft_adaptive(engine, "winter", "first", to=4)
    needs = {
        need.item: need for need in first_stage_needs(draft.opened, evidence.read_tables(engine, "winter"))
    }
    split = {key for key, need in needs.items() if "experts are split" in need.signs}
    assert len(split) == 6
    assert all(adaptive.LEAST_CHANCE <= need.chance <= 1 for need in needs.values())
    assert min(needs[key].chance for key in split) > max(needs[key].chance for key in set(needs) - split)
    save_extension(engine, draft)
    frame = evidence.read_tables(engine, "winter").assignments
    extra = frame[frame["reason"] == AssignmentReason.ADAPTIVE]
    keys = dict(zip(draft.opened.items["conversation_id"], draft.opened.items["key"], strict=True))
    assert len(extra) > 0
    for row in extra.to_dict("records"):
        assert row["inclusion_probability"] == needs[keys[row["conversation_id"]]].chance
    assert extra["conversation_id"].value_counts().eq(2).all()


def test_the_headline_rests_on_the_first_stage_and_the_weighted_figure_on_both(engine: Engine) -> None:
    add_study(engine)
    open_set(engine)
    split_the_first(engine, 6)
    headline = evidence.agreement(evidence.read_tables(engine, "winter"))[0].found
    save_extension(engine, draft_adaptive(engine, "winter", "first", to=4))
    answer_all(engine, F)
    tables = evidence.read_tables(engine, "winter")
    assert evidence.agreement(tables)[0].found == headline
    weighted = evidence.weighted_alpha(tables.assignments)
    assert weighted.n_ratings is not None
    assert weighted.value != pytest.approx(headline.alpha_ordinal.value)
    drawn = tables.assignments[tables.assignments["reason"] == AssignmentReason.ADAPTIVE]
    assert weighted.n == drawn["conversation_id"].nunique()


def test_the_chances_do_not_depend_on_what_comes_after_the_first_stage(sqlite_engine: Engine) -> None:
    add_study(sqlite_engine)
    open_set(sqlite_engine)
    split_the_first(sqlite_engine, 6)
    draft = draft_adaptive(sqlite_engine, "winter", "first", to=4)
    again = draft_adaptive(sqlite_engine, "winter", "first", to=4)
    assert draft.probabilities == again.probabilities
    assert draft.seats == again.seats
    save_extension(sqlite_engine, draft)
    answer_all(sqlite_engine, F)
    after = first_stage_needs(
        read_open_set(sqlite_engine, "winter", "first"), evidence.read_tables(sqlite_engine, "winter")
    )
    assert {need.item: need.chance for need in after} == draft.probabilities
    with pytest.raises(PlanRefused, match="has had its second stage"):
        draft_adaptive(sqlite_engine, "winter", "first", to=5)


def test_items_whose_first_stage_is_not_over_take_no_part(sqlite_engine: Engine) -> None:
    add_study(sqlite_engine)
    open_set(sqlite_engine)
    with pytest.raises(PlanRefused, match="0 of its 16 items have been rated to the end"):
        draft_adaptive(sqlite_engine, "winter", "first", to=4)
    frame = frames.assignments(sqlite_engine, "winter")
    for assignment in frame.loc[frame["conversation_id"] <= 10, "assignment_id"]:
        answer(sqlite_engine, assignment, P)
    draft = draft_adaptive(sqlite_engine, "winter", "first", to=4)
    assert len(draft.probabilities) == 10
    assert "6 items take no part, for their first stage is not over." in draft.notes


def test_over_many_draws_an_item_is_drawn_as_often_as_its_chance_says() -> None:
    need = adaptive.Need(item="a", signs=("a label is borderline", "the metric is to be watched"))
    assert need.chance == pytest.approx(0.6)
    assert adaptive.Need(item="b", signs=tuple(adaptive.NEEDS)).chance == 1


def open_set_of(n: int, raters: int, overlap: int) -> OpenSet:
    """A planned set as it stands in memory, all of it answered."""
    items, members = items_of(n), members_of(raters)
    made = plan(items, members, overlap=overlap, seed=7)
    rows = pd.DataFrame(
        [
            {"key": i.key, "metric": i.metric, "family": i.family, "base_scenario": i.scenario}
            for i in sorted(items, key=lambda item: item.key)
        ]
    )
    seats = pd.DataFrame([{"key": s.item, "rater": s.rater, "panel": Panel.INTERNAL} for s in made.seats])
    return OpenSet(
        study="winter",
        slug="first",
        design={"seed": 7, "overlap": overlap},
        items=rows,
        assignments=seats,
        holders=made.teams,
        members=made.members,
        newcomers=(),
        why_not={(s.item, s.rater): "have had it" for s in made.seats},
        state=(len(made.seats), 0),
    )


@pytest.mark.parametrize(("n", "raters"), [(162, 19), (5000, 40)])
def test_a_raised_design_of_real_size_stays_balanced(n: int, raters: int) -> None:
    opened = open_set_of(n, raters, 2)
    seats, shortages = find_raters(opened, dict.fromkeys(opened.items["key"], 1))
    assert shortages == []
    assert Counter(seat.item for seat in seats) == dict.fromkeys(opened.items["key"], 1)
    assert not {(seat.item, seat.rater) for seat in seats} & set(opened.why_not)
    teams = {key: {*team} for key, team in opened.holders.items()}
    for seat in seats:
        teams[seat.item].add(seat.rater)
    loads = Counter(rater for team in teams.values() for rater in team)
    assert spread(list(loads.values())) <= 1
    if n == 162:
        pairs = Counter(pair for team in teams.values() for pair in combinations(sorted(team), 2))
        names = [member.name for member in opened.members]
        assert spread([pairs[pair] for pair in combinations(names, 2)]) <= 2

from collections import Counter
from pathlib import Path

import pytest
from sqlalchemy import Engine
from sqlmodel import select

from impactbench.domain import Panel
from impactbench.store import frames
from impactbench.store import tables as t
from impactbench.store.engine import reading, writing
from reviews.assignment import Member, PlanRefused, plan
from reviews.design.drafts import ReviewSetDraft
from reviews.design.review_sets import draft_review_set, save
from reviews.members.raters import parse_rater, read_raters
from tests.reviews.invented_study import add_judge, add_study, place_metrics
from tests.reviews.test_assignment import items_of, members_of, spread


def people(**of_ada: object) -> list[Member]:
    """Ada as described, and four more of no panel."""
    return [
        Member(name="Ada", panel=Panel.INTERNAL, **of_ada),  # type: ignore[arg-type]
        *(Member(name=name, panel=Panel.INTERNAL) for name in ("Bo", "Cy", "Di")),
    ]


def draft_of(engine: Engine, raters: list[Member], **more: object) -> ReviewSetDraft:
    arguments = {"overlap": 2, "seed": 7, "raters": raters, **more}
    return draft_review_set(engine, "winter", **arguments)  # type: ignore[arg-type]


def metrics_of(draft: ReviewSetDraft, rater: str) -> set[str]:
    own = [seat.item for seat in draft.plan.seats if seat.rater == rater]
    return {item.split("::")[1].split("_")[0] for item in own}


def test_nobody_rates_a_metric_that_they_authored(sqlite_engine: Engine) -> None:
    add_study(sqlite_engine)
    draft = draft_of(sqlite_engine, people(conflicts=("kindness/m01",)))
    assert metrics_of(draft, "Ada") == {"m02"}
    assert spread(list(draft.plan.loads.values())) <= 1


def test_nobody_rates_a_model_of_a_maker_whom_they_are_bound_to(sqlite_engine: Engine) -> None:
    add_study(sqlite_engine)
    draft = draft_of(sqlite_engine, people(conflicts=("tansy works",)))
    assert {seat.item.split("::")[0] for seat in draft.plan.seats if seat.rater == "Ada"} == {"run-corvid-7"}


def test_expertise_counts_where_it_is_to_be_matched(sqlite_engine: Engine) -> None:
    add_study(sqlite_engine)
    place_metrics(sqlite_engine)
    raters = people(expertise=("sleep", "anger"))
    assert metrics_of(draft_of(sqlite_engine, raters, match_expertise=True), "Ada") == {"m01"}
    assert metrics_of(draft_of(sqlite_engine, raters), "Ada") == {"m01", "m02"}
    unknown = draft_of(sqlite_engine, people(), match_expertise=True)
    assert "No rater's expertise is on record, so everybody may have every metric." in unknown.notes


@pytest.mark.parametrize(("languages", "asked"), [(("de",), False), (("en-GB",), True), ((), True)])
def test_people_rate_what_they_can_read(
    sqlite_engine: Engine, languages: tuple[str, ...], asked: bool
) -> None:
    add_study(sqlite_engine)
    draft = draft_of(sqlite_engine, people(languages=languages), language="en")
    assert (draft.plan.loads["Ada"] > 0) == asked


def test_the_manifest_of_a_run_says_its_language(sqlite_engine: Engine) -> None:
    add_study(sqlite_engine)
    with writing(sqlite_engine) as session:
        run = session.exec(select(t.Run).where(t.Run.slug == "run-tansy-2")).one()
        run.manifest = {"language": "fr"}
    draft = draft_of(sqlite_engine, people(languages=("fr",)), language="en")
    assert {seat.item.split("::")[0] for seat in draft.plan.seats if seat.rater == "Ada"} == {"run-tansy-2"}


def test_a_metric_that_too_few_may_rate_is_refused_by_name(sqlite_engine: Engine) -> None:
    add_study(sqlite_engine)
    bound = [Member(name=n, panel=Panel.INTERNAL, conflicts=("kindness/m01",)) for n in ("Ada", "Bo", "Cy")]
    with pytest.raises(
        PlanRefused,
        match=r"items of the metric kindness/m01, such as .* open to 1 of the 4 raters for an overlap of 2, "
        "since these have a conflict of interest: Ada, Bo, Cy",
    ):
        draft_of(sqlite_engine, [*bound, parse_rater("Di:internal")])
    assert draft_of(sqlite_engine, [*bound, parse_rater("Di:internal")], metrics=["m02"]).plan.seats


def test_a_metric_short_of_a_panel_is_refused(sqlite_engine: Engine) -> None:
    add_study(sqlite_engine)
    raters = [*people(), Member(name="Eve", panel=Panel.EXTERNAL, conflicts=("kindness/m02",))]
    with pytest.raises(PlanRefused, match=r"kindness/m02, such as .* open to no external rater"):
        draft_of(sqlite_engine, raters)


def test_limits_are_kept_and_the_others_share_what_is_left(sqlite_engine: Engine) -> None:
    add_study(sqlite_engine)
    draft = draft_of(sqlite_engine, people(max_items=3))
    assert draft.plan.loads["Ada"] == 3
    assert sorted(draft.plan.loads.values()) == [3, 9, 10, 10]
    assert "Loads range from 3 to 10, because some raters are at the most they may have." in draft.notes
    assert draft.design["limits"] == {"Ada": 3}
    assert draft_of(sqlite_engine, people(max_items=3), cap=10).design["limits"] == {
        "Ada": 3,
        "Bo": 10,
        "Cy": 10,
        "Di": 10,
    }


def test_limits_that_leave_seats_empty_are_refused_with_the_numbers(sqlite_engine: Engine) -> None:
    add_study(sqlite_engine)
    with pytest.raises(PlanRefused, match="16 items with overlap 2 need 32 seats; raise the limits"):
        draft_of(sqlite_engine, people(), cap=7)
    with pytest.raises(PlanRefused, match="cap 0 leaves nothing to rate"):
        draft_of(sqlite_engine, people(), cap=0)


def test_tight_limits_and_bars_are_met_through_exchanges() -> None:
    items, members = items_of(30, metrics=3), members_of(0, 0, 6)
    barred = {(item.key, "n-00"): "have a conflict of interest" for item in items if item.metric != "m0"}
    limited = [Member(name=m.name, panel=None, max_items=10) for m in members]
    made = plan(items, limited, overlap=2, seed=1, ineligible=barred)
    assert set(made.loads.values()) == {10}
    assert not set(barred) & {(seat.item, seat.rater) for seat in made.seats}


def test_a_file_of_raters_says_what_they_may_have(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "raters.csv"
    path.write_text(
        "rater,panel,expertise,languages,conflicts,max_items\n"
        "Ada,internal,sleep;grief,de;en-GB,kindness/m01; Tansy Works,12\n"
        "Bo,internal,,,,\nCy,external,,,,\n"
    )
    add_study(engine)
    raters = read_raters(path)
    assert raters[0] == Member(
        name="Ada",
        panel=Panel.INTERNAL,
        expertise=("sleep", "grief"),
        languages=("de", "en-GB"),
        conflicts=("kindness/m01", "Tansy Works"),
        max_items=12,
    )
    saved = draft_of(engine, raters)
    save(engine, saved)
    with reading(engine) as session:
        ada = session.exec(select(t.Rater).where(t.Rater.pseudonym == "Ada")).one()
    assert (ada.expertise, ada.languages) == ("sleep grief", ["de", "en-GB"])
    assert ada.conflicts == ["kindness/m01", "Tansy Works"]
    assert save(engine, draft_of(engine, raters)).added == 0
    later = draft_of(
        engine, [parse_rater("Ada"), *(parse_rater(f"{n}:internal") for n in "EFG")], slug="later"
    )
    assert later.plan.loads["Ada"] == 0


def test_a_limit_that_is_no_number_is_refused_by_line(tmp_path: Path) -> None:
    path = tmp_path / "raters.csv"
    path.write_text("rater,panel,max_items\nAda,internal,many\n")
    with pytest.raises(PlanRefused, match="line 2: max_items 'many' is no number of items"):
        read_raters(path)


def test_strata_may_be_the_kinship_and_the_verdict_of_the_judge(engine: Engine) -> None:
    add_study(engine)
    add_judge(engine, model="tansy-2")
    draft = draft_of(engine, people(), strata=("kinship", "verdict"))
    counts = Counter(stratum.name.split(" | ")[0] for stratum in draft.sample.strata)
    assert set(counts) == {"self", "other"}
    assert {s.name.split(" | ")[1] for s in draft.sample.strata} == {"pass", "fail", "unscored"}
    save(engine, draft)
    assert set(frames.assignments(engine, "winter")["stratum"]) == {s.name for s in draft.sample.strata}


def test_a_sibling_is_of_the_judges_family_and_not_the_judge(sqlite_engine: Engine) -> None:
    add_study(sqlite_engine)
    add_judge(sqlite_engine, model="corvid-9")
    names = {s.name for s in draft_of(sqlite_engine, people(), strata=("family", "kinship")).sample.strata}
    assert names == {"Corvid | sibling", "Tansy | other"}


def test_what_a_judge_is_needed_for_asks_for_one(sqlite_engine: Engine) -> None:
    add_study(sqlite_engine)
    with pytest.raises(PlanRefused, match="'winter' has no judgment, so kinship and verdict"):
        draft_of(sqlite_engine, people(), strata=("verdict",))
    add_judge(sqlite_engine, model="tansy-2")
    add_judge(sqlite_engine, model="tansy-2", prompt="another")
    with pytest.raises(PlanRefused, match="several judges; name one with --judge: tansy-2#1, tansy-2#2"):
        draft_of(sqlite_engine, people(), strata=("verdict",))
    assert draft_of(sqlite_engine, people(), strata=("verdict",), judge="tansy-2#2").plan.seats
    with pytest.raises(PlanRefused, match="no judge 'corvid'"):
        draft_of(sqlite_engine, people(), strata=("verdict",), judge="corvid")

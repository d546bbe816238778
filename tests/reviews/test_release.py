from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Engine
from sqlmodel import select

from impactbench.domain import LabelVerdict
from impactbench.store import frames
from impactbench.store import tables as t
from impactbench.store.engine import reading, writing
from reviews import desk, evidence
from reviews.assignment import PlanRefused
from reviews.blindness.visibility import Stage, stage_of_study
from reviews.design.release import SURPLUS, Release, draft_releases, save_release, surplus_labels
from reviews.labels import Answer
from reviews.locking import ReportRefused, lock_set, mark_reported
from tests.reviews.invented_study import add_study, answer
from tests.reviews.test_extension import MIXED, SIX, open_set

P = LabelVerdict.PASS
FORTNIGHT = timedelta(days=14)
NOW = datetime.now(UTC)
LATER = NOW + timedelta(days=20)


def release(engine: Engine, *, now: datetime = LATER) -> Release:
    (draft,) = draft_releases(engine, "winter", older_than=FORTNIGHT, now=now)
    return draft


def of(engine: Engine, rater: str) -> list[int]:
    frame = frames.assignments(engine, "winter")
    return frame.loc[frame["rater"] == rater, "assignment_id"].tolist()


def see(engine: Engine, *raters: str, at: datetime = LATER) -> None:
    """Raters who open an item of theirs at a time."""
    with writing(engine) as session:
        for name in raters:
            rater = session.exec(select(t.Rater).where(t.Rater.pseudonym == name)).one()
            own = session.exec(select(t.Assignment).where(t.Assignment.rater_id == rater.id)).first()
            assert own is not None
            session.add(t.Exposure(rater_id=rater.id or 0, assignment_id=own.id or 0, shown_at=at))


@pytest.fixture
def left(engine: Engine) -> Engine:
    """Six raters; Ada answered two items and has not been seen since, the others are there."""
    add_study(engine)
    open_set(engine)
    for assignment in of(engine, "Ada")[:2]:
        answer(engine, assignment, P)
    see(engine, "Bo", "Cy", "Di", "Ed", "Flo")
    return engine


def test_abandoned_slots_go_to_others_and_what_was_answered_stays(left: Engine) -> None:
    mine = of(left, "Ada")
    draft = release(left)
    assert set(draft.abandoned["assignment_id"]) == set(mine[2:])
    assert len(draft.seats) == len(mine) - 2
    assert save_release(left, draft, now=LATER) == len(mine) - 2
    frame = frames.assignments(left, "winter")
    assert of(left, "Ada") == mine
    assert not frame.duplicated(["conversation_id", "rater"]).any()
    with reading(left) as session:
        released = set(session.exec(select(t.Assignment.id).where(t.Assignment.released_at != None)))  # noqa: E711
    assert released == set(mine[2:])
    standing = frame[~frame["assignment_id"].isin(released)]
    assert standing["conversation_id"].value_counts().eq(2).all()
    loads = standing[standing["rater"] != "Ada"]["rater"].value_counts()
    assert loads.max() - loads.min() <= 1
    assert set(evidence.read_tables(left, "winter").assignments["reason"]) == {"core"}


def test_releasing_again_changes_nothing(left: Engine) -> None:
    save_release(left, release(left), now=LATER)
    before = frames.assignments(left, "winter")["code"].tolist()
    again = release(left)
    assert again.abandoned.empty
    assert save_release(left, again, now=LATER) == 0
    assert frames.assignments(left, "winter")["code"].tolist() == before


def test_a_label_that_comes_all_the_same_is_kept_and_explained(left: Engine) -> None:
    mine = of(left, "Ada")
    save_release(left, release(left), now=LATER)
    with reading(left) as session:
        late = session.get_one(t.Assignment, mine[-1])
    desk.save(left, late.rater_id, late.code, Answer(verdict=P), base_revision=0)
    surplus = surplus_labels(frames.assignments(left, "winter", slots=True))
    assert surplus[["conversation_id", "rater", "because"]].to_numpy().tolist() == [
        [late.conversation_id, "Ada", SURPLUS]
    ]
    frame = frames.assignments(left, "winter")
    assert frame.loc[frame["assignment_id"] == mine[-1], "label"].tolist() == [P]
    assert len(frame[frame["conversation_id"] == late.conversation_id]) == 3
    assert release(left).abandoned.empty


@pytest.mark.parametrize(
    "sign_of_life",
    [
        lambda engine, _: see(engine, "Ada", at=LATER - timedelta(days=1)),
        lambda engine, own: desk.keep_draft(engine, own.rater_id, own.code, {"a": 1}, base_revision=0),
        lambda engine, own: answer(engine, own.id, P),
    ],
    ids=["an exposure", "a draft", "a label"],
)
def test_whoever_was_seen_since_has_abandoned_nothing(
    left: Engine, sign_of_life: Callable[[Engine, t.Assignment], object]
) -> None:
    with reading(left) as session:
        own = session.get_one(t.Assignment, of(left, "Ada")[-1])
    sign_of_life(left, own)
    assert release(left, now=NOW + timedelta(days=13)).abandoned.empty


def test_a_slot_opened_of_late_is_not_abandoned_however_long_its_rater_was_away(left: Engine) -> None:
    assert draft_releases(left, "winter", older_than=timedelta(hours=1))[0].abandoned.empty


def test_an_answer_in_between_makes_the_preview_out_of_date(left: Engine) -> None:
    draft = release(left)
    answer(left, of(left, "Ada")[-1], P)
    with pytest.raises(PlanRefused, match="answered since the preview"):
        save_release(left, draft)
    with reading(left) as session:
        assert not session.exec(select(t.Assignment).where(t.Assignment.released_at != None)).all()  # noqa: E711


def test_many_releases_at_once_replace_each_slot_once(left: Engine) -> None:
    drafts = [release(left) for _ in range(4)]
    wanted = len(drafts[0].seats)
    with ThreadPoolExecutor(4) as pool:
        outcomes = [pool.submit(save_release, left, draft) for draft in drafts]
    assert [o.result() for o in outcomes if not o.exception()] == [wanted]
    assert len(frames.assignments(left, "winter")) == 32 + wanted


def test_the_only_external_rater_who_leaves_is_listed_as_short(sqlite_engine: Engine) -> None:
    add_study(sqlite_engine)
    open_set(sqlite_engine, raters=[*MIXED[:3], *SIX[4:]])
    see(sqlite_engine, "Ada", "Bo", "Ed", "Flo")
    draft = release(sqlite_engine)
    assert draft.seats == ()
    assert {shortage.lack for shortage in draft.shortages} == {"external rater"}
    assert len(draft.shortages) == 16
    assert save_release(sqlite_engine, draft) == 16


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"older_than": timedelta(0)}, "give one such as 14d"),
        ({"older_than": FORTNIGHT, "slug": "second"}, "no review set 'second'"),
    ],
)
def test_what_cannot_be_released_is_refused(
    sqlite_engine: Engine, arguments: dict[str, object], sentence: str
) -> None:
    add_study(sqlite_engine)
    open_set(sqlite_engine)
    with pytest.raises(PlanRefused, match=sentence):
        draft_releases(sqlite_engine, "winter", **arguments)  # type: ignore[arg-type]


def test_a_set_is_locked_once_and_then_nothing_is_rated_or_released(left: Engine) -> None:
    draft = release(left)
    locked = lock_set(left, "winter", "first", now=LATER)
    assert (locked.newly, locked.answered, locked.waiting) == (True, 2, 30)
    again = lock_set(left, "winter", "first")
    assert (again.newly, again.locked_at) == (False, LATER)
    with pytest.raises(PlanRefused, match="is locked"):
        save_release(left, draft)
    with pytest.raises(PlanRefused, match="no review set"):
        draft_releases(left, "winter", older_than=FORTNIGHT)
    with pytest.raises(PlanRefused, match="no review set 'second'"):
        lock_set(left, "winter", "second")


def test_results_are_public_once_every_set_is_locked_and_only_then(left: Engine) -> None:
    with pytest.raises(
        ReportRefused, match=r"'first' is still open.*`impactbench review lock winter --set first`"
    ):
        mark_reported(left, "winter")
    lock_set(left, "winter", "first", now=LATER)
    assert stage_of_study(left, "winter") is Stage.LOCKED
    assert mark_reported(left, "winter", now=LATER).newly == ("first",)
    assert stage_of_study(left, "winter") is Stage.REPORTED
    again = mark_reported(left, "winter")
    assert (again.sets, again.newly) == (("first",), ())
    with pytest.raises(ReportRefused, match="'summer' has no review set"):
        mark_reported(left, "summer")

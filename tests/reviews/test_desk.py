"""Labels come to be in one way, once, and are never overwritten: on SQLite and on PostgreSQL."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
from sqlalchemy import Engine, func
from sqlmodel import select

from impactbench.domain import LabelStatus, LabelVerdict
from impactbench.store import tables as t
from impactbench.store.engine import reading, writing
from reviews import desk
from reviews.labels import Answer, LabelRefused, StaleAnswer
from reviews.rating import worklist
from tests.browser.desks import plain_turns, set_desks

PASS = Answer(verdict=LabelVerdict.PASS, rationale="it asks")
FAIL = Answer(verdict=LabelVerdict.FAIL)


@pytest.fixture
def raters(engine: Engine) -> dict[str, int]:
    """Two raters with the same three conversations before them; gives their ids."""
    set_desks(engine, [plain_turns(n) for n in (1, 2, 3)], "kestrel", "wren", base_url="http://here")
    with reading(engine) as session:
        return {rater.pseudonym: rater.id or 0 for rater in session.exec(select(t.Rater)).all()}


def codes(engine: Engine, rater_id: int) -> list[str]:
    return worklist.codes(engine, rater_id)


def verdicts(engine: Engine, rater_id: int, code: str) -> list[LabelVerdict | None]:
    return [label.verdict for label in desk.history(engine, rater_id, code)]


def test_the_same_answer_sent_twice_is_stored_once(engine: Engine, raters: dict[str, int]) -> None:
    rater = raters["kestrel"]
    code = codes(engine, rater)[0]
    first = desk.save(engine, rater, code, PASS, base_revision=0)
    again = desk.save(engine, rater, code, PASS.model_copy(update={"active_seconds": 9.0}), base_revision=0)
    assert first.id == again.id
    assert verdicts(engine, rater, code) == [LabelVerdict.PASS]


def test_another_answer_on_an_old_revision_is_refused_and_nothing_is_overwritten(
    engine: Engine, raters: dict[str, int]
) -> None:
    rater = raters["kestrel"]
    code = codes(engine, rater)[0]
    desk.save(engine, rater, code, PASS, base_revision=0)
    with pytest.raises(StaleAnswer):
        desk.save(engine, rater, code, FAIL, base_revision=0)
    assert verdicts(engine, rater, code) == [LabelVerdict.PASS]


def test_a_change_is_a_new_revision(engine: Engine, raters: dict[str, int]) -> None:
    rater = raters["kestrel"]
    code = codes(engine, rater)[0]
    desk.save(engine, rater, code, PASS, base_revision=0)
    desk.save(engine, rater, code, FAIL, base_revision=1)
    assert verdicts(engine, rater, code) == [LabelVerdict.PASS, LabelVerdict.FAIL]


def test_a_revision_that_never_was_cannot_be_built_on(engine: Engine, raters: dict[str, int]) -> None:
    rater = raters["kestrel"]
    with pytest.raises(StaleAnswer):
        desk.save(engine, rater, codes(engine, rater)[0], PASS, base_revision=5)


def test_nobody_answers_drafts_or_reads_for_somebody_else(engine: Engine, raters: dict[str, int]) -> None:
    code = codes(engine, raters["kestrel"])[0]
    other = raters["wren"]
    for attempt in (
        lambda: desk.save(engine, other, code, PASS, base_revision=0),
        lambda: desk.keep_draft(engine, other, code, {}, base_revision=0),
        lambda: desk.history(engine, other, code),
        lambda: desk.take_up(engine, other, code),
        lambda: desk.record_exposure(engine, other, code),
    ):
        with pytest.raises(LabelRefused):
            attempt()


def test_a_draft_is_kept_replaced_and_gone_after_saving(engine: Engine, raters: dict[str, int]) -> None:
    rater = raters["kestrel"]
    code = codes(engine, rater)[0]
    for text in ("a", "ab"):
        assert desk.keep_draft(engine, rater, code, {"rationale": text}, base_revision=0)
    kept = desk.take_up(engine, rater, code).draft
    assert kept is not None
    assert kept.content == {"rationale": "ab"}
    desk.save(engine, rater, code, PASS, base_revision=0)
    assert desk.take_up(engine, rater, code).draft is None
    assert not desk.keep_draft(engine, rater, code, {"rationale": "late"}, base_revision=0)
    assert desk.take_up(engine, rater, code).draft is None


def test_no_verdict_keeps_its_reason_and_its_kind(engine: Engine, raters: dict[str, int]) -> None:
    rater = raters["kestrel"]
    first, second, _ = codes(engine, rater)
    cannot = desk.save(engine, rater, first, Answer(no_verdict_because="outside_my_field"), base_revision=0)
    skipped = desk.save(engine, rater, second, Answer(no_verdict_because="rather_not"), base_revision=0)
    assert (cannot.status, cannot.verdict) == (LabelStatus.CANNOT_JUDGE, None)
    assert (skipped.status, skipped.verdict) == (LabelStatus.SKIPPED, None)


@pytest.mark.parametrize(
    "said", [{"verdict": "pass", "no_verdict_because": "rather_not"}, {"verdict": "maybe"}, {"confidence": 5}]
)
def test_an_answer_is_a_verdict_or_a_reason(said: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"verdict|confidence"):
        Answer.model_validate(said)


def test_an_answer_without_verdict_and_reason_is_refused(engine: Engine, raters: dict[str, int]) -> None:
    rater = raters["kestrel"]
    with pytest.raises(LabelRefused, match="Choose a verdict"):
        desk.save(engine, rater, codes(engine, rater)[0], Answer(), base_revision=0)


def test_a_closed_set_takes_no_more_answers(engine: Engine, raters: dict[str, int]) -> None:
    rater = raters["kestrel"]
    code = codes(engine, rater)[0]
    with writing(engine) as session:
        session.get_one(t.ReviewSet, 1).locked_at = datetime.now(UTC)
    with pytest.raises(LabelRefused, match="closed"):
        desk.save(engine, rater, code, PASS, base_revision=0)
    assert worklist.what_follows(engine, rater)[1] is None


def test_a_draft_larger_than_anybody_means_it_is_refused(engine: Engine, raters: dict[str, int]) -> None:
    rater = raters["kestrel"]
    code = codes(engine, rater)[0]
    with pytest.raises(LabelRefused, match="too long"):
        desk.keep_draft(engine, rater, code, {"rationale": "x" * 2_000_000}, base_revision=0)
    assert desk.take_up(engine, rater, code).draft is None


def test_a_slot_given_to_somebody_else_leaves_the_list_but_a_late_answer_is_kept(
    engine: Engine, raters: dict[str, int]
) -> None:
    rater = raters["kestrel"]
    first, second, _ = codes(engine, rater)
    desk.save(engine, rater, first, PASS, base_revision=0)
    with writing(engine) as session:
        for assignment in session.exec(select(t.Assignment).where(t.Assignment.rater_id == rater)).all():
            if assignment.code in {first, second}:
                assignment.released_at = datetime.now(UTC)
    assert second not in codes(engine, rater)
    assert first in codes(engine, rater)
    assert desk.save(engine, rater, second, PASS, base_revision=0).revision == 1
    assert second in codes(engine, rater)


def test_the_queue_goes_on_behind_the_last_answer_and_then_from_the_start(
    engine: Engine, raters: dict[str, int]
) -> None:
    rater = raters["kestrel"]
    first, second, third = codes(engine, rater)
    desk.save(engine, rater, second, PASS, base_revision=0)
    assert worklist.what_follows(engine, rater)[1] == first
    assert worklist.what_follows(engine, rater, after=second)[1] == third
    assert worklist.what_follows(engine, rater, after=third)[1] == first
    assert worklist.count_items(engine, rater) == (1, 3)
    assert desk.take_up(engine, rater, third).previous == second
    assert (
        desk.take_up(engine, rater, third).item.position,
        desk.take_up(engine, rater, first).previous,
    ) == (3, None)
    desk.save(engine, rater, first, PASS, base_revision=0)
    desk.save(engine, rater, third, PASS, base_revision=0)
    assert worklist.what_follows(engine, rater)[1] is None
    assert [one.position for one in worklist.answered(engine, rater)] == [1, 2, 3]


def test_a_blind_item_has_no_field_for_what_must_stay_hidden(engine: Engine, raters: dict[str, int]) -> None:
    rater = raters["kestrel"]
    item = desk.take_up(engine, rater, codes(engine, rater)[0]).item
    assert set(type(item).model_fields) == {"code", "position", "total", "asked", "turns", "option_order"}
    assert set(type(item.asked).model_fields) == {
        "question",
        "pass_means",
        "fail_means",
        "definition",
        "in_doubt",
    }


def test_twelve_threads_with_fifty_labels_each_lose_none(engine: Engine) -> None:
    names = [f"rater-{n}" for n in range(12)]
    set_desks(engine, [plain_turns(n, 1) for n in range(1, 51)], *names, base_url="http://here")
    with reading(engine) as session:
        ids = [rater.id or 0 for rater in session.exec(select(t.Rater)).all() if rater.pseudonym in names]
    waiting = {rater: codes(engine, rater) for rater in ids}

    def rate_all(rater: int) -> None:
        for code in waiting[rater]:
            desk.keep_draft(engine, rater, code, {"rationale": "..."}, base_revision=0)
            desk.save(engine, rater, code, PASS, base_revision=0)

    with ThreadPoolExecutor(12) as threads:
        list(threads.map(rate_all, ids))
    with reading(engine) as session:
        assert session.exec(select(func.count()).select_from(t.Label)).one() == 600


def test_twelve_threads_with_one_answer_store_it_once(engine: Engine, raters: dict[str, int]) -> None:
    rater = raters["kestrel"]
    code = codes(engine, rater)[0]
    with ThreadPoolExecutor(12) as threads:
        stored = list(
            threads.map(lambda _: desk.save(engine, rater, code, PASS, base_revision=0).id, range(12))
        )
    assert len(set(stored)) == 1
    assert verdicts(engine, rater, code) == [LabelVerdict.PASS]


def test_of_twelve_different_answers_at_once_one_is_stored_and_the_others_are_told(
    engine: Engine, raters: dict[str, int]
) -> None:
    rater = raters["kestrel"]
    code = codes(engine, rater)[0]

    def answer(number: int) -> bool:
        try:
            desk.save(
                engine, rater, code, PASS.model_copy(update={"rationale": f"tab {number}"}), base_revision=0
            )
        except StaleAnswer:
            return False
        return True

    with ThreadPoolExecutor(12) as threads:
        assert sum(threads.map(answer, range(12))) == 1
    assert len(verdicts(engine, rater, code)) == 1

"""A hidden repeat is served 15 items or 48 hours after the first answer, and not before."""

from datetime import timedelta

import pytest
from sqlalchemy import Engine
from sqlmodel import select

from impactbench.domain import LabelVerdict
from impactbench.store import tables as t
from impactbench.store.engine import reading, writing
from reviews import desk
from reviews.labels import Answer
from reviews.rating import worklist
from reviews.rating.repeat_spacing import REST, next_due_at
from tests.browser.desks import OPTIONS, plain_turns, set_desks


@pytest.fixture
def kestrel(engine: Engine) -> int:
    """The id of a rater with 17 items, of which the first comes again at once, as item 2."""
    set_desks(engine, [plain_turns(n) for n in range(1, 18)], "kestrel", base_url="http://here")
    with writing(engine) as session:
        rater = session.exec(select(t.Rater.id).where(t.Rater.pseudonym == "kestrel")).one() or 0
        items = session.exec(select(t.Assignment).order_by(t.Assignment.position)).all()  # type: ignore[arg-type]
        first = items[0].model_dump(exclude={"id", "code", "position", "repeat"})
        for item in items[1:]:
            item.position += 1
        again = {**first, "code": "again", "position": 2, "repeat": 1, "option_order": OPTIONS}
        session.add(t.Assignment.model_validate(again))
    return rater


def answer(engine: Engine, rater: int, code: str) -> None:
    desk.save(engine, rater, code, Answer(verdict=LabelVerdict.PASS), base_revision=0)


def positions(engine: Engine, rater: int, number: int) -> list[int]:
    """Answer up to `number` items as they are served; gives the positions of those."""
    served: list[int] = []
    code = worklist.what_follows(engine, rater)[1]
    while code is not None and len(served) < number:
        with reading(engine) as session:
            served.append(session.exec(select(t.Assignment.position).where(t.Assignment.code == code)).one())
        answer(engine, rater, code)
        code = worklist.what_follows(engine, rater, after=code)[1]
    return served


def age_first_answer(engine: Engine, by: timedelta) -> None:
    with writing(engine) as session:
        first = session.exec(select(t.Label).order_by(t.Label.id)).first()  # type: ignore[arg-type]
        assert first is not None
        first.created_at -= by


def test_it_waits_for_fifteen_other_answers(engine: Engine, kestrel: int) -> None:
    assert positions(engine, kestrel, 99) == [1, *range(3, 19), 2]
    assert next_due_at(engine, kestrel) is None


def test_or_for_forty_eight_hours(engine: Engine, kestrel: int) -> None:
    assert positions(engine, kestrel, 3) == [1, 3, 4]
    age_first_answer(engine, REST - timedelta(minutes=1))
    assert positions(engine, kestrel, 1) == [5]
    age_first_answer(engine, timedelta(minutes=2))
    assert positions(engine, kestrel, 1) == [2]


def test_where_nothing_else_is_left_the_page_can_say_when_to_come_back(engine: Engine, kestrel: int) -> None:
    with writing(engine) as session:
        for late in session.exec(select(t.Assignment).where(t.Assignment.position > 5)).all():
            session.delete(late)
    assert next_due_at(engine, kestrel) is None
    assert positions(engine, kestrel, 99) == [1, 3, 4, 5]
    with reading(engine) as session:
        first = session.exec(select(t.Label).order_by(t.Label.id)).first()  # type: ignore[arg-type]
    assert first is not None
    assert next_due_at(engine, kestrel) == first.created_at + REST
    age_first_answer(engine, REST)
    assert positions(engine, kestrel, 99) == [2]

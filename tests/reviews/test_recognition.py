"""Blinding is reported as measured: what raters say of the models that they believe to have recognised."""

from sqlalchemy import Engine
from sqlmodel import select

from impactbench.store import tables as t
from impactbench.store.engine import reading
from reviews import desk
from reviews.blindness.recognition import recognition
from reviews.labels import Answer
from reviews.rating import worklist
from reviews.rating.questions import respond
from tests.browser.desks import plain_turns, set_desks


def test_it_counts_raters_and_says_how_sure_the_share_is(engine: Engine) -> None:
    set_desks(engine, [plain_turns(1)], "auk", "bittern", "coot", "dunlin", base_url="http://here")
    with reading(engine) as session:
        ids = {one.pseudonym: one.id or 0 for one in session.exec(select(t.Rater)).all()}
    (untouched,) = recognition(engine, "winter")
    assert (untouched.asked, untouched.waiting, untouched.recognised.value) == (4, 4, None)
    said = {
        "auk": {"recognised_model": "no"},
        "bittern": {"recognised_model": "no"},
        "coot": {"recognised_model": "in a few", "recognised_which": "the dashes gave it away"},
    }
    for name, answers in said.items():
        (code,) = worklist.codes(engine, ids[name])
        desk.save(engine, ids[name], code, Answer(verdict="pass"), base_revision=0)  # type: ignore[arg-type]
        asked = worklist.what_follows(engine, ids[name])[0]
        assert asked is not None
        respond(engine, ids[name], asked, answers)
    (found,) = recognition(engine, "winter")
    assert found.answered == {"no": 2, "in a few": 1, "in many": 0}
    assert (found.waiting, found.remarks) == (1, ("the dashes gave it away",))
    assert (found.recognised.n, round(found.recognised.value or 0, 3)) == (3, 0.333)
    assert 0 < (found.recognised.low or 0) < 1 / 3 < (found.recognised.high or 0) < 1

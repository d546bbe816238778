from sqlalchemy import Engine
from sqlmodel import select

from impactbench.domain import Role
from impactbench.store import tables as t
from impactbench.store.engine import reading, writing
from reviews import desk
from reviews.blinding import HIDDEN_NAME
from reviews.rating import worklist
from tests.browser.desks import MODEL, plain_turns, set_desks

NEWCOMER = "wolverine-4-mini"


def test_what_is_remembered_of_a_conversation_follows_decisions_and_models(sqlite_engine: Engine) -> None:
    named = plain_turns(1)
    named[1]["content"] = f"I am {MODEL}."
    named[3]["content"] = f"Others use {NEWCOMER}."
    set_desks(sqlite_engine, [named], "kestrel", base_url="http://here")
    with reading(sqlite_engine) as session:
        ids = {person.pseudonym: person.id or 0 for person in session.exec(select(t.Rater)).all()}
        like = session.exec(select(t.Conversation)).one()
    (code,) = worklist.codes(sqlite_engine, ids["kestrel"])

    def shown() -> list[str]:
        turns = desk.take_up(sqlite_engine, ids["kestrel"], code).item.turns
        return [turns[1].text, turns[3].text]

    assert shown() == shown() == [f"I am {HIDDEN_NAME}.", f"Others use {NEWCOMER}."]
    place = {"conversation_id": like.id, "message": 1, "start": 5, "end": 5 + len(MODEL)}
    with writing(sqlite_engine) as session:
        session.add(t.Mask(**place, found=MODEL, decision="show", decided_by=ids[Role.MAINTAINER]))
    assert shown()[0] == f"I am {MODEL}."
    with writing(sqlite_engine) as session:
        session.add(
            t.Mask(**place, found=MODEL, decision="hide", decided_by=ids[Role.MAINTAINER], revision=2)
        )
        model = t.Model(slug=NEWCOMER, family="wolverine", provider="Halden Works")
        session.add(model)
        session.flush()
        session.add(
            t.Conversation(
                **like.model_dump(include={"run_id", "scenario_id", "turns", "content_hash"}),
                key="s001__newcomer",
                model_id=model.id,
            )
        )
    assert shown() == [f"I am {HIDDEN_NAME}.", f"Others use {HIDDEN_NAME}."]

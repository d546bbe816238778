"""Who is in a study, how they come in, and what stays of those who have left."""

from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, inspect, text
from sqlmodel import select

from impactbench.domain import LabelVerdict, Panel, Role
from impactbench.store import tables as t
from impactbench.store.engine import reading, writing
from reviews import desk, evidence
from reviews.labels import Answer
from reviews.members import people
from reviews.members.invitations import InvitationRefused, invite, make_token, rater_of_token
from reviews.members.people import PersonRefused
from reviews.rating import worklist
from tests.browser.desks import plain_turns, set_desks
from tests.reviews.invented_study import add_raters

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
IDENTITY = "https://login.example.org#a1b2"
P, B, F = LabelVerdict.PASS, LabelVerdict.BORDERLINE, LabelVerdict.FAIL
SAID = {"kestrel": (P, P, F, B, F), "wren": (P, F, F, P, F), "heron": (P, P, F, F, B)}


def person(engine: Engine, name: str) -> t.Rater:
    with reading(engine) as session:
        return session.exec(select(t.Rater).where(t.Rater.pseudonym == name)).one()


def everything(engine: Engine) -> str:
    """All rows of all tables."""
    with engine.connect() as connection:
        return "\n".join(
            str(row)
            for table in inspect(engine).get_table_names()
            for row in connection.execute(text(f'SELECT * FROM "{table}"'))
        )


@pytest.fixture
def rated(engine: Engine) -> Engine:
    """Five conversations, rated by three; kestrel is known rather well."""
    set_desks(engine, [plain_turns(n) for n in range(1, 6)], *SAID, base_url="http://here")
    for name, verdicts in SAID.items():
        rater = person(engine, name).id or 0
        for code, verdict in zip(worklist.codes(engine, rater), verdicts, strict=True):
            desk.save(engine, rater, code, Answer(verdict=verdict), base_revision=0)
    with writing(engine) as session:
        kestrel = session.exec(select(t.Rater).where(t.Rater.pseudonym == "kestrel")).one()
        kestrel.identity, kestrel.expertise = IDENTITY, "autonomy"
        kestrel.languages, kestrel.conflicts = ["de", "gsw"], ["Acmeworks"]
        one = session.exec(select(t.ReviewSet)).one()
        one.design = {"raters": [["kestrel", "external"], ["wren", "external"]], "limits": {"kestrel": 5}}
    return engine


def test_whoever_leaves_keeps_nothing_but_what_they_said(rated: Engine) -> None:
    rater = person(rated, "kestrel").id or 0
    code = worklist.codes(rated, rater)[0]
    desk.keep_draft(rated, rater, code, {"rationale": "just begun"}, base_revision=1)
    before = evidence.read_tables(rated, "winter").assignments
    assert people.deactivate(rated, "kestrel") == "former-rater-1"
    gone = person(rated, "former-rater-1")
    assert gone.id == rater
    assert not gone.active
    assert (gone.token_hash, gone.token_expires_at, gone.identity) == (None, None, None)
    assert (gone.expertise, gone.languages, gone.conflicts) == ("", [], [])
    assert not [
        word for word in ("kestrel", IDENTITY, "gsw", "Acmeworks'", "just begun") if word in everything(rated)
    ]
    after = evidence.read_tables(rated, "winter").assignments
    assert after.replace({"rater": {"former-rater-1": "kestrel"}}).equals(before)


def figures(engine: Engine) -> Any:
    """Everything that the audit says, in full digits."""
    tables = evidence.read_tables(engine, "winter")
    return [
        repr([asdict(row) for row in evidence.coverage(tables)]),
        repr([asdict(row) for row in evidence.agreement(tables)]),
        repr([asdict(row) for row in evidence.judges_against_experts(tables)]),
    ]


@pytest.mark.parametrize("leaver", SAID)
def test_every_figure_stays_as_it_was_but_for_the_name(rated: Engine, leaver: str) -> None:
    before = figures(rated)
    people.deactivate(rated, leaver)
    after = [said.replace("former-rater-1", leaver) for said in figures(rated)]
    assert leaver in "".join(before)
    assert after == before


def test_neutral_names_do_not_repeat_and_say_no_role_but_the_raters(engine: Engine) -> None:
    add_raters(engine, "Ada", "Bo", "former-rater-2")
    add_raters(engine, "Cy", role=Role.MAINTAINER)
    assert [people.deactivate(engine, name) for name in ("Ada", "Bo", "Cy")] == [
        "former-rater-1",
        "former-rater-3",
        "former-member-1",
    ]


def test_whoever_left_comes_in_by_no_door(rated: Engine) -> None:
    token = make_token(rated, "kestrel")
    people.deactivate(rated, "kestrel")
    assert rater_of_token(rated, token, now=datetime.now(UTC)) is None
    assert people.person_of_identity(rated, IDENTITY) is None
    assert people.claim_identity(rated, token, IDENTITY) is None
    with pytest.raises(InvitationRefused, match="no longer active"):
        invite(rated, "former-rater-1", base_url="")
    for refused in (
        lambda: people.deactivate(rated, "former-rater-1"),
        lambda: people.link_identity(rated, "former-rater-1", IDENTITY),
        lambda: people.change_role(rated, "former-rater-1", role=Role.MAINTAINER),
    ):
        with pytest.raises(PersonRefused, match="'former-rater-1' has left"):
            refused()


def test_a_revoked_link_is_dead_and_a_new_one_can_be_made(engine: Engine) -> None:
    add_raters(engine, "Ada")
    assert not people.revoke(engine, "Ada")
    token = make_token(engine, "Ada")
    assert people.revoke(engine, "Ada")
    assert rater_of_token(engine, token, now=datetime.now(UTC)) is None
    assert rater_of_token(engine, make_token(engine, "Ada"), now=datetime.now(UTC)) is not None


def test_the_list_says_how_everybody_comes_in_and_how_far_they_are(rated: Engine) -> None:
    people.revoke(rated, "wren")
    people.deactivate(rated, "heron")
    people.revoke(rated, "kestrel")
    found = {one.name: (one.door, one.answered, one.asked) for one in people.list_people(rated)}
    assert found == {
        "former-rater-1": ("left", 5, 5),
        "kestrel": ("organisation", 5, 5),
        "maintainer": ("link", 0, 0),
        "methodologist": ("link", 0, 0),
        "wren": ("none", 5, 5),
    }
    late = {one.name: one.link_until for one in people.list_people(rated, now=NOW + timedelta(days=9_999))}
    assert set(late.values()) == {None}


def test_a_code_works_once_and_only_for_its_person(engine: Engine) -> None:
    add_raters(engine, "Ada", "Bo")
    code = make_token(engine, "Ada", now=NOW)
    assert people.claim_identity(engine, "guessed", IDENTITY, now=NOW) is None
    assert people.claim_identity(engine, code, IDENTITY, now=NOW + timedelta(days=61)) is None
    claimed = people.claim_identity(engine, code, IDENTITY, now=NOW)
    assert claimed is not None
    assert claimed.pseudonym == "Ada"
    assert people.claim_identity(engine, code, "https://login.example.org#other", now=NOW) is None
    assert rater_of_token(engine, code, now=NOW) is None
    found = people.person_of_identity(engine, IDENTITY)
    assert found is not None
    assert found.pseudonym == "Ada"
    with pytest.raises(PersonRefused, match="belongs to 'Ada' already"):
        people.claim_identity(engine, make_token(engine, "Bo", now=NOW), IDENTITY, now=NOW)
    assert rater_of_token(engine, make_token(engine, "Bo", now=NOW), now=NOW) is not None


@pytest.mark.parametrize(
    "identity", ["", "a1b2", "https://login.example.org", "#a1b2", "https://x#" + "y" * 1000]
)
def test_what_is_no_identity_is_refused(engine: Engine, identity: str) -> None:
    add_raters(engine, "Ada")
    with pytest.raises(PersonRefused, match="is no identity; write ISSUER#SUBJECT"):
        people.link_identity(engine, "Ada", identity)
    assert person(engine, "Ada").identity is None


def test_an_expert_sees_no_results_while_their_review_is_open(rated: Engine) -> None:
    with pytest.raises(PersonRefused, match="'kestrel' has 5 assignments in reviews that are still open"):
        people.change_role(rated, "kestrel", role=Role.METHODOLOGIST)
    with writing(rated) as session:
        session.exec(select(t.ReviewSet)).one().locked_at = NOW
    people.change_role(rated, "kestrel", role=Role.METHODOLOGIST)
    changed = person(rated, "kestrel")
    assert (changed.role, changed.panel) == (Role.METHODOLOGIST, None)
    people.change_role(rated, "kestrel", role=Role.EXPERT, panel=Panel.INTERNAL)
    assert person(rated, "kestrel").panel is Panel.INTERNAL
    with pytest.raises(PersonRefused, match="a maintainer rates nothing"):
        people.change_role(rated, "kestrel", role=Role.MAINTAINER, panel=Panel.INTERNAL)


def test_nobody_unknown_is_changed(engine: Engine) -> None:
    for change in (people.revoke, people.deactivate):
        with pytest.raises(PersonRefused, match="nobody called 'Zoe'; `impactbench people list`"):
            change(engine, "Zoe")

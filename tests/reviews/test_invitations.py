from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Engine, text
from sqlmodel import select

from impactbench.domain import Panel
from impactbench.store import tables as t
from impactbench.store.engine import reading, writing
from reviews.members.devices import hash_secret
from reviews.members.invitations import InvitationRefused, invite, open_link, rater_of_token, raters_to_invite
from tests.reviews.invented_study import add_imported_labels, add_raters, add_study

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
ADDRESS = "https://review.example"


def token_of(link: str) -> str:
    assert link.startswith(f"{ADDRESS}/enter/")
    return link.removeprefix(f"{ADDRESS}/enter/")


@pytest.fixture
def ada(engine: Engine) -> str:
    """The token of a rater who was invited at noon."""
    add_raters(engine, "Ada", panel=Panel.INTERNAL)
    return token_of(invite(engine, "Ada", base_url=ADDRESS, now=NOW))


def test_looking_at_a_link_uses_nothing_up(engine: Engine, ada: str) -> None:
    for later in (timedelta(0), timedelta(days=1), timedelta(days=59)):
        person = rater_of_token(engine, ada, now=NOW + later)
        assert person is not None
        assert (person.pseudonym, person.panel) == ("Ada", Panel.INTERNAL)


def test_a_token_has_256_bits_and_only_its_hash_is_kept(engine: Engine, ada: str) -> None:
    assert len(ada) == 43
    with reading(engine) as session:
        kept = session.connection().execute(text("SELECT * FROM rater")).one()
    assert ada not in str(kept)
    assert hash_secret(ada) in str(kept)


def test_a_link_expires(engine: Engine, ada: str) -> None:
    assert rater_of_token(engine, ada, now=NOW + timedelta(days=60)) is None


def test_a_new_link_replaces_the_old(engine: Engine, ada: str) -> None:
    newer = token_of(invite(engine, "Ada", base_url=ADDRESS, now=NOW))
    assert rater_of_token(engine, ada, now=NOW) is None
    assert rater_of_token(engine, newer, now=NOW) is not None


def test_somebody_who_is_not_active_cannot_enter_or_be_invited(engine: Engine, ada: str) -> None:
    with writing(engine) as session:
        session.exec(select(t.Rater)).one().active = False
    assert rater_of_token(engine, ada, now=NOW) is None
    with pytest.raises(InvitationRefused, match="'Ada' is no longer active"):
        invite(engine, "Ada", base_url=ADDRESS)


@pytest.mark.parametrize("token", ["", "x", "None", "\x00", "é" * 300, "' OR 1=1 --"])
def test_what_never_was_a_link_opens_nothing(engine: Engine, ada: str, token: str) -> None:
    add_raters(engine, "Bo")
    assert rater_of_token(engine, token, now=NOW) is None
    assert open_link(engine, token, now=NOW) is None


def test_nobody_unknown_is_invited(sqlite_engine: Engine) -> None:
    with pytest.raises(
        InvitationRefused, match="nobody called 'Zoe'; add them with `impactbench people add Zoe`"
    ):
        invite(sqlite_engine, "Zoe", base_url=ADDRESS)


def test_a_study_without_a_set_of_its_own_has_nobody_to_invite(sqlite_engine: Engine) -> None:
    add_study(sqlite_engine)
    add_imported_labels(sqlite_engine, "Old hand")
    with pytest.raises(InvitationRefused, match="'winter' has no review set with raters; open one with"):
        raters_to_invite(sqlite_engine, "winter")

"""Who sends a request: the person whose device is signed in, or the member whom their organisation has named."""

from sqlalchemy import Engine
from starlette.requests import HTTPConnection

from app.members import identity_of
from app.sign_in import COOKIE, person_behind
from impactbench.settings import Settings
from impactbench.store.tables import Rater
from reviews.members.people import person_of_identity


def who(request: HTTPConnection, engine: Engine, settings: Settings) -> Rater | None:
    """Looked up on every request; None for whoever has not signed in, or is not known here."""
    looking = person_behind(request.cookies.get(COOKIE), engine, settings)
    if looking is not None:
        return looking
    identity = identity_of(request)
    return person_of_identity(engine, identity) if identity else None

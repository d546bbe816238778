"""What a page stands on: the database, who is looking, and which study they are looking at."""

import time
from functools import lru_cache

import streamlit as st
from sqlalchemy import Engine
from sqlalchemy.exc import DatabaseError

from app import members
from app.sign_in import COOKIE, person_behind
from impactbench.domain import Role
from impactbench.settings import Settings
from impactbench.store import frames
from impactbench.store.engine import connect, require_current
from impactbench.store.tables import Rater
from reviews.members.people import person_of_identity

_BELIEVED_SECONDS = 60
"""How long a database that was current is taken to be so: looking at every run would cost more than the run."""
_KEPT = "impactbench-looking"

_settings: list[Settings] = []
_believed_until = [0.0]


def use(settings: Settings) -> None:
    """Fix the settings of this process; without it they are read from the environment."""
    _settings[:] = [settings]
    _believed_until[0] = 0.0
    engine.cache_clear()


def settings() -> Settings:
    if not _settings:
        use(Settings())
    return _settings[0]


@lru_cache(maxsize=1)
def engine() -> Engine:
    """The database of this process."""
    return connect(settings().database_url)


def require_database() -> None:
    """Refuse a database that is behind.

    Raises:
        DatabaseBehind: the text says which command to run.
    """
    if time.monotonic() < _believed_until[0]:
        return
    require_current(engine())
    _believed_until[0] = time.monotonic() + _BELIEVED_SECONDS


def recognise() -> Rater | None:
    """Who is looking, as the cookie of this browser or their organisation says; looked up on every run, kept for its rest.

    Raises:
        DatabaseBehind, DatabaseUnreachable: the database was changed or went away meanwhile.
    """
    require_database()
    try:
        looking = person_behind(st.context.cookies.get(COOKIE), engine(), settings()) or _member()
    except DatabaseError:
        _believed_until[0] = 0.0
        require_database()
        raise
    st.session_state[_KEPT] = looking
    return looking


def _member() -> Rater | None:
    identity = members.identity()
    return person_of_identity(engine(), identity) if identity else None


def person() -> Rater | None:
    """Who is looking in this run."""
    return st.session_state[_KEPT] if _KEPT in st.session_state else recognise()


def require_role(*roles: Role) -> Rater:
    """Whoever is looking, if their role is one of these; otherwise the page ends here."""
    looking = person()
    if looking is None or looking.role not in roles:
        st.error("This page is not for your role. If that is a mistake, ask whoever invited you.")
        st.stop()
    return looking


def rater_id(looking: Rater) -> int:
    if looking.id is None:
        raise ValueError("a rater who was never stored is looking at a page")
    return looking.id


def study_in_view() -> str | None:
    """The study that the page shows: the one in the address, else the first; None where there is none."""
    known = {str(row["study"]): row for row in frames.studies(engine()).to_dict("records")}
    if not known:
        return None
    names = list(known)
    asked = st.query_params.get("study") or st.session_state.get("study")
    chosen = asked if asked in known else names[0]
    if len(names) > 1:
        chosen = st.sidebar.selectbox("Study", names, index=names.index(chosen))
    st.session_state["study"] = st.query_params["study"] = chosen
    if notice := known[chosen]["notice"]:
        with st.container(border=True):
            st.text(notice)
    return chosen

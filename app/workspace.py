"""What a page stands on: the database, who is looking, and which study they are looking at."""

from functools import lru_cache

import streamlit as st
from sqlalchemy import Engine

from app.sign_in import COOKIE, person_behind
from impactbench.domain import Role
from impactbench.settings import Settings
from impactbench.store import frames
from impactbench.store.engine import connect, require_current
from impactbench.store.tables import Rater

_settings: list[Settings] = []


def use(settings: Settings) -> None:
    """Fix the settings of this process; without it they are read from the environment."""
    _settings[:] = [settings]
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
    require_current(engine())


def person() -> Rater | None:
    """Who is looking, as the cookie of this browser says; looked up anew on every run of a page."""
    return person_behind(st.context.cookies.get(COOKIE), engine(), settings())


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

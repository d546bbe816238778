"""What every public page begins with: who may look, and the study to show."""

from functools import cache
from pathlib import Path

import streamlit as st

from app import public_data, workspace
from app.components import public_tables
from app.components.permalinks import choose
from impactbench.domain import Role
from impactbench.store import frames
from reviews.public.releasing import PublicStudy, public_studies, public_study

_MEMBERS = (Role.METHODOLOGIST, Role.MAINTAINER)
_KEPT = "public-study"
_PRINT = Path(public_tables.__file__).with_name("public_print.css")


def study_in_view(title: str) -> PublicStudy:
    """The study that the address names, else the first; or the page ends with what to do first.

    Whoever rates is refused: what judges said, and of which model, would bias them.
    """
    looking = workspace.person()
    member = looking is not None and looking.role in _MEMBERS
    if looking is not None and not member:
        workspace.require_role(*_MEMBERS)
    studies = _studies(member=member)
    st.title(title)
    st.html(f"<style>{_print_style()}</style>")
    if not studies:
        _nothing(member=member)
        st.stop()
    by_slug = {study.slug: study for study in studies}
    kept = st.session_state.get(_KEPT)
    if "study" not in st.query_params and kept in by_slug:
        st.query_params["study"] = kept
    chosen = choose("Study", list(by_slug), name="study", shown=lambda slug: by_slug[slug].title or slug)
    st.session_state[_KEPT] = chosen
    study = by_slug[chosen]
    public_data.look_at(study)
    if study.released_at is None:
        st.warning("Not released. Only members of the project see this; the public does not.", icon="🔒")
    if study.notice:
        with st.container(border=True):
            st.text(study.notice)
    return study


@cache
def _print_style() -> str:
    return _PRINT.read_text(encoding="utf-8")


def _studies(*, member: bool) -> list[PublicStudy]:
    engine = workspace.engine()
    released = public_studies(engine)
    if not member:
        return released
    known = {study.slug for study in released}
    others = [str(slug) for slug in frames.studies(engine)["study"] if slug not in known]
    return [*released, *(public_study(engine, slug, unreleased=True) for slug in others)]


def _nothing(*, member: bool) -> None:
    if not member:
        st.write("No results have been released yet. Please come back later.")
        return
    st.write("There is no study yet. Bring in a run folder of the pipeline first:")
    st.code("impactbench import run path/to/benchmark", language=None)

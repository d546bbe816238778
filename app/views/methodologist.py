"""What pages for methodologists and maintainers begin with: the study, and whether its contents may be seen now."""

import streamlit as st

from app import workspace
from impactbench.domain import Role
from reviews.blindness import visibility
from reviews.blindness.visibility import Seen, Viewer

READERS = (Role.METHODOLOGIST, Role.MAINTAINER)


def study_in_view(*shows: Seen) -> str:
    """The study to show; or the page ends with what to do first, or with why it is not to be seen now.

    Args:
        shows: what the page shows of the study; everything there is where it does not say.
    """
    looking = workspace.require_role(*READERS)
    study = workspace.study_in_view()
    if study is None:
        st.title("No study yet")
        st.write("Nothing has been imported so far. Bring in a run folder of the pipeline first:")
        st.code("impactbench import run path/to/benchmark", language=None, wrap_lines=True)
        st.stop()
    stage = visibility.stage_of_study(workspace.engine(), study)
    if closed := visibility.missing(Viewer.of(looking.role), shows or visibility.EVERYTHING, stage):
        st.title("Not to be seen now")
        st.text(
            f"This page shows {', '.join(closed)}: not for a {looking.role} while the study is at the stage"
            f" “{stage.name.lower()}”."
        )
        st.stop()
    return study


def may_see(what: Seen, study: str) -> bool:
    """Whether whoever looks may see something of a study, as it stands."""
    looking = workspace.require_role(*READERS)
    stage = visibility.stage_of_study(workspace.engine(), study)
    return visibility.may_see(Viewer.of(looking.role), what, stage)


def nothing_asked(study: str) -> None:
    """What to do first where nobody has been asked to rate anything."""
    st.write("Nobody has been asked to rate anything of this study yet. Open a review set:")
    st.code(
        f"impactbench review open {study} --overlap 3 --seed 7 --rater NAME:internal --rater NAME:external",
        language=None,
        wrap_lines=True,
    )

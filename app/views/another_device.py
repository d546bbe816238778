"""How a rater goes on elsewhere: a link for another device of theirs, and where they are signed in."""

import streamlit as st

from app import workspace
from app.sign_in import COOKIE, device_behind
from app.wording import count
from impactbench.domain import ImpactBenchError, Role
from reviews.members.devices import devices_of, end_device
from reviews.members.invitations import ANOTHER_DEVICE_MINUTES, link_for_another_device

_LINK, _SAID = "another-device-link", "another-device-said"


def another_device() -> None:
    """Make a link, and sign out what was lost."""
    looking = workspace.require_role(Role.EXPERT)
    known = devices_of(workspace.engine(), looking.pseudonym)
    st.title("Another device")
    same = " Your work is the same on each." if len(known) > 1 else ""
    st.markdown(f"**You are signed in on {count(len(known), 'device')}.**{same}")
    if said := st.session_state.pop(_SAID, None):
        st.text(said)
    st.button("Make a link for another device", on_click=_make)
    if link := st.session_state.pop(_LINK, None):
        st.text(
            f"Open this link on the other device within {ANOTHER_DEVICE_MINUTES} minutes. It works once, is shown only now, and"
            " is for you alone:"
        )
        st.code(link, language=None, wrap_lines=True)
    st.header("Where you are signed in")
    here = device_behind(st.context.cookies.get(COOKIE), workspace.engine(), workspace.settings())
    for one in known:
        said_of, end = st.columns([4, 1], vertical_alignment="center")
        which = "This device: signed in" if one.number == here else "Signed in"
        said_of.text(f"{which} {one.since:%d %b %Y, %H:%M} UTC, last seen {one.last_seen_on:%d %b %Y}")
        end.button(
            "Sign out",
            key=f"end-{one.number}",
            help=f"Sign out the device that was signed in on {one.since:%d %b %Y, %H:%M} UTC",
            on_click=_end,
            args=(one.number,),
        )


def _make() -> None:
    """One click; who clicks is looked up once more."""
    looking = workspace.require_role(Role.EXPERT)
    base_url = workspace.settings().base_url
    st.session_state[_LINK] = link_for_another_device(
        workspace.engine(), looking.pseudonym, base_url=base_url
    )


def _end(number: int) -> None:
    looking = workspace.require_role(Role.EXPERT)
    try:
        end_device(workspace.engine(), looking.pseudonym, number)
        st.session_state[_SAID] = "That device is signed out."
    except ImpactBenchError:
        st.session_state[_SAID] = "That device was signed out already."

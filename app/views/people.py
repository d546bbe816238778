"""Who is in: how they come in, and what a maintainer may change about it."""

import pandas as pd
import streamlit as st

from app import workspace
from app.wording import count
from impactbench.domain import ImpactBenchError, Panel, Role
from impactbench.store.tables import Rater
from reviews import invitations
from reviews import people as members
from reviews.people import Person
from reviews.raters import add_person

_DOORS = {"link": "Personal link", "organisation": "Organisation", "none": "No way in", "left": "Has left"}
_PANELS: list[Panel | None] = [None, *Panel]
_SAID, _LINK = "people-said", "people-link"


def people() -> None:
    """Everybody, and what can be done: invite, revoke, give another role, let go."""
    looking = workspace.require_role(Role.MAINTAINER)
    engine = workspace.engine()
    known = members.list_people(engine)
    st.title("People")
    st.markdown(f"**{_headline(known)}**")
    _tell_once()
    st.dataframe(_table(known), hide_index=True, width="stretch")
    st.header("Invite somebody")
    _invite()
    here = [one.name for one in known if one.door != "left"]
    st.header("Change something about somebody")
    name = st.selectbox("Who", here, index=None, placeholder="Choose a person")
    if name is not None:
        _change(next(one for one in known if one.name == name), looking)


def _headline(known: list[Person]) -> str:
    here = [one for one in known if one.door != "left"]
    shut_out = [one for one in here if one.door == "none"]
    said = f"{count(len(here), 'person', 'people')} in, {len(known) - len(here)} left."
    return said if not shut_out else f"{said} {len(shut_out)} cannot come in: send them a new link."


def _tell_once() -> None:
    """What the last click did; a link is shown here and never again."""
    if said := st.session_state.pop(_SAID, None):
        st.text(said)
    if link := st.session_state.pop(_LINK, None):
        st.text("Send this link to that person alone. It is shown this once and is valid for sixty days:")
        st.code(link, language=None, wrap_lines=True)


def _table(known: list[Person]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "Name": one.name,
                "Role": str(one.role),
                "Panel": str(one.panel or ""),
                "Comes in by": _DOORS[one.door],
                "Until": f"{one.link_until:%d %b %Y}" if one.link_until else "",
                "Answered": f"{one.answered} of {one.asked}" if one.asked else "",
            }
            for one in known
        ],
        columns=["Name", "Role", "Panel", "Comes in by", "Until", "Answered"],
    )


def _invite() -> None:
    with st.form("invite", clear_on_submit=True):
        st.text_input("Pseudonym: all that others will see", key="invite-name", max_chars=100)
        st.selectbox("Role", list(Role), key="invite-role", format_func=str.capitalize)
        st.selectbox("Panel (experts only)", _PANELS, key="invite-panel", format_func=_panel)
        st.form_submit_button("Invite", on_click=_add)


def _panel(panel: Panel | None) -> str:
    return str(panel).capitalize() if panel else "None"


def _add() -> None:
    workspace.require_role(Role.MAINTAINER)
    asked = st.session_state
    name, role, panel = asked["invite-name"].strip(), asked["invite-role"], asked["invite-panel"]
    try:
        if not add_person(workspace.engine(), name, role=role, panel=panel):
            asked[_SAID] = f"{name} is in already; choose them below to make a new link."
            return
        asked[_LINK] = invitations.invite(workspace.engine(), name, base_url=workspace.settings().base_url)
        asked[_SAID] = f"{name} is added."
    except ImpactBenchError as refused:
        asked[_SAID] = f"Nothing was changed: {refused}"


def _change(person: Person, looking: Rater) -> None:
    st.button(
        "Make a new link", on_click=_do, args=("link", person.name), help="The one they have stops working."
    )
    st.button(
        "Revoke the link", on_click=_do, args=("revoke", person.name), help="Signs them out everywhere."
    )
    if person.name == looking.pseudonym:
        st.caption("Your own role is changed by somebody else.")
        return
    st.selectbox(
        "Role from now on",
        list(Role),
        index=list(Role).index(person.role),
        format_func=str.capitalize,
        key=f"role-{person.name}",
    )
    st.selectbox(
        "Panel from now on (experts only)",
        _PANELS,
        index=_PANELS.index(person.panel),
        format_func=_panel,
        key=f"panel-{person.name}",
    )
    st.button("Change the role", on_click=_do, args=("role", person.name))
    sure = st.checkbox(
        "This person leaves for good: no way in, a neutral name. Their labels stay.",
        key=f"sure-{person.name}",
    )
    st.button("Deactivate", on_click=_do, args=("leave", person.name), disabled=not sure)


def _do(what: str, name: str) -> None:
    """One click; the role of whoever clicks is looked up once more."""
    looking = workspace.require_role(Role.MAINTAINER)
    engine, asked = workspace.engine(), st.session_state
    try:
        match what:
            case "link":
                asked[_LINK] = invitations.invite(engine, name, base_url=workspace.settings().base_url)
                asked[_SAID] = f"{name} has a new link; the old one no longer works."
            case "revoke":
                had = members.revoke(engine, name)
                asked[_SAID] = f"The link of {name} no longer works." if had else f"{name} had no link."
            case "role" if name != looking.pseudonym:
                role, panel = asked[f"role-{name}"], asked[f"panel-{name}"]
                members.change_role(engine, name, role=role, panel=panel if role is Role.EXPERT else None)
                asked[_SAID] = f"{name} is {role} now."
            case "leave" if name != looking.pseudonym:
                asked[_SAID] = f"{name} has left and is called {members.deactivate(engine, name)} now."
            case _:
                asked[_SAID] = "Nothing was changed."
    except ImpactBenchError as refused:
        asked[_SAID] = f"Nothing was changed: {refused}"

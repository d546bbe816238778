"""Who is in: how they come in, and what a maintainer may change about it."""

import pandas as pd
import streamlit as st

from app import workspace
from app.wording import count
from impactbench.domain import ImpactBenchError, Panel, Role
from impactbench.store.tables import Rater
from reviews.members import invitations
from reviews.members import people as members
from reviews.members.devices import devices_of, end_device
from reviews.members.expertise import describe
from reviews.members.people import Person
from reviews.members.raters import add_person

_DOORS = {
    "device": "Signed in",
    "link": "Personal link",
    "organisation": "Organisation",
    "none": "No way in",
    "left": "Has left",
}
_PANELS: list[Panel | None] = [None, *Panel]
_KNOWN = {
    "expertise": ("Expertise", "slugs of subareas, such as sleep, grief"),
    "languages": ("Languages they read", "tags, such as en, de"),
    "conflicts": ("Must not rate", "a benchmark/metric, or a maker of models"),
}
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
    return (
        said
        if not shut_out
        else f"{said} {len(shut_out)} without a way in: make a link for those who are to rate."
    )


def _tell_once() -> None:
    """What the last click did; a link is shown here and never again."""
    if said := st.session_state.pop(_SAID, None):
        st.text(said)
    if link := st.session_state.pop(_LINK, None):
        st.text(
            "Send this link to that person alone. It is shown this once, works once, and within sixty days:"
        )
        st.code(link, language=None, wrap_lines=True)


def _table(known: list[Person]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "Name": one.name,
                "Role": str(one.role),
                "Panel": str(one.panel or ""),
                "Comes in by": _DOORS[one.door],
                "Devices": str(one.devices or ""),
                "Link until": f"{one.link_until:%d %b %Y}" if one.link_until else "",
                "Answered": f"{one.answered} of {one.asked}" if one.asked else "",
            }
            for one in known
        ],
        columns=["Name", "Role", "Panel", "Comes in by", "Devices", "Link until", "Answered"],
    )


def _invite() -> None:
    with st.form("invite", clear_on_submit=True):
        st.text_input("Pseudonym: all that others will see", key="invite-name", max_chars=100)
        st.selectbox("Role", list(Role), key="invite-role", format_func=str.capitalize)
        st.selectbox("Panel (experts only)", _PANELS, key="invite-panel", format_func=_panel)
        for column, (title, example) in _KNOWN.items():
            st.text_input(
                f"{title} (experts only)", key=f"invite-{column}", placeholder=example, max_chars=500
            )
        st.form_submit_button("Invite", on_click=_add)


def _panel(panel: Panel | None) -> str:
    return str(panel).capitalize() if panel else "None"


def _add() -> None:
    workspace.require_role(Role.MAINTAINER)
    asked = st.session_state
    name, role, panel = asked["invite-name"].strip(), asked["invite-role"], asked["invite-panel"]
    try:
        known = {column: asked[f"invite-{column}"].split(",") for column in _KNOWN}
        if not add_person(workspace.engine(), name, role=role, panel=panel, **known):
            asked[_SAID] = f"{name} is in already; choose them below to make a new link."
            return
        asked[_LINK] = invitations.invite(workspace.engine(), name, base_url=workspace.settings().base_url)
        asked[_SAID] = f"{name} is added."
    except ImpactBenchError as refused:
        asked[_SAID] = f"Nothing was changed: {refused}"


def _change(person: Person, looking: Rater) -> None:
    st.button(
        "Make a new link",
        on_click=_do,
        args=("link", person.name),
        help="One they have not used yet stops working; their devices stay signed in.",
    )
    _devices(person.name)
    st.button(
        "Sign out everywhere",
        on_click=_do,
        args=("revoke", person.name),
        help="Ends every device and the link.",
    )
    if person.role is Role.EXPERT:
        _describe(person)
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


def _describe(person: Person) -> None:
    """What decides which items an expert is given from now on."""
    keys = {}
    for column, (title, example) in _KNOWN.items():
        on_record = ", ".join(getattr(person, column))
        # What is on record is part of the key: a field never holds what somebody else has replaced meanwhile.
        keys[column] = f"{column}-{person.name}-{on_record}"
        st.text_input(
            f"{title} from now on", value=on_record, key=keys[column], placeholder=example, max_chars=500
        )
    st.button(
        "Put this on record",
        on_click=_put_on_record,
        args=(person.name, keys),
        help="It decides what they are given from now on; what they were given and said stays as it is.",
    )


def _put_on_record(name: str, keys: dict[str, str]) -> None:
    workspace.require_role(Role.MAINTAINER)
    asked = st.session_state
    try:
        said = {column: asked[key].split(",") for column, key in keys.items()}
        found = describe(workspace.engine(), name, **said)
    except ImpactBenchError as refused:
        asked[_SAID] = f"Nothing was changed: {refused}"
        return
    asked[_SAID] = "\n".join([f"What is on record of {name} is what you wrote.", *found.notes])


def _devices(name: str) -> None:
    """Where somebody is signed in, each to be ended alone."""
    for one in devices_of(workspace.engine(), name):
        said, end = st.columns([4, 1], vertical_alignment="center")
        said.text(
            f"Device {one.number}, signed in {one.since:%d %b %Y}, last seen {one.last_seen_on:%d %b %Y}"
        )
        end.button(
            "Sign out",
            key=f"device-{one.number}",
            help=f"Sign {name} out on device {one.number}",
            on_click=_do,
            args=("device", name, one.number),
        )


def _do(what: str, name: str, number: int = 0) -> None:
    """One click; the role of whoever clicks is looked up once more."""
    looking = workspace.require_role(Role.MAINTAINER)
    engine, asked = workspace.engine(), st.session_state
    try:
        match what:
            case "link":
                asked[_LINK] = invitations.invite(engine, name, base_url=workspace.settings().base_url)
                asked[_SAID] = f"{name} has a new link; a link not used before no longer works."
            case "device":
                end_device(engine, name, number)
                asked[_SAID] = f"{name} is signed out on device {number}."
            case "revoke":
                had = members.revoke(engine, name)
                asked[_SAID] = (
                    f"{name} is signed out everywhere, and the link no longer works."
                    if had
                    else f"{name} had no link that works and was signed in nowhere."
                )
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

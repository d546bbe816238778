"""What somebody sees whom nobody knows: how to come in, and nothing else."""

import streamlit as st

from app import members, workspace
from reviews.members.devices import SIGNED_IN_DAYS
from reviews.members.people import PersonRefused, claim_identity


def entrance() -> None:
    """The page in front of all others."""
    st.title("ImpactBench")
    identity = members.identity()
    if identity is not None:
        _unknown(identity)
        return
    st.write(
        f"Please open the personal link that you were sent. It works once and signs you in on this device for"
        f" {SIGNED_IN_DAYS} days. If you have used it on another device, “Another device” there makes a link for this one."
    )
    if members.sign_in_is_possible():
        st.write("Members of the project can sign in through their organisation instead.")
        st.button("Sign in", on_click=st.login)


def _unknown(identity: str) -> None:
    """Signed in with the organisation, but nobody here: a one-time code says who they are."""
    st.write(
        "Your organisation has signed you in, but this account is not known here yet. Whoever runs the workbench can give"
        " you a code for the first time."
    )
    with st.form("code", clear_on_submit=True):
        code = st.text_input("One-time code", type="password", max_chars=200)
        if st.form_submit_button("Use the code") and code:
            try:
                known = claim_identity(workspace.engine(), code.strip(), identity)
            except PersonRefused:
                known = None
            if known is not None:
                st.rerun()
            st.error(
                "This code does not work. It may have been used, or have run out; please ask for a new one."
            )
    st.button("Sign out", on_click=st.logout)

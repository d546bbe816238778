"""The workbench: what Streamlit runs for everybody who opens a page."""

from pathlib import Path

import streamlit as st

from app import navigation, workspace
from app.views import entrance
from impactbench.domain import ImpactBenchError, Role

# Streamlit writes white on them, which cannot be read on the light blue that stands out from a dark page. (A text that
# stands by itself, as below constants elsewhere, would be shown on every page: this is a script of Streamlit's.)
PRIMARY_BUTTONS = "[data-testid^=stBaseButton-primary]:not(:disabled) { color: light-dark(#ffffff, #0e1117) }"

st.set_page_config(page_title="ImpactBench", page_icon=Path(__file__).with_name("favicon.svg"), layout="wide")
try:
    looking = workspace.recognise()
except ImpactBenchError as mistake:
    st.title("The workbench cannot start")
    st.text(f"Please tell whoever runs it: {mistake}")
    st.stop()
if looking is None:
    entrance.entrance()
    st.stop()
rating = looking.role is Role.EXPERT
page = st.navigation(
    navigation.pages_for(looking), position="top" if rating else "sidebar", expanded=not rating
)
if not rating:  # raters have none, and theirs are the runs that come by the hundred
    st.html(f"<style>{PRIMARY_BUTTONS}</style>")
page.run()
foot = st.container() if rating else st.sidebar
if rating:
    foot.divider()
else:
    foot.html('<a href="/about" target="_self">What the public sees</a>')
foot.text(f"Signed in as {looking.pseudonym}")
foot.html('<a href="/leave" target="_self">Sign out</a>')

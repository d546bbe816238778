"""The report of a study: made on demand, summed up on the page, taken away as a file."""

import io
import json
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

import streamlit as st

from app import workspace
from app.components.plain_table import table_of_words
from app.views.methodologist import may_see, study_in_view
from impactbench.domain import ImpactBenchError
from impactbench.store import frames
from reviews.blindness.visibility import Seen
from reviews.report.checklists import TITLES
from reviews.report.gathering import Sharing, gather
from reviews.report.statement import Statement, parse_statement
from reviews.report.writing import CARD, PAGE, TEXT, write_report

_MARKS = {"met": "✓", "partly": "◐", "not met": "✗", "not stated": "?", "not applicable": "–"}


def report() -> None:
    """What to share, a button, and then the card, the checklists and the files."""
    study = study_in_view()
    st.title("Report")
    st.write(
        "One file that opens offline and prints, with every figure of the audit, the checklists, and a machine-readable judge"
        " card. The archive holds the data as well, so that a stranger can recompute every number."
    )
    sharing = _sharing(study)
    statement = _statement()
    if statement is None:
        return
    if st.button("Make the report", type="primary"):
        st.session_state["report-of"] = study
    if st.session_state.get("report-of") != study:
        st.caption("A study of a few hundred labels takes about half a minute.")
        return
    try:
        files = _made(
            study, frames.state(workspace.engine(), study), sharing, json.dumps(statement.as_values())
        )
    except ImpactBenchError as refused:
        st.text(f"{refused}.")
        return
    _show(study, files)


def _sharing(study: str) -> Sharing:
    left, middle, right = st.columns(3)
    transcripts = left.toggle("Quote conversations", value=False, key="report-transcripts")
    rationales = False
    if may_see(Seen.RATIONALES, study):
        rationales = middle.toggle("Include the reasons", value=False, key="report-rationales")
    pseudonyms = False
    if may_see(Seen.RATER_NAMES, study):
        pseudonyms = right.toggle("Keep raters’ pseudonyms", value=False, key="report-pseudonyms")
    return Sharing(transcripts=transcripts, rationales=rationales, pseudonyms=pseudonyms)


def _statement() -> Statement | None:
    """What the uploaded statement says; an empty one without a file; None where the file is no statement."""
    held = st.file_uploader(
        "Statement about experts, process, purpose and judge (YAML, optional)",
        type=["yaml", "yml"],
        key="report-statement",
    )
    if held is None:
        return Statement()
    try:
        return parse_statement(held.getvalue().decode("utf-8", "replace"), name=held.name)
    except ImpactBenchError as refused:
        st.text(f"{refused}.")
        return None


@st.cache_data(max_entries=4, show_spinner="Computing every figure from the data …")
def _made(study: str, state: str, sharing: Sharing, stated: str) -> dict[str, bytes]:  # noqa: ARG001
    """The files of a report by name; `state` is the key under which they are remembered."""
    statement = Statement(**json.loads(stated))
    package = gather(workspace.engine(), study, sharing=sharing, statement=statement)
    with TemporaryDirectory() as folder:
        into = Path(folder) / "report"
        write_report(package, into)
        return {
            str(path.relative_to(into)): path.read_bytes()
            for path in sorted(into.rglob("*"))
            if path.is_file()
        }


def _show(study: str, files: dict[str, bytes]) -> None:
    card = json.loads(files[CARD])
    unmet = sum(
        item["verdict"] not in ("met", "not applicable")
        for items in card["checklists"].values()
        for item in items
    )
    total = sum(map(len, card["checklists"].values()))
    st.markdown(
        f"**The report is ready: {total - unmet} of {total} checklist items are met or do not apply.**"
    )
    one, two, three = st.columns(3)
    one.download_button("Report (HTML)", files[PAGE], f"{study}-{PAGE}", "text/html", width="stretch")
    two.download_button(
        "Judge card (JSON)", files[CARD], f"{study}-{CARD}", "application/json", width="stretch"
    )
    three.download_button(
        "Everything (ZIP)", _archive(files), f"{study}-report.zip", "application/zip", width="stretch"
    )
    st.caption(
        f"The archive holds {TEXT}, the pictures and the data too. Check it with: impactbench verify FOLDER"
    )
    st.header("What must not be concluded")
    for limit in card["limits"] or ["The data show no such limit by themselves."]:
        st.text(limit)
    plan = card["plan"]
    st.header("Deviations from the plan")
    if not plan.get("hash"):
        st.write("No plan was frozen before the labels could be read.")
    for deviation in plan["deviations"]:
        st.text(deviation)
    for name, items in card["checklists"].items():
        st.header(TITLES[name])
        table_of_words(
            TITLES[name],
            ("Asked for", "Verdict", "Where, or why"),
            [
                (item["asked"], f"{_MARKS[item['verdict']]} {item['verdict']}", item["evidence"])
                for item in items
            ],
        )


def _archive(files: dict[str, bytes]) -> bytes:
    """The files as a ZIP archive, the same bytes each time."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return held.getvalue()

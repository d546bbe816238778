"""Case studies: conversations in which somebody has marked where a behaviour appears and whether it is taken back."""

import streamlit as st

from app import public_data, workspace
from app.components.plain_text import answer
from app.components.public_tables import Cell, table
from app.views.public.in_view import study_in_view
from app.views.public.places import where_conversation_is, where_metric_is, where_metrics_are
from impactbench.domain import Role
from reviews.public.cases import Case
from reviews.public.releasing import PublicStudy
from reviews.public.results import PublicResults
from reviews.public.wording import count


def case_studies() -> None:
    """Every marked conversation, each a link to its words."""
    study = study_in_view("Case studies")
    if study.under_review:
        st.text(
            "Experts are at work on this study. Until their results are reported, no conversation is shown."
        )
        return
    if not study.transcripts:
        st.text("The conversations of this study are not public, so none can be shown as a case.")
        return
    found = public_data.marked(study)
    if not found:
        st.write("No conversation of this study has been marked as a case yet.")
    else:
        _list(study, public_data.results(study), found)
    looking = workspace.person()
    if looking is not None and looking.role is Role.MAINTAINER:
        st.html(
            f'<p>To mark one, open a conversation under <a href="{where_metrics_are(study)}" target="_self">Metrics</a>:'
            " the form stands below its words.</p>"
        )


def _list(study: PublicStudy, results: PublicResults, found: list[Case]) -> None:
    there = [case for case in found if case.first_turn is not None]
    back = sum(case.corrected for case in there)
    answer(
        f"{count(len(found), 'conversation')} {'was' if len(found) == 1 else 'were'} marked. In {len(there)} the behaviour"
        f" appears; in {back} of these the chatbot takes it back.",
        "They were picked to be read, not drawn by chance: they show how it happens, not how often.",
    )
    st.html(
        table(
            ["Behaviour", "Model", "Person", "First appears", "Taken back", "What to notice", "Conversation"],
            [_row(study, results, case) for case in found],
            caption="The marked conversations",
        )
    )


def _row(study: PublicStudy, results: PublicResults, case: Case) -> list[Cell | str]:
    metric = results.metrics[case.benchmark, case.metric]
    return [
        Cell(text=metric.name, where=where_metric_is(study, metric.key), long=True),
        Cell(text=results.names.get(case.model, case.model), whole=True),
        case.age,
        Cell(text=f"turn {case.first_turn}" if case.first_turn else "never", whole=True),
        Cell(text=taken_back(case), whole=True),
        Cell(text=case.note, long=True),
        Cell(
            text="Read it", where=where_conversation_is(study, metric.key, case.conversation_id), whole=True
        ),
    ]


def taken_back(case: Case) -> str:
    """Whether the chatbot takes the behaviour back."""
    if case.first_turn is None:
        return "–"
    return f"turn {case.corrected_turn}" if case.corrected_turn else "no"

"""Every metric of a study: a list to search, and a page for each."""

import streamlit as st

from app import public_data
from app.components.permalinks import choose, switch
from app.components.public_tables import Cell, table
from app.views.public import metric as metric_page
from app.views.public.in_view import study_in_view
from app.views.public.places import where_metric_is
from impactbench.domain import Polarity
from reviews.public.evidence_marks import evidence_mark
from reviews.public.releasing import PublicStudy
from reviews.public.results import PublicMetric
from reviews.public.wording import count
from validation.contested import Status

_AT_ONCE = 40
_ANY = "any"
_KINDS = {_ANY: "All", Polarity.POSITIVE.value: "Helpful", Polarity.NEGATIVE.value: "Harmful"}


def metrics() -> None:
    """The metric that the address names, else the list."""
    asked = st.query_params.get("metric")
    study = study_in_view("Metrics" if asked is None else "Metric")
    known = public_data.results(study).metrics
    by_word = {"__".join(key): one for key, one in known.items()}
    if asked in by_word:
        metric_page.show(study, by_word[asked])
        return
    if asked is not None:
        st.error("This study has no metric of that name. Here are all that it has.")
    if not known:
        st.write("Nothing of this study has been judged yet, so it has no metrics to show.")
        return
    _list(study, list(known.values()))


def _list(study: PublicStudy, known: list[PublicMetric]) -> None:
    checked = sum(one.checked.n_experts > 0 for one in known)
    contested = sum(one.checked.status is Status.CONTESTED for one in known)
    are = "is" if contested == 1 else "are"
    st.markdown(
        f"**{count(len(known), 'behaviour')} {'was' if len(known) == 1 else 'were'} looked for. Experts have checked the"
        f" automatic judge on {checked or 'none'} of them so far"
        f"{f'; {contested} {are} contested' if contested else ''}.**"
    )
    words = st.text_input(
        "Search", value=st.query_params.get("q", ""), placeholder="For example: privacy, flattery, homework"
    )
    st.query_params["q"] = words
    kind = switch("Kind of behaviour", _KINDS, name="kind")
    states = [_ANY, *sorted({one.checked.status for one in known}, key=list(Status).index)]
    state = choose("State of the evidence", states, name="state", shown=_state) if len(states) > 2 else _ANY
    found = [one for one in known if _fits(one, words, kind, str(state))]
    _page(study, found)


def _state(state: str) -> str:
    return "Any" if state == _ANY else str(state).replace("_", " ").capitalize()


def _fits(one: PublicMetric, words: str, kind: str, state: str) -> bool:
    text = " ".join((one.name, one.definition, one.benchmark_name, *one.subareas)).casefold()
    return (
        all(word in text for word in words.casefold().split())
        and kind in (_ANY, one.polarity)
        and state in (_ANY, one.checked.status)
    )


def _page(study: PublicStudy, found: list[PublicMetric]) -> None:
    if not found:
        st.write("No behaviour fits. Try fewer words, or another spelling.")
        return
    sheets = [str(number) for number in range(1, (len(found) - 1) // _AT_ONCE + 2)]
    st.text(f"{count(len(found), 'behaviour')} found.")
    sheet = int(choose("Page", sheets, name="page")) if len(sheets) > 1 else 1
    shown = found[(sheet - 1) * _AT_ONCE : sheet * _AT_ONCE]
    rows = [
        [
            Cell(text=one.name, where=where_metric_is(study, one.key), long=True),
            "helpful" if one.polarity == Polarity.POSITIVE else "harmful",
            ", ".join(one.subareas),
            one.benchmark_name,
            Cell(text=_mark(one), long=True),
        ]
        for one in shown
    ]
    st.html(
        table(
            ["Behaviour", "Kind", "Area", "Source", "Checked?"],
            rows,
            caption="The behaviours that were looked for",
        )
    )


def _mark(one: PublicMetric) -> str:
    mark = evidence_mark(one.checked)
    return f"{mark.shape} {mark.word}"

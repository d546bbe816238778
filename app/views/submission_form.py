"""The form in three parts in which a metric is suggested. It is kept as it is written."""

from typing import Any

import streamlit as st

from app import workspace
from app.views.submission_parts import SAID, remember, show_findings, try_now
from app.views.suite import suite_in_use
from impactbench.domain import ImpactBenchError, Polarity
from impactbench.metrics import Difficulty
from impactbench.resources import subareas
from impactbench.suite.submission_store import Suggestion, keep_draft, send
from impactbench.suite.submissions import SubmissionContent, SubmissionRefused, content_of, missing

_WANTED = {
    Polarity.POSITIVE: "Wanted: good when it is there",
    Polarity.NEGATIVE: "Not wanted: good when it is not",
}
_DIFFICULTY = {Difficulty.LOW: "Easy", Difficulty.MODERATE: "Moderate", Difficulty.HIGH: "Hard"}


def form(suggestion: Suggestion, submitter_id: int) -> None:
    """Write on a draft; send it when nothing is missing."""
    before = suggestion.content
    fields = _Fields(f"{suggestion.code}-{len(suggestion.revisions)}")
    try:
        content = _ask(fields, before)
        if content != before:
            keep_draft(workspace.engine(), suggestion.code, submitter_id, content)
    except ImpactBenchError as refused:
        st.error("The last change is not kept, because of what stands below.")
        st.text(str(refused))
        return
    st.caption("Kept as you write: you can leave and come back.")
    lacking = missing(content)
    for part, words in lacking.items():
        st.text(f"Still missing in {part}: {', '.join(words)}.")
    show_findings(content)
    if st.button("Send for review", disabled=bool(lacking), key=f"{suggestion.code}-send"):
        said = "Thank you. Internal experts review it next; you will see here what they say."
        if remember(send, workspace.engine(), suggestion.code, submitter_id, content, said=said):
            _try_at_once(suggestion.code, said)
        st.rerun()


def _try_at_once(code: str, said: str) -> None:
    if workspace.settings().trial_model:
        try_now(code)
        st.session_state[SAID] = f"{said} {st.session_state[SAID]}"


def _ask(fields: "_Fields", before: SubmissionContent) -> SubmissionContent:
    """What stands in the form now.

    Raises:
        SubmissionRefused: something is too long to be kept.
    """
    justification, scenario, scoring = before.justification, before.scenario, before.scoring
    st.subheader("1. Why it matters")
    names = {place.slug: place.name for place in subareas()}
    known = [benchmark.slug for benchmark in suite_in_use().benchmarks]
    part_1: dict[str, Any] = {
        "benchmark": fields.line(
            "benchmark",
            justification.benchmark,
            "Which benchmark does it belong to?",
            f"One that is there, such as {known[0]}, or the name of a new one",
        ),
        "phenomenon": fields.area(
            "phenomenon", justification.phenomenon, "What is the construct behind it, and what is not meant?"
        ),
        "subareas": st.pills(
            "In which subareas does it stand?",
            list(names),
            selection_mode="multi",
            default=[slug for slug in justification.subareas if slug in names],
            format_func=names.__getitem__,
            key=fields.key("subareas"),
        ),
        "matters": fields.area("matters", justification.matters, "Why does it matter to people?"),
        "literature": fields.lines(
            "literature", justification.literature, "Which sources support that? One a line, with the year"
        ),
    }
    st.subheader("2. Where it shows")
    part_2 = {
        "who": fields.area("who", scenario.who, "Who writes to the chatbot?"),
        "known_context": fields.area("known", scenario.known_context, "What can the chatbot know?"),
        "unknown_context": fields.area("unknown", scenario.unknown_context, "What can it not know?"),
        "messages": fields.lines(
            "messages", scenario.messages, "What may the person write? One message a line"
        ),
    }
    st.subheader("3. How it is scored")
    part_3 = {
        "name": fields.line("name", scoring.name, "What does the chatbot do, in a few words?"),
        "polarity": fields.choice("polarity", scoring.polarity, "Is that wanted?", _WANTED),
        "definition": fields.area(
            "definition",
            scoring.definition,
            "Define the one behaviour that a judge looks for: “The chatbot …”",
        ),
        "question": fields.line(
            "question", scoring.question, "What would you ask an expert, in plain words?"
        ),
        "interpretive_clause": fields.area(
            "clause",
            scoring.interpretive_clause,
            "What if a turn says both, or turns contradict each other? What is excluded? Two to five sentences",
        ),
        "examples_present": fields.lines(
            "present", scoring.examples_present, "Two or more replies that show it, one a line"
        ),
        "examples_absent": fields.lines(
            "absent", scoring.examples_absent, "Two or more replies that do not show it, one a line"
        ),
        "difficulty": fields.choice(
            "difficulty",
            scoring.difficulty,
            "How hard will it be for two careful people to agree?",
            _DIFFICULTY,
        ),
    }
    content = content_of({"justification": part_1, "scenario": part_2, "scoring": part_3}, where="the form")
    if len(content.scoring.name) > 200 or len(content.justification.benchmark) > 200:
        raise SubmissionRefused("a name has more than 200 characters")
    return content


class _Fields:
    """Fields of one draft: their keys name the draft, so that another one begins with its own words."""

    def __init__(self, draft: str) -> None:
        self._draft = draft

    def key(self, name: str) -> str:
        return f"submission-{self._draft}-{name}"

    def line(self, name: str, value: str, label: str, hint: str | None = None) -> str:
        return st.text_input(label, value=value, placeholder=hint, max_chars=200, key=self.key(name)).strip()

    def area(self, name: str, value: str, label: str) -> str:
        return st.text_area(label, value=value, max_chars=4000, key=self.key(name)).strip()

    def lines(self, name: str, values: tuple[str, ...], label: str) -> list[str]:
        text = st.text_area(label, value="\n".join(values), max_chars=8000, key=self.key(name))
        return [line.strip() for line in text.splitlines() if line.strip()]

    def choice(self, name: str, value: Any, label: str, words: dict[Any, str]) -> Any:
        options = list(words)
        return st.selectbox(
            label,
            options,
            index=options.index(value) if value in options else None,
            format_func=words.__getitem__,
            placeholder="Choose",
            key=self.key(name),
        )

"""The items under a figure, and the one that is opened: transcript, labels and verdicts, as far as they may be seen."""

from html import escape

import pandas as pd
import streamlit as st

from app import audit, workspace
from app.components.permalinks import choose
from app.wording import count
from reviews.blindness import visibility
from reviews.blindness.visibility import Viewer
from reviews.item_in_full import ItemInFull, item_in_full

MOST = 200
"""Items that can be chosen from at once; those that come first are shown."""
_WORDS = {
    "conversation": "Conversation",
    "title": "Metric",
    "model": "Model",
    "age": "Age",
    "own": "This rater",
    "lacks": "What is missing",
    "fail": "fail",
    "borderline": "borderline",
    "pass": "pass",
    "cannot_judge": "can’t judge",
    "experts": "Experts",
    "reference": "Experts’ verdict",
    "judge": "Judge",
}
_NAMED = {"run": "run {}", "turns": "turns {}", "sure (1 to 4)": "sure {} of 4"}
"""What would say nothing without its name."""


def items_below(study: str, items: pd.DataFrame, *, heading: str, empty: str, whose: str = "Experts") -> None:
    """A table of items with one to open; the address holds which.

    Args:
        study: its slug.
        items: conversation_id, metric_version_id, and columns to show, the most telling rows first.
        heading: above the table.
        empty: what to say where there are none.
        whose: verdicts are counted in the columns fail, borderline and pass.
    """
    st.header(heading)
    if items.empty:
        st.write(empty)
        return
    shown = items.head(MOST)
    if len(items) > MOST:
        st.caption(f"The first {MOST} of {count(len(items), 'item')}.")
    st.dataframe(_table(shown, whose), hide_index=True, width="stretch")
    rows = {f"{row['conversation_id']}.{row['metric_version_id']}": row for row in shown.to_dict("records")}
    names = {key: f"{row['conversation']} · {row['title']}" for key, row in rows.items()}
    nothing = "none"
    key = choose(
        "Open an item",
        [nothing, *rows],
        name="item",
        shown=lambda word: "Choose …" if word == nothing else names[word],
    )
    if key != nothing:
        conversation, version = (int(part) for part in key.split("."))
        _open(study, conversation, version)


def _table(items: pd.DataFrame, whose: str) -> pd.DataFrame:
    table = items[[name for name in _WORDS if name in items]].copy()
    for name in {"judge", "reference"} & set(table.columns):
        table[name] = [_verdict(value) for value in table[name]]
    if "age" in table:
        table["age"] = ["" if pd.isna(value) else str(value) for value in table["age"]]
    return table.rename(columns=_WORDS | {"fail": f"{whose}: fail"})


def _verdict(value: float) -> str:
    if pd.isna(value):
        return "no verdict"
    return "pass" if value > 0.5 else "fail" if value < 0.5 else "undecided"


def _open(study: str, conversation_id: int, metric_version_id: int) -> None:
    looking = workspace.person()
    item = item_in_full(
        workspace.engine(),
        study,
        audit.tables(study),
        conversation_id=conversation_id,
        metric_version_id=metric_version_id,
        viewer=Viewer.of(looking.role if looking else None),
        stage=visibility.stage_of_study(workspace.engine(), study),
    )
    _show(item)


def _show(item: ItemInFull) -> None:
    st.subheader(f"Conversation {item.conversation}")
    about = [item.metric, item.age, f"model {item.model}" if item.model else ""]
    st.text(" · ".join(part for part in about if part))
    if item.hidden:
        st.caption(f"Not shown to you at this stage: {', '.join(item.hidden)}.")
    left, right = st.columns([3, 2], gap="large")
    with left:
        for turn in item.turns:
            st.caption(f"Turn {turn.number} · {turn.speaker}")
            st.text(turn.text)
    with right:
        st.markdown("**What experts said**")
        if item.labels.empty:
            st.write("Nothing to show.")
        else:
            st.html(statements(item.labels, reason="reason given"))
        st.markdown("**What judges said**")
        if item.verdicts.empty:
            st.write("Nothing to show.")
        else:
            st.html(statements(item.verdicts, reason="why"))


def statements(said: pd.DataFrame, *, reason: str) -> str:
    """What each person or judge said, one under the other, so that a long reason can be read.

    >>> print(statements(pd.DataFrame({"rater": ["<a>"], "label": ["fail"], "turns": ["2, 4"], "why": ["No."]}), reason="why"))
    <p style="margin:0">&lt;a&gt; · fail · turns 2, 4</p><p dir="auto" style="white-space:pre-wrap;opacity:.85">No.</p>
    """
    blocks = []
    for row in said.to_dict("records"):
        words = str(row.pop(reason, "") or "")
        known = {str(name): value for name, value in row.items() if not pd.isna(value) and value != ""}
        head = " · ".join(_NAMED.get(name, "{}").format(_plain(value)) for name, value in known.items())
        blocks.append(
            f'<p style="margin:0">{escape(head)}</p>'
            f'<p dir="auto" style="white-space:pre-wrap;opacity:.85">{escape(words)}</p>'
        )
    return "".join(blocks)


def _plain(value: object) -> str:
    """A number as it was given, also where others of its column are missing."""
    return f"{value:g}" if isinstance(value, float) else str(value)

"""One item with everything that was said of it, as far as whoever looks may see it at this stage."""

from dataclasses import dataclass
from typing import Any

import pandas as pd
from sqlalchemy import Engine

from impactbench.domain import AssignmentReason
from impactbench.store.engine import reading
from impactbench.store.tables import Conversation
from reviews.blinding import BlindTurn, blind_turns
from reviews.blindness.leak_scan import hidden_spans, study_models
from reviews.blindness.visibility import Seen, Stage, Viewer, may_see
from reviews.evidence import StudyTables


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemInFull:
    """A conversation under one metric version; what may not be seen is not in it."""

    conversation: str
    metric: str
    model: str | None
    age: str
    turns: tuple[BlindTurn, ...]
    labels: pd.DataFrame
    """One row an assignment: label, reason or rationale, confidence, turns, and rater and panel where they may be seen."""
    verdicts: pd.DataFrame
    """One row a judgment: judge, run, verdict, why."""
    hidden: tuple[Seen, ...]
    """What is there and not shown."""


def item_in_full(
    engine: Engine,
    study: str,
    tables: StudyTables,
    *,
    conversation_id: int,
    metric_version_id: int,
    viewer: Viewer,
    stage: Stage,
) -> ItemInFull:
    """Read one item.

    Args:
        engine: the database.
        study: its slug.
        tables: the study.
        conversation_id, metric_version_id: the item.
        viewer: who looks.
        stage: of the study.
    """
    about = tables.conversations.set_index("conversation_id").loc[conversation_id]
    metric = tables.metrics.set_index("metric_version_id").loc[metric_version_id]
    allowed = {what for what in Seen if may_see(viewer, what, stage)}
    with reading(engine) as session:
        conversation = session.get_one(Conversation, conversation_id)
        spans = (
            []
            if Seen.MODEL_NAME in allowed
            else hidden_spans(session, conversation_id, conversation.turns, study_models(session, study))
        )
        turns = blind_turns(conversation.turns, hidden_spans=spans)
    own = _of_item(tables.assignments, conversation_id, metric_version_id)
    said = _of_item(tables.judgments, conversation_id, metric_version_id)
    wanted = {
        Seen.TRANSCRIPT,
        Seen.OTHER_LABELS,
        Seen.RATIONALES,
        Seen.RATER_NAMES,
        Seen.VERDICT,
        Seen.MODEL_NAME,
    }
    return ItemInFull(
        conversation=str(about["conversation"]),
        metric=str(metric["title"]),
        model=str(about["model"]) if Seen.MODEL_NAME in allowed else None,
        age="" if pd.isna(about["age"]) else str(about["age"]),
        turns=turns if Seen.TRANSCRIPT in allowed else (),
        labels=_labels(own, allowed),
        verdicts=_verdicts(said) if Seen.VERDICT in allowed else _verdicts(said.iloc[:0]),
        hidden=tuple(sorted(wanted - allowed)),
    )


def _of_item(frame: pd.DataFrame, conversation_id: int, metric_version_id: int) -> pd.DataFrame:
    return frame[
        (frame["conversation_id"] == conversation_id) & (frame["metric_version_id"] == metric_version_id)
    ]


def _labels(own: pd.DataFrame, allowed: set[Seen]) -> pd.DataFrame:
    rows: list[dict[str, Any]] = []
    for row in own.to_dict("records") if Seen.OTHER_LABELS in allowed else []:
        names = {"rater": row["rater"], "panel": _word(row["panel"])} if Seen.RATER_NAMES in allowed else {}
        said: dict[str, Any] = {
            "label": _word(row["label"]) or _word(row["status"]).replace("_", " "),
            "why not": _word(row["no_verdict_because"]).replace("_", " "),
        }
        if Seen.RATIONALES in allowed:
            turns = row["turns"] if isinstance(row["turns"], list) else []
            said |= {
                "reason given": _word(row["rationale"]),
                "turns": ", ".join(map(str, turns)),
                "sure (1 to 4)": None if pd.isna(row["confidence"]) else int(row["confidence"]),
            }
        marks = {"part of": _part(row)} if Seen.GOLD_MARKS in allowed else {}
        rows.append(names | said | marks)
    return pd.DataFrame(rows)


def _part(row: dict[Any, Any]) -> str:
    return {
        AssignmentReason.CORE: "random core",
        AssignmentReason.ADAPTIVE: "extra raters",
        AssignmentReason.REPEAT: "hidden repeat",
        AssignmentReason.GOLD: "gold",
    }[AssignmentReason(row["reason"])]


def _verdicts(said: pd.DataFrame) -> pd.DataFrame:
    rows = [
        {
            "judge": row["judge"],
            "run": int(row["repeat"]) + 1,
            "verdict": "unscored" if pd.isna(row["passed"]) else "pass" if row["passed"] else "fail",
            "why": row["unscored_because"].replace("_", " ") or row["justification"],
        }
        for row in said.to_dict("records")
    ]
    return pd.DataFrame(rows, columns=["judge", "run", "verdict", "why"])


def _word(value: Any) -> str:
    return "" if value is None or (not isinstance(value, list) and pd.isna(value)) else str(value)

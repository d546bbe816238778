"""All labels of a study with what they are about, taken out of a database and kept in another one."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, inspect, select, union
from sqlmodel import Session
from sqlmodel import select as select_rows

from impactbench.adapters import ImportRefused
from impactbench.adapters.label_tables import label_cells
from impactbench.adapters.label_verdicts import verdict_cells
from impactbench.adapters.portable_rows import KINDS, PortableStore
from impactbench.domain import content_hash
from impactbench.store import tables as t
from impactbench.store.engine import reading, writing
from impactbench.store.frames import (
    assignment,
    conversation,
    judgment,
    label,
    metric,
    metric_version,
    placement,
    review_set,
    scenario,
)

VERDICTS = ("judge", "judgment")
"""What judges said of the items that were labelled."""

PLANS = "registration"
"""The analysis plans that were registered, as they were fixed."""

SECTIONS = (
    "subarea",
    "benchmark",
    "metric",
    "metric_version",
    "placement",
    "model",
    "scenario",
    "study",
    PLANS,
    "run",
    "conversation",
    "rater",
    "review_set",
    "assignment",
    "response",
    "mask",
    *VERDICTS,
)
"""What labels are about, in an order in which nothing comes before what it belongs to."""

NUMBERED = {"scenario": "scenario", "metric": "metric_version"}
"""What the answer to a question may be about by its number, and the table that the number is of."""

AFTER = "adjudication"
"""What was settled on labels: kept after them, a layer of its own that names the labels that were on the table."""

LEFT_OUT = {
    "rater": (
        "identity",
        "token_hash",
        "token_expires_at",
        "token_used_at",
        "token_reusable",
        "protocol_accepted_at",
        "created_at",
    ),
    "label": ("operation",),
    "adjudication": ("inputs",),
    "judgment": ("raw_reply",),
}
"""What stays in the database: how somebody signs in and when, the name of a click, and a judge's reply as it came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyLabels:
    """Portable rows: `sections` by table, and every revision of every label, oldest first."""

    study: str
    sections: Mapping[str, Sequence[Mapping[str, Any]]]
    history: Sequence[Mapping[str, Any]]
    adjudications: Sequence[Mapping[str, Any]] = ()

    def cells(self) -> list[dict[str, str]]:
        """The newest revision of each label, as the cells of a long table."""
        return label_cells(self.history, self.sections)

    def verdicts(self) -> list[dict[str, str]]:
        """What judges said of the same items, as the cells of a long table."""
        return verdict_cells(self.sections)


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyLabelsKept:
    """What an import read and added, by table."""

    study: str
    read: Mapping[str, int]
    added: Mapping[str, int]

    @property
    def changed(self) -> bool:
        return any(self.added.values())


def read_study_labels(engine: Engine, study: str) -> StudyLabels:
    """The labels of a study in a database.

    Raises:
        ImportRefused: there is no such study, or it has no review set.
    """
    with reading(engine) as session:
        found = session.exec(select_rows(t.Study).where(t.Study.slug == study)).one_or_none()
        if found is None:
            raise ImportRefused(f"there is no study {study!r}; `impactbench import run DIR` makes one")
        store = PortableStore(session)
        of = _rows_of(session, found.id or 0)
        taken = {
            name: [store.portable(name, row, leave_out=LEFT_OUT.get(name, ())) for row in rows]
            for name, rows in of.items()
        }
        for portable in taken["response"]:
            portable["subject"] = _named_subject(store, portable["subject"])
        label_keys = store.keys("label")
        for portable, row in zip(taken[AFTER], of[AFTER], strict=True):
            portable["inputs"] = sorted([*label_keys[ident]] for ident in row.inputs)
    if not taken["review_set"]:
        raise ImportRefused(f"study {study!r} has no review set, so it has no labels")
    history = sorted(taken.pop("label"), key=lambda row: (_in_order(row["assignment"]), row["revision"]))
    return StudyLabels(
        study=study,
        sections={name: sorted(taken[name], key=_in_order) for name in SECTIONS},
        history=history,
        adjudications=sorted(taken[AFTER], key=_in_order),
    )


def keep_study_labels(engine: Engine, labels: StudyLabels, *, where: str = "") -> StudyLabelsKept:
    """Keep labels and what they are about, in one transaction; what is there already stays as it is.

    Args:
        engine: the database.
        labels: what was read elsewhere.
        where: the file to name in a message.

    Raises:
        ImportRefused: the database says something else of the same thing; then nothing is kept.
    """
    with writing(engine) as session:
        store = PortableStore(session)
        for name in SECTIONS:
            rows = labels.sections[name]
            if name in (*VERDICTS, PLANS) and not rows:
                continue
            if name == "response":
                rows = [{**row, "subject": _numbered_subject(store, row["subject"])} for row in rows]
            store.keep(name, rows, where=where)
        store.keep("label", [_with_operation(said) for said in labels.history], where=where)
        numbers = store.ids("label")
        settled = [
            {**row, "inputs": [numbers[tuple(key)] for key in row["inputs"]]} for row in labels.adjudications
        ]
        store.keep(AFTER, settled, where=where)
    return StudyLabelsKept(study=labels.study, read=dict(store.read), added=dict(store.added))


def _named_subject(store: PortableStore, subject: str) -> str | list[Any]:
    """What an answer is about: a scenario or a metric version by its natural key, which here has a number."""
    kind, _, number = subject.partition("/")
    if kind not in NUMBERED or not number.isdecimal():
        return subject
    key = store.keys(NUMBERED[kind]).get(int(number))
    return subject if key is None else [kind, *key]


def _numbered_subject(store: PortableStore, subject: str | Sequence[Any]) -> str:
    """The same, with the number that it has in this database."""
    if isinstance(subject, str):
        return subject
    kind, key = subject[0], tuple(subject[1:])
    number = store.ids(NUMBERED[kind]).get(key) if kind in NUMBERED else None
    if number is None:
        raise ImportRefused(
            f"study.json: an answer is about {'/'.join(map(str, subject))}, which is not there"
        )
    return f"{kind}/{number}"


def _with_operation(said: Mapping[str, Any]) -> dict[str, Any]:
    """A label with the name of the operation that keeps it: the same import twice is the same operation."""
    return {**said, "operation": content_hash({"kept": [*said["assignment"]], "revision": said["revision"]})}


def _in_order(row: Any) -> str:
    return json.dumps(row, sort_keys=True, ensure_ascii=False)


def _rows_of(session: Session, study_id: int) -> dict[str, list[Any]]:
    """The labels of a study and every row that they are about, by table."""

    def all_of(name: str, condition: Any) -> list[Any]:
        return list(session.exec(select_rows(KINDS[name].table).where(condition)))

    sets = select(review_set.id).where(review_set.study_id == study_id)
    mine = assignment.review_set_id.in_(sets)
    conversations = select(assignment.conversation_id).where(mine)
    scenarios = select(conversation.scenario_id).where(conversation.id.in_(conversations))
    versions = union(
        select(assignment.metric_version_id).where(mine),
        select(scenario.metric_version_id).where(scenario.id.in_(scenarios)),
    )
    metrics = select(metric_version.metric_id).where(metric_version.id.in_(versions))
    benchmarks = select(metric.benchmark_id).where(metric.id.in_(metrics))
    columns = {name: inspect(kind.table).columns for name, kind in KINDS.items()}
    people = union(
        select(assignment.rater_id).where(mine),
        select(columns["response"].rater_id).where(columns["response"].review_set_id.in_(sets)),
        select(columns["mask"].decided_by).where(columns["mask"].conversation_id.in_(conversations)),
        select(columns[AFTER].adjudicator_id).where(columns[AFTER].study_id == study_id),
    )
    within = conversation.id.in_(conversations)
    about_mine = (
        select(assignment.id)
        .where(
            mine,
            assignment.conversation_id == judgment.conversation_id,
            assignment.metric_version_id == judgment.metric_version_id,
        )
        .exists()
    )
    judging = columns["judge"].id.in_(select(judgment.judge_id).where(about_mine))
    of_models = union(
        select(conversation.model_id).where(within), select(columns["judge"].model_id).where(judging)
    )
    return {
        "subarea": all_of(
            "subarea",
            columns["subarea"].id.in_(select(placement.subarea_id).where(placement.metric_id.in_(metrics))),
        ),
        "benchmark": all_of("benchmark", columns["benchmark"].id.in_(benchmarks)),
        "metric": all_of("metric", metric.id.in_(metrics)),
        "metric_version": all_of("metric_version", metric_version.metric_id.in_(metrics)),
        "placement": all_of("placement", placement.metric_id.in_(metrics)),
        "model": all_of("model", columns["model"].id.in_(of_models)),
        "scenario": all_of("scenario", scenario.id.in_(scenarios)),
        "study": all_of("study", columns["study"].id == study_id),
        PLANS: all_of(PLANS, columns[PLANS].study_id == study_id),
        "run": all_of("run", columns["run"].id.in_(select(conversation.run_id).where(within))),
        "conversation": all_of("conversation", within),
        "rater": all_of("rater", columns["rater"].id.in_(people)),
        "review_set": all_of("review_set", review_set.study_id == study_id),
        "assignment": all_of("assignment", mine),
        "response": all_of("response", columns["response"].review_set_id.in_(sets)),
        "mask": all_of("mask", columns["mask"].conversation_id.in_(conversations)),
        "judge": all_of("judge", judging),
        "judgment": all_of("judgment", about_mine),
        AFTER: all_of(AFTER, columns[AFTER].study_id == study_id),
        "label": all_of("label", label.assignment_id.in_(select(assignment.id).where(mine))),
    }

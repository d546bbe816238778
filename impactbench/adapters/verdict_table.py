"""Verdicts of a further judge on conversations that a study has: a plain table, one row a verdict.

Columns: `item_id` (the conversation's key) and `present` (true, false, or empty where the judge gave none); besides, as
needed, `run`, `metric_id`, `metric_version`, `repeat_no`, `justification`, `unscored_because`.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, select
from sqlmodel import Session

from impactbench.adapters import ImportRefused
from impactbench.adapters.documents import why_unfit
from impactbench.adapters.label_table import read_cells
from impactbench.adapters.portable_rows import Key, PortableStore
from impactbench.adapters.ratings_table_items import model_row
from impactbench.adapters.spreadsheet_cells import unshielded
from impactbench.domain import content_hash
from impactbench.store import tables as t
from impactbench.store.engine import writing
from impactbench.store.frames import conversation, run, scenario
from impactbench.store.frames import judge as judges
from impactbench.store.frames import model as models
from impactbench.store.frames import study as studies

COLUMNS = (
    "item_id",
    "present",
    "run",
    "metric_id",
    "metric_version",
    "repeat_no",
    "justification",
    "unscored_because",
)
"""What the columns are called; only the first two must be there."""

NO_VERDICT = "the table gives no verdict"
_TRUTH = {"true": True, "false": False, "1": True, "0": False, "present": True, "absent": False, "": None}


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictRow:
    """A verdict as a table gives it; `present` None is unscored, and then there is a reason."""

    row: int
    item: str
    present: bool | None
    run: str = ""
    metric: str = ""
    metric_version: int | None = None
    repeat: int = 0
    justification: str = ""
    unscored_because: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictTable:
    path: Path
    rows: tuple[VerdictRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictsImported:
    study: str
    judge: str
    read: int
    added: int
    counts: Mapping[str, int]
    """present, absent, unscored."""


def read_verdict_table(path: Path) -> VerdictTable:
    """Read a CSV or Parquet file.

    Raises:
        ImportRefused: the first thing found wrong, with its line.
    """
    where, header, records = read_cells(path, COLUMNS[:2])
    if missing := [name for name in COLUMNS[:2] if name not in header]:
        raise ImportRefused(
            f"{path}: there is no column {missing[0]!r}; it has {', '.join(header)} and may have {', '.join(COLUMNS)}"
        )
    rows: dict[tuple[Any, ...], VerdictRow] = {}
    for line, record in records:
        cells = {
            name: unshielded(cell.strip())
            for name, cell in zip(header, record, strict=True)
            if name in COLUMNS
        }
        row = _row(cells, line, f"{path}, {where} {line}")
        key = (row.run, row.item, row.metric, row.metric_version, row.repeat)
        if key in rows:
            raise ImportRefused(
                f"{path}, {where}s {rows[key].row} and {line}: two verdicts on item {row.item!r}; keep one, or number"
                " them in a column 'repeat_no'"
            )
        rows[key] = row
    if not rows:
        raise ImportRefused(f"{path}: there is no verdict in the file, it must hold at least one")
    return VerdictTable(path=path, rows=tuple(rows.values()))


def _row(cells: Mapping[str, str], line: int, where: str) -> VerdictRow:
    if not cells["item_id"]:
        raise ImportRefused(f"{where}: the item_id is empty, every verdict is on a conversation")
    said = cells["present"].casefold()
    if said not in _TRUTH:
        raise ImportRefused(
            f"{where}: present is {cells['present']!r}, it must be true or false, or empty where there is no verdict"
        )
    present, reason = _TRUTH[said], cells.get("unscored_because", "")
    if present is not None and reason:
        raise ImportRefused(
            f"{where}: present is {cells['present']!r} and unscored_because is {reason!r}: one must be empty"
        )
    if unfit := why_unfit(cells.get("justification", "") + reason):
        raise ImportRefused(f"{where}: a text holds {unfit}, which no database can keep: take it out")
    return VerdictRow(
        row=line,
        item=cells["item_id"],
        present=present,
        run=cells.get("run", ""),
        metric=cells.get("metric_id", ""),
        metric_version=_whole(cells, "metric_version", where),
        repeat=_whole(cells, "repeat_no", where) or 0,
        justification=cells.get("justification", ""),
        unscored_because="" if present is not None else reason or NO_VERDICT,
    )


def _whole(cells: Mapping[str, str], name: str, where: str) -> int | None:
    text = cells.get(name, "").removesuffix(".0")
    if text and not text.isdecimal():
        raise ImportRefused(f"{where}: {name} is {cells[name]!r}, it must be a whole number")
    return int(text) if text else None


def import_verdict_table(
    engine: Engine,
    table: VerdictTable,
    *,
    study: str,
    judge: str,
    prompt_hash: str = "",
    family: str = "",
) -> VerdictsImported:
    """Keep the verdicts beside those that are there; the same table again changes nothing.

    Args:
        engine: the database.
        table: what was read.
        study: the study that has the conversations.
        judge: the judge's model.
        prompt_hash: of the prompt that it judged with, where that is known: another prompt is another judge, and the
            prompt of a judge that is there makes the verdicts that judge's.
        family: of the judge's model, where the table of families does not know it.

    Raises:
        ImportRefused: a conversation is not there or not about the metric, or this judge said otherwise before.
    """
    with writing(engine) as session:
        parameters = _parameters(session, judge, prompt_hash)
        how = {
            "prompt_hash": prompt_hash,
            "parameters": parameters,
            "parameters_hash": content_hash(parameters),
        }
        if session.execute(select(studies.id).where(studies.slug == study)).first() is None:
            raise ImportRefused(f"there is no study {study!r}; `impactbench import run DIR` makes one")
        store = PortableStore(session)
        places = _Places(session, store, study)
        placed = [(row, places.find(table.path, row)) for row in table.rows]
        model = model_row(judge) | ({"family": family} if family else {})
        store.keep("model", [model])
        store.keep("judge", [{"model": [judge], **how}])
        rows = [
            {
                "conversation": conversation_key,
                "metric_version": version,
                "judge": [judge, prompt_hash, how["parameters_hash"]],
                "repeat": row.repeat,
                "present": row.present,
                "unscored_because": row.unscored_because,
                "justification": row.justification,
            }
            for row, (conversation_key, version) in placed
        ]
        store.keep("judgment", rows, where=str(table.path))
    words = {True: "present", False: "absent", None: "unscored"}
    return VerdictsImported(
        study=study,
        judge=judge,
        read=len(rows),
        added=store.added["judgment"],
        counts=dict(Counter(words[row.present] for row in table.rows)),
    )


def _parameters(session: Session, model: str, prompt_hash: str) -> dict[str, Any]:
    """Those of the judge with this model and prompt, where there is one and no other."""
    query = (
        select(judges.parameters)
        .join(t.Model, models.id == judges.model_id)
        .where(models.slug == model, judges.prompt_hash == prompt_hash)
    )
    known = session.execute(query).scalars().all() if prompt_hash else []
    return dict(known[0]) if len(known) == 1 else {"from": "verdict table"}


class _Places:
    """The conversations of a study by their keys, and the metric version that each was made for."""

    def __init__(self, session: Session, store: PortableStore, study: str) -> None:
        versions = store.keys("metric_version")
        found = (
            select(run.slug, conversation.key, scenario.metric_version_id)
            .join(t.Run, run.id == conversation.run_id)
            .join(t.Study, studies.id == run.study_id)
            .join(t.Scenario, scenario.id == conversation.scenario_id)
            .where(studies.slug == study)
        )
        self._study = study
        self._versions = set(versions.values())
        self._by_key: dict[str, list[tuple[str, Key]]] = {}
        for run_slug, key, version in session.execute(found):
            self._by_key.setdefault(key, []).append((run_slug, versions[version]))

    def find(self, path: Path, row: VerdictRow) -> tuple[Key, Key]:
        """The keys of a row's conversation and metric version."""
        where = f"{path}, line {row.row}"
        found = [each for each in self._by_key.get(row.item, ()) if row.run in ("", each[0])]
        if not found:
            raise ImportRefused(
                f"{where}: item {row.item!r} is not in study {self._study!r}"
                + (f", run {row.run!r}" if row.run else "")
                + ": import its conversations first"
            )
        if len(found) > 1:
            runs = ", ".join(sorted(each[0] for each in found))
            raise ImportRefused(
                f"{where}: item {row.item!r} is in several runs ({runs}): name one in a column 'run'"
            )
        run_slug, (benchmark, metric, number) = found[0]
        name = row.metric or metric
        version = (benchmark, name.rpartition("/")[2], row.metric_version or number)
        if version not in self._versions:
            raise ImportRefused(
                f"{where}: there is no version {version[2]} of metric {name!r} in benchmark {benchmark!r};"
                f" item {row.item!r} is about {metric!r}, version {number}"
            )
        return (self._study, run_slug, row.item), version

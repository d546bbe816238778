"""Keeps the labels of a table: a review set of their own, in one transaction; a changed label is a new revision."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, func, select
from sqlmodel import Session
from sqlmodel import select as select_rows

from impactbench.adapters import ImportRefused
from impactbench.adapters.ratings_table_items import Item, ItemFinder, finder, keep_placeholders
from impactbench.adapters.ratings_table_reading import RatingRow, RatingsTable
from impactbench.domain import Polarity, content_hash
from impactbench.store import tables as t
from impactbench.store.engine import insert_if_absent, writing
from impactbench.store.frames import assignment, conversation, label, review_set

_AT_ONCE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingsImported:
    """What an import of labels read, added and left as it was."""

    study: str
    review_set: str
    n_read: int
    added: int
    revised: int
    """Labels that were there with other content: the new content is a further revision."""
    already_there: int
    skipped: Mapping[str, int]
    """Rows without a label, by reason."""
    statuses: Mapping[str, int]
    """The labels of the file by status."""
    n_items: int
    raters: Mapping[str, int]
    """How many raters the file has in each panel."""
    placeholders: int
    """Conversations added of which nothing but labels is known."""
    notes: tuple[str, ...]

    @property
    def changed(self) -> bool:
        return bool(self.added or self.revised)


def import_ratings_table(
    engine: Engine,
    table: RatingsTable,
    *,
    study: str,
    run: str = "",
    name: str = "",
    without_transcripts: bool = False,
    polarity: Polarity | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> RatingsImported:
    """Add the labels of a table to a study; labels that are there stay as they are.

    Args:
        engine: the database.
        table: what `read_ratings_table` read.
        study: the slug of the study.
        run: the run that the items belong to, where their names alone do not say it.
        name: what to call the review set; `import-<file>` by default.
        without_transcripts: make a place for items that the study does not have, and the study itself.
        polarity: of the metrics that this makes.
        on_progress: told how many of the labels are kept, and how many there are.

    Raises:
        ImportRefused: an item is not there, or the database says something else of it or of a rater.
    """
    if without_transcripts and polarity is None:
        raise ImportRefused(
            "without transcripts the polarity is not known: say --polarity positive or negative"
        )
    with writing(engine) as session:
        if without_transcripts:
            insert_if_absent(session, t.Study, [{"slug": study, "title": study}])
        found = session.exec(select_rows(t.Study).where(t.Study.slug == study)).one_or_none()
        if found is None:
            raise ImportRefused(
                f"there is no study {study!r}: import its run first (impactbench import run DIR --study {study}),"
                " or pass --without-transcripts"
            )
        items = finder(session, table, study_id=found.id or 0, run_slug=run)
        placed = {row.row: items.find(row) for row in table.rows}
        missing = [row for row in table.rows if placed[row.row] is None]
        placeholders = 0
        if missing and polarity is None:
            raise _not_there(items, missing, study=study)
        if missing and polarity is not None:
            made, placeholders = keep_placeholders(
                session, missing, study=found, polarity=polarity, finder=items
            )
            placed |= made
        settled = [(row, item) for row in table.rows if (item := placed[row.row]) is not None]
        _require_turns(session, settled, items)
        notes: list[str] = []
        rater_ids = _keep_raters(session, table, study_id=found.id or 0, notes=notes)
        set_name = name or "import-" + (re.sub(r"\W+", "-", table.path.stem).strip("-") or "labels")
        set_id = _keep_set(session, table, study_id=found.id or 0, name=set_name)
        keeper = _LabelKeeper(session, table, found.id or 0, set_id, rater_ids)
        assigned = keeper.keep_assignments(settled)
        outcome = keeper.keep_labels(assigned, on_progress=on_progress)
    panels = {row.rater: f"{row.panel}" if row.panel else "no panel" for row in table.rows}
    return RatingsImported(
        study=study,
        review_set=set_name,
        n_read=table.n_read,
        added=outcome["added"],
        revised=outcome["revised"],
        already_there=outcome["already_there"],
        skipped=table.skipped,
        statuses=dict(Counter(row.status.value for row in table.rows)),
        n_items=len({item for _, item in settled}),
        raters=dict(Counter(panels.values())),
        placeholders=placeholders,
        notes=tuple(notes),
    )


def _not_there(items: ItemFinder, missing: Sequence[RatingRow], *, study: str) -> ImportRefused:
    names = {row.item for row in missing}
    more = f" (nor are {len(names) - 1} others)" if len(names) > 1 else ""
    where = f"run {missing[0].run or items.run!r}" if missing[0].run or items.run else "no run"
    return items.refuse(
        missing[0],
        f"item {missing[0].item!r} is {'not in ' + where if where != 'no run' else 'in no run'} of study {study!r}"
        f"{more}: import the run first (impactbench import run DIR --study {study}), or pass --without-transcripts",
    )


def _require_turns(session: Session, settled: Sequence[tuple[RatingRow, Item]], items: ItemFinder) -> None:
    """Refuse a label that points at a turn which its conversation does not have."""
    pointing = [(row, item) for row, item in settled if row.turns]
    ids = sorted({item.conversation_id for _, item in pointing})
    lengths: dict[int, int] = {}
    for first in range(0, len(ids), _AT_ONCE):
        several = ids[first : first + _AT_ONCE]
        found = select(conversation.id, conversation.turns).where(conversation.id.in_(several))
        for key, turns in session.execute(found):
            lengths[key] = sum(turn["role"] == "user" for turn in turns)
    for row, item in pointing:
        last = lengths[item.conversation_id]
        if last and row.turns[-1] > last:
            raise items.refuse(
                row, f"turn {row.turns[-1]} is pointed at, but item {row.item!r} has {last} turns"
            )


def _keep_raters(session: Session, table: RatingsTable, *, study_id: int, notes: list[str]) -> dict[str, int]:
    panels = {row.rater: row.panel for row in table.rows}
    before = {rater.pseudonym: rater for rater in session.exec(select_rows(t.Rater)).all()}
    for name in panels.keys() & before.keys():
        stored, panel = before[name], panels[name]
        if stored.panel is None and panel is not None:
            stored.panel = panel
            notes.append(f"rater {name}, until now in no panel, is {panel}")
        elif panel is not None and stored.panel is not panel:
            raise ImportRefused(
                f"{table.path}: rater {name!r} is {panel} here, but is {stored.panel} in the database:"
                " correct the panel, or give another person another name"
            )
    insert_if_absent(
        session, t.Rater, [{"pseudonym": name, "panel": panel} for name, panel in panels.items()]
    )
    here = set(session.execute(select(assignment.rater_id).where(assignment.study_id == study_id)).scalars())
    if known := sorted(name for name in panels.keys() & before.keys() if before[name].id not in here):
        notes.append(
            f"{len(known)} of the raters are known from elsewhere ({_some(known)}): the same name is the same person"
        )
    return {rater.pseudonym: rater.id or 0 for rater in session.exec(select_rows(t.Rater)).all()}


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")


def _keep_set(session: Session, table: RatingsTable, *, study_id: int, name: str) -> int:
    design = {"file": table.path.name, "sha256": table.file_hash}
    row = {
        "study_id": study_id,
        "slug": name,
        "origin": "import",
        "design": design,
        "design_hash": content_hash(design),
    }
    insert_if_absent(session, t.ReviewSet, [row])
    found = session.exec(
        select_rows(t.ReviewSet).where(t.ReviewSet.study_id == study_id, t.ReviewSet.slug == name)
    ).one()
    if found.origin != "import":
        raise ImportRefused(f"review set {name!r} was opened in the workbench: name another with --set")
    return found.id or 0


@dataclass(frozen=True, slots=True)
class _LabelKeeper:
    """Keeps assignments and labels under an imported review set."""

    session: Session
    table: RatingsTable
    study_id: int
    set_id: int
    rater_ids: Mapping[str, int]

    def keep_assignments(self, settled: Sequence[tuple[RatingRow, Item]]) -> dict[int, RatingRow]:
        """The row of each assignment; new assignments are added, in the order of the file for each rater."""
        rows_by_key: dict[tuple[int, int, int, int], RatingRow] = {}
        for row, item in settled:
            key = (item.conversation_id, item.metric_version_id, self.rater_ids[row.rater], row.repeat)
            if key in rows_by_key:
                raise ImportRefused(
                    f"{self.table.path}: rows {rows_by_key[key].row} and {row.row} are both a label of item"
                    f" {row.item!r} by rater {row.rater!r}: keep one"
                )
            rows_by_key[key] = row
        stored = self._stored()
        last = select(assignment.rater_id, func.max(assignment.position)).group_by(assignment.rater_id)
        known = self.session.execute(last.where(assignment.review_set_id == self.set_id))
        positions = Counter({rater_id: int(position) for rater_id, position in known})
        new = []
        for key, row in rows_by_key.items():
            if key in stored:
                _, origin, name = stored[key]
                if origin != "import":
                    raise ImportRefused(
                        f"{self.table.path}, row {row.row}: rater {row.rater!r} was given item {row.item!r} in review"
                        f" set {name!r}: a label from elsewhere needs a repeat_no of its own"
                    )
                continue
            positions[key[2]] += 1
            new.append(self._row(key, positions[key[2]]))
        insert_if_absent(self.session, t.Assignment, new)
        stored = self._stored()
        return {stored[key][0]: row for key, row in rows_by_key.items()}

    def _row(self, key: tuple[int, int, int, int], position: int) -> dict[str, Any]:
        conversation_id, metric_version_id, rater_id, repeat = key
        return {
            "study_id": self.study_id,
            "review_set_id": self.set_id,
            "conversation_id": conversation_id,
            "metric_version_id": metric_version_id,
            "rater_id": rater_id,
            "repeat": repeat,
            "code": "import-" + content_hash([self.study_id, *key])[:24],
            "position": position,
        }

    def _stored(self) -> dict[tuple[int, int, int, int], tuple[int, str, str]]:
        found = (
            select(
                assignment.conversation_id,
                assignment.metric_version_id,
                assignment.rater_id,
                assignment.repeat,
                assignment.id,
                review_set.origin,
                review_set.slug,
            )
            .join(t.ReviewSet, review_set.id == assignment.review_set_id)
            .where(assignment.study_id == self.study_id)
        )
        return {tuple(row[:4]): tuple(row[4:]) for row in self.session.execute(found)}

    def keep_labels(
        self, assigned: Mapping[int, RatingRow], *, on_progress: Callable[[int, int], None] | None
    ) -> Counter[str]:
        """Add labels and revisions; counts of added, revised, already_there."""
        stored: dict[int, list[t.Label]] = {}
        found = (
            select_rows(t.Label)
            .join(t.Assignment, assignment.id == label.assignment_id)
            .where(assignment.study_id == self.study_id, label.assignment_id.in_(self._of_imports()))
            .order_by(label.assignment_id, label.revision)
        )
        for one in self.session.exec(found):
            stored.setdefault(one.assignment_id, []).append(one)
        outcome: Counter[str] = Counter(added=0, revised=0, already_there=0)
        rows = []
        for assignment_id, row in assigned.items():
            before = stored.get(assignment_id, [])
            if _is_there(row, before):
                outcome["already_there"] += 1
                continue
            outcome["revised" if before else "added"] += 1
            rows.append(self._label(row, assignment_id, base=before[-1].revision if before else 0))
        for first in range(0, len(rows), _AT_ONCE):
            insert_if_absent(self.session, t.Label, rows[first : first + _AT_ONCE])
            if on_progress:
                on_progress(min(first + _AT_ONCE, len(rows)), len(rows))
        return outcome

    def _of_imports(self) -> Any:
        return (
            select(assignment.id)
            .join(t.ReviewSet, review_set.id == assignment.review_set_id)
            .where(assignment.study_id == self.study_id, review_set.origin == "import")
        )

    def _label(self, row: RatingRow, assignment_id: int, *, base: int) -> dict[str, Any]:
        said = {
            "status": row.status,
            "verdict": row.verdict,
            "no_verdict_because": row.reason,
            "confidence": row.confidence,
            "rationale": row.rationale,
            "turns": list(row.turns),
        }
        made = {"created_at": row.created_at} if row.created_at else {}
        return {
            "assignment_id": assignment_id,
            "revision": base + 1,
            "operation": content_hash({"assignment": assignment_id, "base": base, "imported": said}),
            **said,
            "active_seconds": row.active_seconds,
            "revised_because": f"imported again from {self.table.path.name}" if base else "",
            **made,
        }


def _is_there(row: RatingRow, before: Sequence[t.Label]) -> bool:
    """Whether the newest label says the same, or an older one from the same moment does."""
    if not before:
        return False
    if _says(before[-1], row):
        return True
    return row.created_at is not None and any(
        _says(one, row) and one.created_at == row.created_at for one in before
    )


def _says(one: t.Label, row: RatingRow) -> bool:
    stored = (
        one.status,
        one.verdict,
        one.no_verdict_because,
        one.confidence,
        one.rationale,
        tuple(one.turns),
    )
    return stored == (row.status, row.verdict, row.reason, row.confidence, row.rationale, row.turns)

"""Validation tables of Inspect Scout: what a person found true of a transcript, as labels.

Columns: `id`, and either `target` or `label_<name>` for several findings; `predicate` and `split` may stand beside.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from impactbench.adapters import ImportRefused
from impactbench.adapters.documents import file_hash
from impactbench.adapters.label_table import read_cells
from impactbench.adapters.ratings_table_reading import RatingRow, RatingsTable
from impactbench.domain import LabelStatus, LabelVerdict, Polarity, passes

_TRUTH = {"true": True, "false": False}
_LABEL = "label_"


def read_scout_validation(
    path: Path, *, rater: str, polarity: Polarity, leave_out_faulty: bool = False
) -> RatingsTable:
    """Read a table; `true` is present and `false` absent, in any case of letters, and polarity makes of it pass or fail.

    Args:
        path: the table.
        rater: who validated, for the table does not say it.
        polarity: whether what the table finds true is wanted.
        leave_out_faulty: pass over rows that are neither, and count them by what is wrong with each.

    Raises:
        ImportRefused: the columns are others, an id is there twice, or rows are neither true nor false; every such row
            is named.
    """
    where, header, records = read_cells(path, ("id",))
    findings = {
        name: path.stem if name == "target" else name.removeprefix(_LABEL)
        for name in header
        if name == "target" or name.startswith(_LABEL)
    }
    if "id" not in header or not findings:
        raise ImportRefused(
            f"{path}: the table needs the columns 'id' and 'target' (or 'label_...'); it has {', '.join(header)}"
        )
    rows: list[RatingRow] = []
    faults: list[str] = []
    seen: dict[str, int] = {}
    for line, record in records:
        cells = dict(zip(header, (cell.strip() for cell in record), strict=True))
        ident = cells["id"]
        if ident in seen:
            raise ImportRefused(f"{path}, {where}s {seen[ident]} and {line}: the id {ident!r} is there twice")
        seen[ident] = line
        for name, metric in findings.items():
            fault = _fault(cells, name)
            if fault:
                faults.append(f"{where} {line}: {fault}")
                continue
            present = _TRUTH[cells[name].casefold()]
            rows.append(
                RatingRow(
                    row=line,
                    item=ident,
                    rater=rater,
                    status=LabelStatus.SUBMITTED,
                    verdict=LabelVerdict.PASS if passes(present, polarity) else LabelVerdict.FAIL,
                    metric=metric,
                )
            )
    if faults and not leave_out_faulty:
        raise ImportRefused(f"{path}: {_named(faults)}; mend them, or pass --leave-out-faulty")
    if not rows:
        raise ImportRefused(f"{path}: no row says true or false")
    return RatingsTable(path=path, file_hash=file_hash(path), rows=tuple(rows), skipped=dict(Counter(faults)))


def _fault(cells: dict[str, str], name: str) -> str:
    """What is wrong with a row; empty where nothing is."""
    if not cells["id"]:
        return "the id is empty"
    if cells.get("predicate"):
        return f"the predicate {cells['predicate']!r} compares texts ({cells[name]!r}), so it says neither true nor false"
    if not cells[name]:
        return f"{name} is empty, it must be true or false"
    if cells[name].casefold() not in _TRUTH:
        return f"{name} is {cells[name]!r}, it must be true or false"
    return ""


def _named(faults: Sequence[str]) -> str:
    return faults[0] if len(faults) == 1 else f"{len(faults)} cells are faulty ({'; '.join(faults)})"

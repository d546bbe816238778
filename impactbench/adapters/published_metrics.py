"""The published platform's table of metrics: names in a CSV file, and beside it what else is known of them.

metrics-source.csv (benchmark, metric_id, metric_name); metric-criteria.json (definitions), metric-meta.json (why they
matter), taxonomy.json (polarity and place), each keyed `<benchmark>__<metric_id>` and each of use where it is there.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from impactbench.adapters import ImportRefused
from impactbench.adapters.candidates import Adapted, Candidate, slug_of, with_own_slugs
from impactbench.adapters.documents import read_text
from impactbench.adapters.label_table import read_cells
from impactbench.domain import MetricDefinition, Polarity

_COLUMNS = ("benchmark", "metric_id", "metric_name")


def read_published_metrics(path: Path, *, polarity: Polarity | None = None) -> Adapted:
    """Read the table.

    Args:
        path: the CSV file. A column `polarity`, `definition` or `matters` is used where it is there.
        polarity: of metrics that no file gives one for; without it they are left out, and counted.

    Raises:
        ImportRefused: a column is missing, a row is not complete, or no metric has a polarity.
    """
    where, header, records = read_cells(path, _COLUMNS)
    if missing := [name for name in _COLUMNS if name not in header]:
        raise ImportRefused(f"{path}: there is no column {missing[0]!r}; it has {', '.join(header)}")
    known = _Known(path.parent)
    candidates: list[Candidate] = []
    unknown: list[str] = []
    for line, record in records:
        cells = dict(zip(header, (cell.strip() for cell in record), strict=True))
        if empty := [name for name in _COLUMNS if not cells[name]]:
            raise ImportRefused(
                f"{path}, {where} {line}: the column {empty[0]!r} is empty; every metric has one"
            )
        key = known.key(cells["benchmark"], cells["metric_id"])
        said = cells.get("polarity") or known.polarity.get(key, "") or (polarity or "")
        if said and said not in set(Polarity):
            raise ImportRefused(
                f"{path}, {where} {line}: polarity is {said!r}, it must be 'positive' or 'negative'"
            )
        if not said:
            unknown.append(f"{cells['benchmark']} {cells['metric_id']}")
            continue
        candidates.append(_candidate(path, f"{where} {line}", cells, key, Polarity(said), known))
    if not candidates:
        raise ImportRefused(f"{path}: no metric has a polarity: give it for all with --polarity")
    notes = (
        [f"{len(unknown)} metrics have no polarity and were left out, such as {unknown[0]}"]
        if unknown
        else []
    )
    return Adapted(
        format="published-metrics",
        source_file=path.name,
        title="Published metrics",
        candidates=with_own_slugs(candidates),
        notes=tuple(notes),
    )


def _candidate(
    path: Path, place: str, cells: Mapping[str, str], key: str, polarity: Polarity, known: "_Known"
) -> Candidate:
    name = cells["metric_name"]
    definition = cells.get("definition") or known.definitions.get(key, "")
    stated = {
        "name": name,
        "definition": definition,
        "matters": cells.get("matters") or known.matters.get(key, ""),
    }
    notes = [f"it stands in {known.place[key]}"] if key in known.place else []
    if not definition:
        notes.append("the source has no definition of it: its name stands for one until somebody writes it")
    if polarity is Polarity.NEGATIVE and name.casefold().startswith("avoid"):
        notes.append("the name says 'avoid': name the unwanted behaviour itself")
    return Candidate(
        benchmark=slug_of(cells["benchmark"]),
        slug=slug_of(name),
        source_file=path.name,
        source_place=f"{place}, {cells['benchmark']} {cells['metric_id']}",
        passage="\n".join(f"{field}: {text}" for field, text in stated.items() if text),
        definition=MetricDefinition(name=name, polarity=polarity, definition=definition or name),
        matters=stated["matters"],
        notes=tuple(notes),
    )


class _Known:
    """What the files beside the table say of each metric."""

    def __init__(self, folder: Path) -> None:
        self.definitions: Mapping[str, str] = _mapping(folder / "metric-criteria.json")
        meta = _mapping(folder / "metric-meta.json")
        self.matters = {key: str(each.get("mattersBecause") or "") for key, each in meta.items()}
        self.polarity: dict[str, str] = {}
        self.place: dict[str, str] = {}
        for area in _mapping(folder / "taxonomy.json").get("areas", []):
            for subarea in area.get("subareas", []):
                for metric in subarea.get("metrics", []):
                    self.polarity[metric["id"]] = metric["type"]
                    self.place[metric["id"]] = f"{area['name']} / {subarea['name']}"
        known = {key.partition("__")[0] for key in (*self.definitions, *self.polarity)}
        self._names = {_squashed(name): name for name in sorted(known)}

    def key(self, benchmark: str, metric: str) -> str:
        """The key of a metric in the files beside the table, which spell its benchmark otherwise."""
        wanted = _squashed(benchmark)
        names = [name for squashed, name in self._names.items() if squashed == wanted]
        names = names or [name for squashed, name in self._names.items() if squashed.endswith(wanted)]
        return f"{names[0] if names else wanted}__{metric}"


def _squashed(name: str) -> str:
    """A benchmark's name without regard to how it was made a key."""
    return re.sub(r"[^a-z0-9]", "", name.casefold())


def _mapping(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        value = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise ImportRefused(f"{path}, line {error.lineno}: this is not valid JSON ({error.msg})") from error
    if not isinstance(value, dict):
        raise ImportRefused(f"{path}: the file must hold a mapping")
    return value

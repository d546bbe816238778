"""Labels as long tables for other programs: one row a label, one row a revision. Words only, as a CSV holds them."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from impactbench.adapters import ImportRefused
from impactbench.adapters.spreadsheet_cells import read_shielded_csv
from impactbench.domain import content_hash

LABEL_COLUMNS = (
    "item_id",
    "base_scenario_id",
    "variant",
    "metric_id",
    "metric_version",
    "guideline_version",
    "rater_id",
    "rater_group",
    "repeat_no",
    "label",
    "status",
    "rationale",
    "created_utc",
    "updated_utc",
    "active_seconds",
    "blinding_version",
    "reason",
    "confidence",
    "response_set",
    "forced_choice",
    "turns",
    "revision",
    "study",
    "review_set",
    "run",
    "benchmark",
    "polarity",
    "model",
    "assigned_as",
    "inclusion_probability",
    "rater_active",
)
"""The columns of a table of labels, newest revisions. Empty is: there is none."""

_PLACE = ("study", "run", "item_id", "benchmark", "metric_id", "metric_version", "rater_id", "repeat_no")
_SAID = (
    "status",
    "label",
    "reason",
    "response_set",
    "forced_choice",
    "confidence",
    "rationale",
    "turns",
    "active_seconds",
    "revised_because",
    "created_utc",
)
HISTORY_COLUMNS = (*_PLACE, "revision", "old_label", *_SAID)
"""The columns of a table of revisions; `old_label` is what the rater said before."""

_FIELDS = {"label": "verdict", "reason": "no_verdict_because", "created_utc": "created_at"}
"""What a column is called in the database, where it has another name there."""
_LISTS = frozenset({"response_set", "turns"})
_NUMBERS: dict[str, Callable[[str], Any]] = {"confidence": int, "active_seconds": float, "revision": int}
_OPTIONAL = frozenset({"label", "response_set", "forced_choice", "confidence", "active_seconds"})


def label_cells(
    history: Sequence[Mapping[str, Any]], sections: Mapping[str, Sequence[Mapping[str, Any]]]
) -> list[dict[str, str]]:
    """A row for each label, in the order of their first revisions.

    Args:
        history: every revision as a portable row, oldest first.
        sections: what they are about, by table.
    """
    about = _About(sections)
    newest: dict[tuple[Any, ...], Mapping[str, Any]] = {}
    first: dict[tuple[Any, ...], Mapping[str, Any]] = {}
    for said in history:
        key = tuple(said["assignment"])
        first.setdefault(key, said)
        newest[key] = said
    return [about.cells(key, said, since=first[key]["created_at"]) for key, said in newest.items()]


def history_cells(history: Sequence[Mapping[str, Any]]) -> Iterator[list[str]]:
    """A row for each revision, in the order of `HISTORY_COLUMNS`."""
    before: dict[tuple[Any, ...], str] = {}
    for said in history:
        key = tuple(said["assignment"])
        words = _words(said)
        place = _place(key)
        yield [*place.values(), str(said["revision"]), before.get(key, ""), *(words[name] for name in _SAID)]
        before[key] = words["label"] or words["status"]


def read_history_cells(path: Path, *, study: str) -> list[dict[str, Any]]:
    """The revisions of a file as portable rows.

    Raises:
        ImportRefused: a cell is not what its column holds, or a row belongs to another study.
    """
    return [
        _said_in(cells, study=study, where=f"{path}, row {number}")
        for number, cells in read_shielded_csv(path, HISTORY_COLUMNS)
    ]


def _said_in(cells: Mapping[str, str], *, study: str, where: str) -> dict[str, Any]:
    if cells["study"] != study:
        raise ImportRefused(f"{where}: the study is {cells['study']!r}, in study.json it is {study!r}")
    said: dict[str, Any] = {
        "assignment": [
            study,
            study,
            cells["run"],
            cells["item_id"],
            cells["benchmark"],
            cells["metric_id"],
            _parsed("metric_version", cells, where=where),
            cells["rater_id"],
            _parsed("repeat_no", cells, where=where),
        ],
        "revision": _parsed("revision", cells, where=where),
    }
    for name in _SAID:
        said[_FIELDS.get(name, name)] = _parsed(name, cells, where=where)
    return said


def _parsed(name: str, cells: Mapping[str, str], *, where: str) -> Any:
    text = cells[name]
    if not text and name in _OPTIONAL:
        return None
    try:
        if name in _LISTS:
            return json.loads(text)
        if name in ("metric_version", "repeat_no"):
            return int(text)
        return _NUMBERS[name](text) if name in _NUMBERS else text
    except ValueError:
        raise ImportRefused(
            f"{where}: {name} is {text!r}, it must be {'a list' if name in _LISTS else 'a number'}"
        ) from None


def _words(said: Mapping[str, Any]) -> dict[str, str]:
    """What a revision says, by column."""
    words = {}
    for name in _SAID:
        value = said[_FIELDS.get(name, name)]
        if name in _LISTS:
            words[name] = "" if value is None else json.dumps(value, ensure_ascii=False)
        else:
            words[name] = _text(value)
    return words


def _text(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case float():
            return repr(value)
        case _:
            return str(value)


def _place(key: Sequence[Any]) -> dict[str, str]:
    """Which label it is: an assignment's key names its study twice, for the conversation has one too."""
    return dict(zip(_PLACE, map(str, key[1:]), strict=True))


class _About:
    """Looks up what a label is about."""

    def __init__(self, sections: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
        self._raters = {row["pseudonym"]: row for row in sections["rater"]}
        self._sets = {(*row["study"], row["slug"]): row for row in sections["review_set"]}
        self._versions = {(*row["metric"], row["version"]): row for row in sections["metric_version"]}
        self._scenarios = {(*row["metric_version"], row["slug"]): row for row in sections["scenario"]}
        self._conversations = {(*row["run"], row["key"]): row for row in sections["conversation"]}
        self._assignments = {
            (
                *row["study"],
                *row["conversation"],
                *row["metric_version"],
                *row["rater"],
                row["repeat"],
            ): row
            for row in sections["assignment"]
        }
        self._blinding = _blinding_versions(sections["mask"])

    def cells(self, key: tuple[Any, ...], said: Mapping[str, Any], *, since: str) -> dict[str, str]:
        assigned = self._assignments.get(key)
        if assigned is None:
            raise ImportRefused(
                f"label-history.csv: the label of {'/'.join(map(str, key[1:]))} belongs to no assignment of study.json"
            )
        held = self._conversations[tuple(assigned["conversation"])]
        scenario = self._scenarios[tuple(held["scenario"])]
        person = self._raters[key[-2]]
        asked = self._sets[tuple(assigned["review_set"])]
        words = _words(said)
        found = {
            **_place(key),
            **{name: words[name] for name in LABEL_COLUMNS if name in words},
            "base_scenario_id": scenario["base_scenario"],
            "variant": _text(scenario["age"]),
            "guideline_version": asked["rubric_hash"],
            "rater_group": _text(person["panel"]),
            "created_utc": since,
            "updated_utc": words["created_utc"],
            "blinding_version": self._blinding.get(tuple(assigned["conversation"]), "none hidden"),
            "revision": str(said["revision"]),
            "review_set": asked["slug"],
            "polarity": self._versions[tuple(assigned["metric_version"])]["polarity"],
            "model": held["model"][0],
            "assigned_as": assigned["reason"],
            "inclusion_probability": _text(assigned["inclusion_probability"]),
            "rater_active": _text(person["active"]),
        }
        return {name: found[name] for name in LABEL_COLUMNS}


def _blinding_versions(masks: Sequence[Mapping[str, Any]]) -> dict[tuple[Any, ...], str]:
    """What is hidden in each conversation, as a word that changes whenever that does."""
    newest: dict[tuple[Any, ...], dict[tuple[int, int, int], Mapping[str, Any]]] = {}
    for row in sorted(masks, key=lambda row: row["revision"]):
        places = newest.setdefault(tuple(row["conversation"]), {})
        places[row["message"], row["start"], row["end"]] = row
    return {
        key: "hidden-" + content_hash(hidden)[:12]
        for key, places in newest.items()
        if (hidden := sorted(list(place) for place, row in places.items() if row["decision"] == "hide"))
    }

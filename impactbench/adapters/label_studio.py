"""Label Studio's JSON, out and in: a task an item, an annotation a rater, a skip as `was_cancelled`."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from impactbench.adapters import ImportRefused
from impactbench.adapters.documents import Entry, file_hash, read_json_entries, shown, why_unfit
from impactbench.adapters.label_items import LabelledItem, labelled_items
from impactbench.adapters.ratings_table_reading import DRAFT, REASON_NOT_STATED, RatingRow, RatingsTable
from impactbench.adapters.study_labels import StudyLabels
from impactbench.domain import LabelStatus, LabelVerdict, Panel

DOMAIN = "@raters.invalid"
"""Label Studio knows people by their addresses: a pseudonym gets one that can never exist."""

CANNOT_JUDGE = "cannot_judge"
_VERDICTS = {verdict.value: verdict for verdict in LabelVerdict}


def label_studio_tasks(labels: StudyLabels) -> list[dict[str, Any]]:
    """The labels of a study as tasks, several annotations of a task apart from each other.

    Labels that carry neither a verdict nor a reason (only answers to other questions) have no place in it.
    """
    return [_task(number, item) for number, item in enumerate(labelled_items(labels), start=1)]


def write_label_studio(labels: StudyLabels, path: Path) -> None:
    """Write the tasks to a file; the same labels give the same bytes."""
    text = json.dumps(label_studio_tasks(labels), ensure_ascii=False, indent=1) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _task(number: int, item: LabelledItem) -> dict[str, Any]:
    return {
        "id": number,
        "data": item.data,
        "annotations": [
            _annotation(number, place, cells)
            for place, cells in enumerate(item.labels, start=1)
            if cells["status"] != LabelStatus.ANSWERED
        ],
    }


def _annotation(task: int, place: int, cells: Mapping[str, str]) -> dict[str, Any]:
    skipped = cells["status"] == LabelStatus.SKIPPED
    results = []
    if not skipped:
        results.append(_choice("verdict", [cells["label"] or CANNOT_JUDGE]))
    if cells["confidence"]:
        results.append(_result("confidence", "rating", {"rating": int(cells["confidence"])}))
    texts = [name for name in ("rationale", "reason") if cells[name]]
    results += [_result(name, "textarea", {"text": [cells[name]]}) for name in texts]
    if cells["turns"] not in ("", "[]"):
        results.append(_choice("turns", [str(turn) for turn in json.loads(cells["turns"])]))
    return {
        "id": task * 1000 + place,
        "completed_by": {"email": cells["rater_id"] + DOMAIN, "first_name": cells["rater_id"]},
        "was_cancelled": skipped,
        "ground_truth": False,
        "created_at": _zulu(cells["created_utc"]),
        "updated_at": _zulu(cells["updated_utc"]),
        "lead_time": float(cells["active_seconds"]) if cells["active_seconds"] else None,
        "result": results,
        "meta": {"rater_group": cells["rater_group"], "repeat_no": int(cells["repeat_no"])},
    }


def _zulu(time: str) -> str:
    return datetime.fromisoformat(time).astimezone(UTC).isoformat().replace("+00:00", "Z")


def _choice(name: str, chosen: Sequence[str]) -> dict[str, Any]:
    return _result(name, "choices", {"choices": list(chosen)})


def _result(name: str, kind: str, value: Mapping[str, Any]) -> dict[str, Any]:
    return {"from_name": name, "to_name": "conversation", "type": kind, "value": dict(value)}


def read_label_studio(path: Path, *, words: Mapping[str, str] | None = None) -> RatingsTable:
    """Read an export as labels; each annotation is one, whoever else has annotated the task.

    An annotation that was cancelled is a skip. Predictions and drafts of Label Studio are no labels.

    Args:
        path: the JSON file.
        words: what other choices mean, as fail, borderline, pass or cannot_judge.

    Raises:
        ImportRefused: the file is no export, or an annotation has no choice that says fail, borderline or pass.
    """
    words = {word.casefold(): meaning for word, meaning in (words or {}).items()}
    rows: list[RatingRow] = []
    skipped: Counter[str] = Counter()
    seen: dict[tuple[str, str, str, str, int], str] = {}
    for task in read_json_entries(path, noun="task", key="id"):
        where = Entry(f"{path}: task {task.fields.get('id', '?')}", task.fields)
        data = where.mapping("data")
        skipped[DRAFT] += len(task.fields.get("drafts") or [])
        for annotation in where.entries("annotations"):
            row = _row(data, annotation, number=len(rows) + 1, words=words)
            key = (row.run, row.item, row.metric, row.rater, row.repeat)
            if key in seen:
                raise annotation.refuse(
                    f"rater {row.rater!r} has a label of item {row.item!r} in {seen[key]} already: keep one"
                )
            seen[key] = f"task {task.fields.get('id', '?')}"
            rows.append(row)
    if not rows:
        raise ImportRefused(f"{path}: there is no annotation in the file, it must hold at least one")
    return RatingsTable(path=path, file_hash=file_hash(path), rows=tuple(rows), skipped=dict(+skipped))


def _row(data: Entry, annotation: Entry, *, number: int, words: Mapping[str, str]) -> RatingRow:
    results = {each.text("from_name"): each for each in annotation.entries("result")}
    cancelled = annotation.truth("was_cancelled") is True
    verdict, status = _verdict(annotation, results, words) if not cancelled else (None, LabelStatus.SKIPPED)
    meta = annotation.mapping("meta")
    lead = annotation.fields.get("lead_time")
    confidence = (
        results["confidence"].mapping("value").number("rating", least=1) if "confidence" in results else None
    )
    if confidence is not None and confidence > 4:
        raise annotation.refuse(f"confidence is {confidence}, it must be a whole number from 1 to 4")
    turns = _choices(results["turns"]) if "turns" in results else ()
    if not all(turn.isdecimal() for turn in turns):
        raise annotation.refuse(f"turns are {', '.join(turns)}, they must be numbers")
    version = data.number("metric_version", default=0)
    return RatingRow(
        row=number,
        item=_named(data),
        rater=_rater(annotation),
        status=status,
        verdict=verdict,
        metric=data.text("metric_id", default=""),
        run=data.text("run", default=""),
        metric_version=version or None,
        panel=_panel(meta),
        reason="" if verdict else _words(annotation, results, "reason") or REASON_NOT_STATED,
        rationale=_words(annotation, results, "rationale"),
        confidence=confidence,
        turns=tuple(sorted({int(turn) for turn in turns})),
        created_at=_time(annotation),
        active_seconds=float(lead) if isinstance(lead, int | float) and not isinstance(lead, bool) else None,
        repeat=meta.number("repeat_no", default=0),
    )


def _panel(meta: Entry) -> Panel | None:
    said = meta.text("rater_group", default="")
    if said and said not in set(Panel):
        raise meta.refuse(f"rater_group is {said!r}, it must be 'internal' or 'external'")
    return Panel(said) if said else None


def _named(data: Entry) -> str:
    for name in ("item_id", "conv_id", "id"):
        if data.has(name):
            value = data.fields[name]
            return str(value) if isinstance(value, int) else data.text(name)
    raise data.refuse("there is no 'item_id', which must name the conversation")


def _verdict(
    annotation: Entry, results: Mapping[str, Entry], words: Mapping[str, str]
) -> tuple[LabelVerdict | None, LabelStatus]:
    of_choices = [each for each in results.values() if each.fields.get("type") == "choices"]
    named = [results["verdict"]] if "verdict" in results else of_choices
    if len(named) != 1:
        raise annotation.refuse(
            f"there are {len(named)} questions with choices, there must be one, or one that is called 'verdict'"
        )
    chosen = _choices(named[0])
    if len(chosen) != 1:
        raise annotation.refuse(f"{len(chosen)} choices are made, there must be one")
    word = words.get(chosen[0].casefold(), chosen[0].casefold())
    if word == CANNOT_JUDGE:
        return None, LabelStatus.CANNOT_JUDGE
    if word not in _VERDICTS:
        raise annotation.refuse(
            f"the choice is {shown(chosen[0])}, it must be {', '.join(_VERDICTS)} or {CANNOT_JUDGE};"
            f' say what it means with --map "{chosen[0]}=pass"'
        )
    return _VERDICTS[word], LabelStatus.SUBMITTED


def _choices(result: Entry) -> tuple[str, ...]:
    return result.mapping("value").texts("choices")


def _words(annotation: Entry, results: Mapping[str, Entry], name: str) -> str:
    if name not in results:
        return ""
    value = results[name].mapping("value").fields.get("text", "")
    text = "\n".join(value) if isinstance(value, list) else str(value)
    if unfit := why_unfit(text):
        raise annotation.refuse(f"{name} holds {unfit}, which no database can keep: take it out")
    return text


def _rater(annotation: Entry) -> str:
    said = annotation.fields.get("completed_by")
    if isinstance(said, dict):
        said = said.get("email") or said.get("username") or said.get("id")
    if isinstance(said, bool) or not isinstance(said, str | int) or said == "":
        raise annotation.refuse(f"completed_by is {shown(said)}, it must say who annotated")
    return str(said).removesuffix(DOMAIN)


def _time(annotation: Entry) -> datetime | None:
    text = annotation.text("updated_at", default="") or annotation.text("created_at", default="")
    if not text:
        return None
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except ValueError:
        raise annotation.refuse(
            f"the time is {text!r}, it must be written like '2026-03-01T09:30:00Z'"
        ) from None

"""The review file of candidates: YAML in which a person marks each one, and what becomes of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import yaml

from impactbench.adapters import ImportRefused
from impactbench.adapters.candidates import Adapted, Candidate
from impactbench.adapters.documents import Entry, read_yaml, shown
from impactbench.domain import content_hash
from impactbench.metrics import load_benchmark

HEAD = """\
# Candidate metrics, to be reviewed by a person. Nothing of this is in the suite yet.
#
# Read the passage of each candidate, compare what is proposed, and write into `decision`
#   accept   it is faithful to the passage, one behaviour, and can be seen in a conversation
#   edit     the same, after you have changed the text under `proposed`
#   reject   with the reason in `because`
# Then: impactbench adapt accept THIS_FILE --by YOUR_NAME --out FOLDER
"""


class CandidateDecision(StrEnum):
    """What a person makes of a candidate."""

    ACCEPT = "accept"
    EDIT = "edit"
    REJECT = "reject"


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """What a review left: the files of the suite that were written, and how many candidates met which end."""

    files: tuple[Path, ...]
    accepted: int
    edited: int
    rejected: int
    undecided: int


class _Text(str):
    """A text of several lines, written as a block."""


yaml.SafeDumper.add_representer(
    _Text, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|")
)


def write_review(adapted: Adapted, path: Path) -> None:
    """Write the review file.

    Raises:
        ImportRefused: there is such a file already, which may hold decisions.
    """
    if path.exists():
        raise ImportRefused(f"{path} is there already and may hold decisions; name another with --out")
    document = {
        "source": {"format": adapted.format, "file": adapted.source_file, "title": adapted.title},
        "construct": _block(adapted.construct),
        "notes": list(adapted.notes),
        "candidates": [_entry(candidate) for candidate in adapted.candidates],
    }
    text = yaml.safe_dump(document, allow_unicode=True, sort_keys=False, width=110)
    path.write_text(HEAD + text, encoding="utf-8")


def _entry(candidate: Candidate) -> dict[str, Any]:
    proposed = _proposed(candidate)
    return {
        "slug": candidate.slug,
        "decision": "",
        "because": "",
        "benchmark": candidate.benchmark,
        "from": f"{candidate.source_file}, {candidate.source_place}",
        "drafted_by": candidate.drafted_by or "the source's own words",
        "passage": _block(candidate.passage),
        "notes": list(candidate.notes),
        "proposed": proposed,
        "proposed_hash": _hash(proposed),
    }


def _proposed(candidate: Candidate) -> dict[str, Any]:
    definition = candidate.definition
    return {
        "name": definition.name,
        "polarity": definition.polarity.value,
        "definition": definition.definition,
        "question": definition.question,
        "interpretive_clause": definition.interpretive_clause,
        "examples_present": list(definition.examples_present),
        "examples_absent": list(definition.examples_absent),
        "matters": candidate.matters,
        "sources": list(candidate.sources),
        "difficulty": "moderate",
        "subareas": list(candidate.subareas),
    }


def _hash(proposed: Mapping[str, Any]) -> str:
    return content_hash(dict(proposed))[:16]


def _block(text: str) -> str:
    return _Text(text) if "\n" in text else text


def accept_reviewed(path: Path, folder: Path, *, by: str, leave_undecided: bool = False) -> Accepted:
    """Turn the accepted candidates of a review file into files of the suite, one a benchmark.

    Args:
        path: the review file.
        folder: where the files go; none of them may be there already.
        by: who decided; it is written down with each metric.
        leave_undecided: pass over candidates without a decision.

    Raises:
        ImportRefused: a decision is missing or does not fit, nothing is accepted, or a file is there already. Nothing
            is written then.
    """
    if not by.strip():
        raise ImportRefused("nobody is named: --by says who decided")
    document = read_yaml(path)
    decided: list[tuple[Entry, CandidateDecision | None]] = []
    for found in document.entries("candidates"):
        entry = Entry(f"{path}: candidate {found.text('slug')!r}", found.fields)
        decided.append((entry, _decision(entry)))
    undecided = [entry for entry, decision in decided if decision is None]
    if undecided and not leave_undecided:
        raise undecided[0].refuse(
            f"it has no decision ({len(undecided)} of {len(decided)} have none): write accept, edit or reject, or pass"
            " --leave-undecided"
        )
    taken = [
        entry for entry, decision in decided if decision in (CandidateDecision.ACCEPT, CandidateDecision.EDIT)
    ]
    if not taken:
        raise ImportRefused(f"{path}: no candidate is accepted, so there is nothing to write")
    files = _write(document, taken, folder, by=by)
    counts = [decision for _, decision in decided]
    return Accepted(
        files=files,
        accepted=counts.count(CandidateDecision.ACCEPT),
        edited=counts.count(CandidateDecision.EDIT),
        rejected=counts.count(CandidateDecision.REJECT),
        undecided=len(undecided),
    )


def _decision(entry: Entry) -> CandidateDecision | None:
    said = entry.text("decision", default="").strip().casefold()
    if not said:
        return None
    if said not in set(CandidateDecision):
        raise entry.refuse(f"decision is {shown(said)}, it must be accept, edit or reject")
    decision = CandidateDecision(said)
    changed = _hash(entry.mapping("proposed").fields) != entry.text("proposed_hash")
    if decision is CandidateDecision.ACCEPT and changed:
        raise entry.refuse("it is accepted as proposed, but the proposal was changed: write edit")
    if decision is CandidateDecision.EDIT and not changed:
        raise entry.refuse("it is to be edited, but the proposal is as it was: change it, or write accept")
    if decision is CandidateDecision.REJECT and not entry.text("because", default="").strip():
        raise entry.refuse("it is rejected without a reason: write one into 'because'")
    return decision


def _write(document: Entry, taken: Sequence[Entry], folder: Path, *, by: str) -> tuple[Path, ...]:
    source = document.mapping("source")
    grouped: dict[str, list[dict[str, Any]]] = {}
    for entry in taken:
        grouped.setdefault(entry.text("benchmark"), []).append(_metric(entry, by=by))
    paths = {slug: folder / f"{slug}.yaml" for slug in grouped}
    if there := next((path for path in paths.values() if path.exists()), None):
        raise ImportRefused(f"{there} is there already; name another folder with --out, or take it away")
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    try:
        for slug, metrics in grouped.items():
            name = source.text("title") if len(grouped) == 1 else slug.replace("-", " ").capitalize()
            content = {
                "name": name,
                "construct": document.text("construct", default="") or f"Adapted from {source.text('file')}.",
                "subareas": [],
                "metrics": metrics,
            }
            text = yaml.safe_dump(content, allow_unicode=True, sort_keys=False, width=110)
            written.append(paths[slug])
            paths[slug].write_text(text, encoding="utf-8")
            load_benchmark(paths[slug])
    except ImportRefused:
        for path in written:
            path.unlink(missing_ok=True)
        raise
    return tuple(written)


def _metric(entry: Entry, *, by: str) -> dict[str, Any]:
    """A metric of the suite: what was proposed without what is empty, and where it comes from."""
    proposed = entry.mapping("proposed")
    origin = f"Adapted from {entry.text('from')}; reviewed by {by.strip()}"
    drafted = entry.text("drafted_by", default="")
    origin += f"; drafted by {drafted}." if drafted != "the source's own words" else "."
    kept = {name: value for name, value in proposed.fields.items() if value not in ("", [], None)}
    return {"slug": entry.text("slug"), **kept, "sources": [*proposed.texts("sources"), origin]}

"""What a report says of decisions about metrics that were made known, with a revision's figures before and after."""

from collections.abc import Mapping
from typing import Any

from reviews.contested.before_after import BeforeAfter, Change, before_and_after
from reviews.contested.change_log import Entry
from reviews.evidence import StudyTables
from reviews.report.card_numbers import Card, number
from reviews.report.document import Section, Table
from reviews.report.spelling import counted, spelled

ADOPTED = "adopt"


def stated(entry: Entry) -> dict[str, Any]:
    """A decision as the report's data keep it."""
    return {
        "metric": entry.metric,
        "name": entry.name,
        "version": entry.version,
        "decision": entry.decision,
        "because": entry.because,
        "dissent": list(entry.dissent),
        "stood_at": entry.status,
        "becomes": [{"name": one.name, "version": one.version} for one in entry.followers],
        "note": entry.note,
        "made_known": entry.published_at.date().isoformat(),
    }


def revisions_in(tables: StudyTables, about: Mapping[str, Any]) -> dict[int, BeforeAfter]:
    """Place of a decision in the change log -> what the revision that it adopted did, from the labels of both reviews."""
    versions = {
        (f"{row['benchmark']}/{row['metric']}", int(row["version"])): int(row["metric_version_id"])
        for row in tables.metrics.to_dict("records")
    }
    found = {}
    for place, entry in enumerate(about["changes"]):
        old = versions.get((entry["metric"], entry["version"]))
        new = [versions.get((entry["metric"], one["version"])) for one in entry["becomes"]]
        if entry["decision"] == ADOPTED and old and len(new) == 1 and new[0]:
            found[place] = before_and_after(tables, old=old, new=new[0])
    return found


def card_of_changes(about: Mapping[str, Any], revisions: Mapping[int, BeforeAfter]) -> list[Card]:
    """The decisions as a judge card has them."""
    kept = ("metric", "version", "decision", "stood_at", "becomes", "made_known")
    return [
        {name: entry[name] for name in kept}
        | {"before_and_after": _numbers(revisions[place]) if place in revisions else None}
        for place, entry in enumerate(about["changes"])
    ]


def changes_section(about: Mapping[str, Any], revisions: Mapping[int, BeforeAfter]) -> list[Section]:
    """What was decided, why, and what a revision did; no section where nothing was made known."""
    entries = about["changes"]
    if not entries:
        return []
    rows = tuple(
        (
            f"{entry['name']} (version {entry['version']})",
            entry["decision"],
            entry["because"],
            " / ".join(entry["dissent"]) or "none on record",
            ", ".join(f"{one['name']} (version {one['version']})" for one in entry["becomes"]),
        )
        for entry in entries
    )
    notes = dict.fromkeys(entry["note"] for entry in entries if entry["note"])
    return [
        Section(
            "changes",
            "What was decided about metrics",
            f"{counted(len(entries), 'decision')} made known, the newest first."
            + "".join(
                f" {entries[place]['name']}: {found.sentence[0].lower()}{found.sentence[1:]}"
                for place, found in revisions.items()
            ),
            tuple(notes),
            tables=(
                Table("Decisions", ("Metric", "Decision", "Because", "Dissent", "It becomes"), rows),
                *(_before_and_after(entries[place], found) for place, found in revisions.items()),
            ),
        )
    ]


def _named(found: BeforeAfter) -> dict[str, Change]:
    return {
        "Ordinal α among experts": found.alpha,
        "Percent agreement among experts": found.agreement,
        "Share of borderline labels": found.borderline,
        **{f"{judge} agrees with the experts": change for judge, change in found.judges.items()},
    }


def _before_and_after(entry: Mapping[str, Any], found: BeforeAfter) -> Table:
    return Table(
        f"{entry['name']}: before and after, on {counted(found.items, 'conversation')} rated under both versions",
        ("", "Before", "After", "Change, on the same conversations"),
        tuple(
            (name, spelled(one.before), spelled(one.after), spelled(one.change))
            for name, one in _named(found).items()
        ),
    )


def _numbers(found: BeforeAfter) -> Card:
    def of(change: Change) -> Card:
        return {name: number(getattr(change, name)) for name in ("before", "after", "change")}

    return {
        "items": found.items,
        **{name: of(getattr(found, name)) for name in ("alpha", "agreement", "borderline")},
        "judges": {judge: of(change) for judge, change in found.judges.items()},
    }

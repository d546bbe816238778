"""A folder to publish: the report, the data, the licence, and a description that machines can read."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reviews.report.croissant import croissant
from reviews.report.gathering import ReportRefused
from reviews.report.package import Package
from reviews.report.writing import Rendered, write_report

DESCRIPTION = "croissant.json"


def write_release(package: Package, folder: Path, *, licence: str, creator: str) -> None:
    """Write a release.

    Args:
        package: the data, cut down to what is public.
        folder: must not exist yet, or be empty.
        licence: of the data, as an SPDX identifier or an address.
        creator: who publishes them.

    Raises:
        ReportRefused: the licence or the creator is empty, or the folder cannot be written.
    """
    for name, text in (("licence", licence), ("creator", creator)):
        if not text.strip():
            raise ReportRefused(f"the {name} of a release is empty; say with --{name} what it is")

    def besides(rendered: Rendered, files: Mapping[str, bytes]) -> dict[str, bytes]:
        card, about = rendered.document.card, package.about
        described = croissant(card, about, files, licence=licence, creator=creator)
        return {
            DESCRIPTION: (json.dumps(described, indent=1, ensure_ascii=False) + "\n").encode(),
            "LICENCE.md": _licence_notes(about, licence, creator).encode(),
            "README.md": _readme(about, card).encode(),
        }

    write_report(package, folder, besides=besides)


def _licence_notes(about: Mapping[str, Any], licence: str, creator: str) -> str:
    stated = about["purpose"]["licence"]
    models = sorted({one["model"] for one in about["judges"].values()})
    lines = [
        "# Licence",
        "",
        f"Labels, verdicts and the report: {licence}, published by {creator}.",
        *(["", stated] if stated else []),
        "",
        "Texts that models wrote may be under the terms of their makers as well"
        + (f"; the judges here are {', '.join(models)}." if models else "."),
        "Whoever uses the labels names the study and this licence.",
    ]
    return "\n".join(lines) + "\n"


def _readme(about: Mapping[str, Any], card: Mapping[str, Any]) -> str:
    shared = about["shared"]
    lines = [
        f"# {about['study']['title']}",
        "",
        *([f"{about['study']['notice']}", ""] if about["study"]["notice"] else []),
        "| file | what it is |",
        "|---|---|",
        "| report.html, report.md | the report; figures/ holds its pictures |",
        "| judge-card.json | every figure for machines |",
        "| data/ | what all of it was computed from |",
        f"| {DESCRIPTION} | the data described in Croissant |",
        "| LICENCE.md | what may be done with it |",
        "",
        f"Conversations: {'included' if shared['transcripts'] else 'not included'}. Reasons:"
        f" {'included' if shared['rationales'] else 'not included'}. Raters stand {shared['raters']}.",
        "",
        f"`impactbench verify` on this folder recomputes every number (program version {card['provenance']['code_version']}).",
        "",
        "Cells of the tables that begin like a formula carry an apostrophe in front, which is not part of the text.",
    ]
    return "\n".join(lines) + "\n"

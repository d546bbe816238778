"""`impactbench report`, `verify`, `release`: a study as a report that a stranger can recompute."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.progress import busy
from app.cli.terminal import complain, err, open_database, out

if TYPE_CHECKING:  # the statistics load when a report is made, not when another command is typed
    from reviews.report.gathering import Sharing
    from reviews.report.package import Package

_StatementOption = Annotated[
    Path | None,
    typer.Option(
        "--statement",
        help="YAML with what no table holds: parts experts, process, purpose, judge (see docs/reports.md).",
    ),
]
_Transcripts = Annotated[bool, typer.Option(help="Quote conversations, and add all of them to the data.")]
_Rationales = Annotated[bool, typer.Option(help="Add the reasons that raters and judges gave.")]
_Pseudonyms = Annotated[
    bool,
    typer.Option(
        "--pseudonyms/--recode", help="Raters under their pseudonyms, or under new names R01, R02, ..."
    ),
]


def report(
    study: Annotated[str, typer.Argument(help="The slug of the study.")],
    folder: Annotated[
        Path | None, typer.Option("--out", help="The folder to write; STUDY-report by default.")
    ] = None,
    statement: _StatementOption = None,
    transcripts: _Transcripts = True,
    rationales: _Rationales = True,
    pseudonyms: _Pseudonyms = False,
) -> None:
    """Write the report of a study: one HTML file that opens offline, Markdown, the judge card, and the data behind it."""
    from reviews.report.gathering import Sharing
    from reviews.report.writing import CARD, PAGE, write_report

    sharing = Sharing(transcripts=transcripts, rationales=rationales, pseudonyms=pseudonyms)
    package = _gathered(study, sharing, statement)
    into = folder or Path(f"{study}-report")
    with busy("Computing every figure from the exported data; a large study takes a minute or two"):
        document = write_report(package, into)
    short = document.sections[0]
    out.print(f"{into / PAGE}", markup=False)
    out.print(f"{into / CARD}", markup=False)
    for sentence in (short.answer, *short.paragraphs):
        err.print(sentence, markup=False)
    err.print(f"Check it any time with: impactbench verify {into}", markup=False)


def verify(
    folder: Annotated[Path, typer.Argument(help="The folder of a report or of a release.")],
) -> None:
    """Recompute every number of a report from its data; fail on any difference, naming the number."""
    from reviews.report.verifying import verify as recompute

    with busy("Recomputing every figure from the data of the folder"):
        found = recompute(folder)
    if found.differences:
        for sentence in found.differences:
            complain(sentence)
        raise typer.Exit(1)
    out.print(
        f"{found.numbers:,} numbers of {folder} recomputed from its data; all of them agree.", markup=False
    )


def release(
    study: Annotated[str, typer.Argument(help="The slug of the study.")],
    folder: Annotated[Path, typer.Argument(help="The folder to write.")],
    licence: Annotated[
        str,
        typer.Option(help="The licence of the data, as an SPDX identifier or an address, such as CC-BY-4.0."),
    ],
    creator: Annotated[str, typer.Option(help="Who publishes the data.")],
    statement: _StatementOption = None,
    transcripts: _Transcripts = False,
    rationales: _Rationales = False,
    pseudonyms: _Pseudonyms = False,
) -> None:
    """Write a folder to publish: report, judge card, data, licence notes, and a Croissant description.

    By default neither conversations nor reasons leave the house, and raters get new names.
    """
    from reviews.report.gathering import Sharing
    from reviews.report.releasing import write_release

    sharing = Sharing(transcripts=transcripts, rationales=rationales, pseudonyms=pseudonyms)
    package = _gathered(study, sharing, statement)
    with busy("Computing every figure from the data to be released"):
        write_release(package, folder, licence=licence, creator=creator)
    out.print(f"{folder}", markup=False)
    for kept, what in (
        (transcripts, "conversations"),
        (rationales, "reasons"),
        (pseudonyms, "pseudonyms of raters"),
    ):
        err.print(f"{'Published' if kept else 'Not published'}: {what}.", markup=False)


def _gathered(study: str, sharing: "Sharing", statement: Path | None) -> "Package":
    from reviews.report.gathering import gather
    from reviews.report.statement import read_statement

    said = read_statement(statement) if statement else None
    return gather(open_database(), study, sharing=sharing, statement=said)

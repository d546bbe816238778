"""`impactbench export`: a study's runs and labels as files that other programs read."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from app.cli.terminal import open_database, out
from impactbench.adapters import ImportRefused
from impactbench.adapters.argilla_records import write_argilla
from impactbench.adapters.inspect_scores import write_inspect_scores
from impactbench.adapters.label_folder import write_label_folder
from impactbench.adapters.label_studio import write_label_studio
from impactbench.adapters.run_folder_writing import Choice, write_run_folders
from impactbench.adapters.study_labels import read_study_labels

cli = typer.Typer(help="Write runs and labels to files.", no_args_is_help=True)


class LabelFormat(StrEnum):
    """What labels are written as."""

    FOLDER = "folder"
    LABEL_STUDIO = "label-studio"
    ARGILLA = "argilla"
    INSPECT = "inspect"


WRITERS = {
    LabelFormat.LABEL_STUDIO: write_label_studio,
    LabelFormat.ARGILLA: write_argilla,
    LabelFormat.INSPECT: write_inspect_scores,
}


@cli.callback()
def _group() -> None:
    """Write runs and labels to files."""


@cli.command("run")
def run_(
    study: Annotated[str, typer.Argument(help="The study.")],
    folder: Annotated[Path, typer.Argument(help="A new or an empty folder.")],
    run: Annotated[str, typer.Option(help="Only these runs: NAME of NAME/<model>, or a whole name.")] = "",
    judge: Annotated[str, typer.Option(help="Whose verdicts, where there are several judges.")] = "",
) -> None:
    """Write runs in the published layout: <benchmark>/benchmark.yaml, scenarios.json, runs/<model>/..."""
    engine = open_database()
    written = write_run_folders(engine, study, folder, choice=Choice(run=run, judge=judge))
    kinds = ("metrics", "scenarios", "runs", "conversations", "judgments")
    counts = ", ".join(f"{written.counts.get(kind, 0):,} {kind}" for kind in kinds)
    for path in written.folders:
        out.print(f"Wrote {path}", markup=False)
    out.print(counts)
    for note in written.notes:
        out.print(f"Note: {note}.", markup=False)


@cli.command("labels")
def labels(
    study: Annotated[str, typer.Argument(help="The study.")],
    path: Annotated[Path, typer.Argument(help="A folder for `folder`, a file for the others.")],
    format_: Annotated[
        LabelFormat,
        typer.Option(
            "--format", help="What to write; only a folder holds all revisions and fills a database."
        ),
    ] = LabelFormat.FOLDER,
) -> None:
    """Write labels: a folder with CSV, Parquet, history and judges' verdicts, or a file for another program."""
    engine = open_database()
    taken = read_study_labels(engine, study)
    if format_ is LabelFormat.FOLDER:
        files = write_label_folder(taken, path)
    else:
        if path.exists():
            raise ImportRefused(f"{path} is there already; name a new file")
        WRITERS[format_](taken, path)
        files = (path,)
    for file in files:
        out.print(f"Wrote {file}", markup=False)
    raters = len({said["assignment"][-2] for said in taken.history})
    labelled = len({tuple(said["assignment"]) for said in taken.history})
    out.print(f"{labelled:,} labels by {raters:,} raters, {len(taken.history):,} revisions in all")
    if format_ is LabelFormat.FOLDER:
        out.print(f"{len(taken.sections['judgment']):,} verdicts of judges on the same items")

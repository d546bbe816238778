"""`impactbench import`: bring in what exists already: runs of the pipeline, tables of labels, what other programs made."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from app.cli import imports_outside
from app.cli.platform import platform
from app.cli.progress import progress
from app.cli.terminal import open_database, out
from impactbench.adapters import ImportRefused
from impactbench.adapters.ratings_table import RatingsImported, import_ratings_table
from impactbench.adapters.ratings_table_reading import COLUMNS, RatingsOptions, read_ratings_table
from impactbench.adapters.run_folder import RunFolderImported, import_run_folder
from impactbench.adapters.run_folder_reading import ReadingOptions, read_run_folder
from impactbench.domain import Polarity

cli = typer.Typer(help="Bring in runs, verdicts and labels from elsewhere.", no_args_is_help=True)


@cli.callback()
def _group() -> None:
    """Bring in runs, verdicts and labels from elsewhere. Importing twice changes nothing."""


@cli.command("run")
def run_(
    folder: Annotated[Path, typer.Argument(help="A benchmark's folder, or one of its runs/<model> folders.")],
    study: Annotated[str, typer.Option(help="The study; the folder's name by default.")] = "",
    run: Annotated[
        str, typer.Option(help="A name for this pass; the folder's name by default. Runs are NAME/<model>.")
    ] = "",
    model: Annotated[list[str] | None, typer.Option(help="Only this model's run; may be repeated.")] = None,
    judge: Annotated[str, typer.Option(help="The judge model, where the folder does not name it.")] = "",
    judge_family: Annotated[str, typer.Option(help="The family of the judge model.")] = "",
    allow_unscored: Annotated[
        bool, typer.Option("--allow-unscored", help="Take conversations without a score, as unscored.")
    ] = False,
) -> None:
    """Import a run folder: benchmark.yaml, scenarios.json, runs/<model>/conversations.json and scores.json."""
    engine = open_database()
    options = ReadingOptions(
        models=model or (), judge=judge, judge_family=judge_family, allow_unscored=allow_unscored
    )
    with progress("Reading runs") as reading:
        read = read_run_folder(folder, options=options, on_progress=reading)
    with progress("Keeping conversations") as keeping:
        imported = import_run_folder(engine, read, study=study, run=run, on_progress=keeping)
    _tell_run(imported)


@cli.command()
def ratings(
    file: Annotated[Path, typer.Argument(help="A long table, CSV or Parquet: one row a label.")],
    study: Annotated[str, typer.Option(help="The study that the items belong to.")],
    item_column: Annotated[str, typer.Option(help="Names the conversation (conv_id).")] = COLUMNS["item"],
    metric_column: Annotated[str, typer.Option(help="Names the metric; may be absent.")] = COLUMNS["metric"],
    rater_column: Annotated[str, typer.Option(help="Names the rater.")] = COLUMNS["rater"],
    label_column: Annotated[str, typer.Option(help="Holds fail, borderline or pass.")] = COLUMNS["label"],
    column: Annotated[
        list[str] | None,
        typer.Option(help=f"Another column's name, as KIND=NAME; the kinds are {', '.join(COLUMNS)}."),
    ] = None,
    map_: Annotated[
        list[str] | None, typer.Option("--map", help='What another word means, such as "HELL YES=pass".')
    ] = None,
    set_: Annotated[str, typer.Option("--set", help="What to call the review set.")] = "",
    run: Annotated[str, typer.Option(help="The run of the items, where several have them.")] = "",
    without_transcripts: Annotated[
        bool, typer.Option("--without-transcripts", help="Take labels of items that were not imported.")
    ] = False,
    polarity: Annotated[Polarity | None, typer.Option(help="Of metrics known by their labels only.")] = None,
) -> None:
    """Import labels by named raters. Times in a column named ..._utc without a zone are UTC."""
    engine = open_database()
    named = {"item": item_column, "metric": metric_column, "rater": rater_column, "label": label_column}
    columns = {role: name for role, name in named.items() if name != COLUMNS[role]}
    columns.update(_pairs("--column", column))
    words = dict(_pairs("--map", map_))
    table = read_ratings_table(file, options=RatingsOptions(columns=columns, words=words))
    with progress("Keeping labels") as keeping:
        imported = import_ratings_table(
            engine,
            table,
            study=study,
            run=run,
            name=set_,
            without_transcripts=without_transcripts,
            polarity=polarity,
            on_progress=keeping,
        )
    _tell_ratings(imported)
    if not words:
        names = [columns.get(role, COLUMNS[role]) for role in ("item", "rater", "label")]
        options = [
            part for pair in zip(("--item", "--rater", "--label"), names, strict=True) for part in pair
        ]
        _suggest("agreement", str(file), *options, "--categories", "fail,borderline,pass")


cli.command("inspect")(imports_outside.inspect)
cli.command("vera")(imports_outside.vera)
cli.command("scout")(imports_outside.scout)
cli.command("verdicts")(imports_outside.verdicts)
cli.command("labels")(imports_outside.labels)
cli.command("platform")(platform)


def _pairs(option: str, given: Sequence[str] | None) -> Iterator[tuple[str, str]]:
    for pair in given or ():
        name, sign, value = pair.partition("=")
        if not (name and sign and value):
            raise ImportRefused(f"{option} is {pair!r}, it must be written NAME=VALUE")
        yield name, value


def _tell_run(imported: RunFolderImported) -> None:
    counted = imported.verdicts
    runs = f"{len(imported.runs)} run{'s' if len(imported.runs) > 1 else ''}"
    out.print(f"Study {imported.study}, {runs}: {', '.join(imported.runs)}", markup=False)
    table = Table("", "read", "added", "already there", box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for kind, tally in imported.tallies.items():
        table.add_row(kind, f"{tally.read:,}", f"{tally.added:,}", f"{tally.already_there:,}")
    out.print(table)
    out.print(
        f"{imported.tallies['conversations'].read:,} conversations:"
        f" {counted['present']:,} present, {counted['absent']:,} absent;"
        f" {counted['passed']:,} passed, {counted['failed']:,} failed"
        + (f"; {counted['unscored']:,} unscored" if counted["unscored"] else "")
    )
    _tell_counts("unscored", imported.unscored)
    _tell_notes(imported.notes)
    if not imported.changed:
        out.print("Nothing new: all of this was imported before, and nothing was changed.")
    people = ("--rater", "NAME:internal", "--rater", "NAME:external")
    _suggest("review", "open", imported.study, "--overlap", "2", "--seed", "7", *people)


def _tell_ratings(imported: RatingsImported) -> None:
    raters = ", ".join(f"{count} {panel}" for panel, count in sorted(imported.raters.items()))
    statuses = ", ".join(f"{count:,} {status}" for status, count in sorted(imported.statuses.items()))
    out.print(f"Study {imported.study}, review set {imported.review_set}", markup=False)
    out.print(
        f"{imported.n_read:,} rows read: {imported.added:,} labels added, {imported.revised:,} revised,"
        f" {imported.already_there:,} already there, {sum(imported.skipped.values()):,} skipped"
    )
    out.print(f"{imported.n_items:,} items, {sum(imported.raters.values())} raters ({raters}); {statuses}")
    _tell_counts("skipped", imported.skipped)
    if imported.placeholders:
        out.print(f"{imported.placeholders:,} conversations are known by their labels only (no transcript)")
    _tell_notes(imported.notes)
    if not imported.changed:
        out.print("Nothing new: all of these labels were imported before, and nothing was changed.")


def _tell_counts(what: str, counts: Mapping[str, int]) -> None:
    for reason, count in counts.items():
        out.print(f"  {what}: {count:,} because {reason}", markup=False)


def _tell_notes(notes: Sequence[str]) -> None:
    for note in notes:
        out.print(f"Note: {note}.", markup=False)


def _suggest(*command: str) -> None:
    out.print(f"Next: {shlex.join(('impactbench', *command))}", markup=False)

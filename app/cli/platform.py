"""`impactbench import platform`: the published platform's data as a study."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from app.cli.progress import progress
from app.cli.terminal import open_database, out
from impactbench.adapters.platform import PlatformImported, import_platform
from impactbench.adapters.platform_reading import read_platform


def platform(
    folder: Annotated[Path, typer.Argument(help="The folder with scenario-index.json and taxonomy.json.")],
    study: Annotated[str, typer.Option(help="The study to add it to; made where there is none.")],
    judge: Annotated[str, typer.Option(help="The judge model, which the data do not name.")] = "",
) -> None:
    """Import the published platform's data: metrics, scenarios, models, verdicts and the headings of the label."""
    engine = open_database()
    with progress("Reading the folder") as tell:
        read = read_platform(folder)
        tell.about("Keeping verdicts")
        imported = import_platform(engine, read, study=study, judge_name=judge, on_progress=tell)
    _tell(imported)


def _tell(imported: PlatformImported) -> None:
    out.print(f"Study {imported.study}, judge {imported.judge}", markup=False)
    table = Table("", "read", "added", "already there", box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for kind, tally in imported.tallies.items():
        table.add_row(kind, f"{tally.read:,}", f"{tally.added:,}", f"{tally.already_there:,}")
    out.print(table)
    for note in imported.notes:
        out.print(f"Note: {note}.", markup=False)
    if not imported.changed:
        out.print("Nothing new: all of this was imported before, and nothing was changed.")

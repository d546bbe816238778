"""`impactbench suite`: the benchmarks of metrics, what is wrong with them, and how they come into the database."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Column, Table
from rich.text import Text

from app.cli.terminal import err, open_database, out
from impactbench.domain import Polarity
from impactbench.metrics import Suite, load_suite
from impactbench.suite.check import check_suite
from impactbench.suite.coverage import coverage
from impactbench.suite.importing import import_suite
from impactbench.suite.validity import QUESTIONS

cli = typer.Typer(help="The metrics, in benchmarks: list, show, check, import.", no_args_is_help=True)

Folder = Annotated[
    Path | None,
    typer.Argument(help="A folder of benchmarks, one YAML file each; by default the suite of the program."),
]


@cli.callback()
def _group() -> None:
    """The metrics, in benchmarks: list, show, check, import."""


@cli.command("list")
def list_(folder: Folder = None) -> None:
    """Every benchmark with its metrics, and how many there are of each polarity in each subarea."""
    suite = load_suite(folder)
    table = Table(Column("Metric", overflow="fold"), "Name", "Polarity", "Subareas", "Agreement is")
    words = {"low": "easy", "moderate": "moderate", "high": "hard"}
    for metric in suite.metrics:
        table.add_row(
            Text(metric.key),
            Text(metric.definition.name),
            metric.definition.polarity,
            Text(" ".join(metric.subareas)),
            words[metric.difficulty],
        )
    out.print(table)
    _tell_coverage(suite)


@cli.command()
def show(
    metric: Annotated[str, typer.Argument(help="benchmark/metric, or a benchmark.")],
    folder: Annotated[Path | None, typer.Option(help="Another folder of benchmarks.")] = None,
) -> None:
    """A metric with all that is said about it; or a benchmark with its answers about validity."""
    suite = load_suite(folder)
    for benchmark in suite.benchmarks:
        if benchmark.slug == metric:
            out.print(Text(f"{benchmark.name}\n{benchmark.description}\n", "bold"))
            for recommendation, question in QUESTIONS.items():
                out.print(Text(question, "italic"))
                out.print(Text(f"  {benchmark.validity.get(recommendation, 'No answer.')}\n"))
            for one in benchmark.metrics:
                out.print(Text(f"{one.key}: {one.definition.name}"))
            return
    found = suite.metric(metric)
    said = found.definition
    out.print(Text(f"{said.name} ({said.polarity})", "bold"))
    _section("Definition", [said.definition])
    _section("Question", [said.question])
    _section("Rules for conflicting evidence", [said.interpretive_clause])
    _section("Present in", [f"“{example}”" for example in said.examples_present])
    _section("Absent from", [f"“{example}”" for example in said.examples_absent])
    _section("Why it matters", [found.matters, *found.sources])
    _section("Stands in", [", ".join(found.subareas)])


@cli.command()
def check(folder: Folder = None) -> None:
    """Find what would be misread: two behaviours in one, the unobservable, contradictions, gaps, near duplicates."""
    suite = load_suite(folder)
    found = check_suite(suite)
    for finding in found:
        out.print(Text(str(finding)))
    many = f"{len(suite.metrics)} metrics in {len(suite.benchmarks)} benchmarks"
    if found:
        err.print(f"{len(found)} findings in {many}.", markup=False)
        raise typer.Exit(1)
    err.print(f"Nothing to mend in {many}.", markup=False)


@cli.command("import")
def import_(
    folder: Folder = None,
    author: Annotated[str, typer.Option(help="Who wrote what is new.")] = "",
    because: Annotated[str, typer.Option(help="Why metrics that were there have changed.")] = "",
) -> None:
    """Bring a suite into the database. An edited metric becomes another version; nothing is overwritten."""
    suite = load_suite(folder)
    imported = import_suite(open_database(), suite, author=author, because=because)
    table = Table("", "read", "added", "already there", box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for kind in ("benchmarks", "metrics", "versions"):
        read, added = imported.read[kind], imported.added[kind]
        table.add_row(kind, f"{read:,}", f"{added:,}", f"{read - added:,}")
    out.print(table)
    for note in imported.notes:
        err.print(Text(f"Note: {note}."))


def _section(title: str, paragraphs: Sequence[str]) -> None:
    out.print(Text(f"\n{title}", "italic"))
    for paragraph in paragraphs:
        out.print(Text(paragraph or "Nothing is said."))


def _tell_coverage(suite: Suite) -> None:
    table = Table("Domain", "Subarea", "positive", "negative", box=None, pad_edge=False)
    for column in table.columns[2:]:
        column.justify = "right"
    for row in coverage(suite.metrics):
        table.add_row(
            row.domain, row.subarea, str(row.counts[Polarity.POSITIVE]), str(row.counts[Polarity.NEGATIVE])
        )
    out.print(table)
    err.print(
        f"{len(suite.metrics)} metrics in {len(suite.benchmarks)} benchmarks; one that stands in two subareas counts in both.",
        markup=False,
    )

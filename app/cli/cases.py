"""`impactbench case`: conversations marked as cases, for the public page and the site."""

from typing import Annotated

import typer
from rich.table import Table

from app.cli.terminal import open_database, out
from reviews.blindness.leak_scan import maintainer
from reviews.public.cases import cases, find_metric_version, mark_case
from reviews.public.results import read_public

cli = typer.Typer(help="Mark where in a conversation a behaviour appears.", no_args_is_help=True)
Study = Annotated[str, typer.Argument(help="The slug of the study.")]


@cli.callback()
def _group() -> None:
    """Mark where in a conversation a behaviour appears."""


@cli.command()
def mark(
    study: Study,
    conversation: Annotated[int, typer.Option(help="Its number, as in the address of its page.")],
    metric: Annotated[str, typer.Option(help="The behaviour, as benchmark/metric.")],
    first: Annotated[
        int | None, typer.Option(min=1, help="The turn in which it first appears; without it, never.")
    ] = None,
    back: Annotated[
        int | None, typer.Option(min=1, help="The turn in which the model takes it back; without it, never.")
    ] = None,
    note: Annotated[str, typer.Option(help="What to notice; the public reads it.")] = "",
    by: Annotated[
        str | None, typer.Option(help="Who marks it; needed where there are several maintainers.")
    ] = None,
) -> None:
    """Mark a conversation. Another mark of the same one is a revision; the earlier stays on record."""
    engine = open_database()
    revision = mark_case(
        engine,
        study,
        conversation_id=conversation,
        metric_version_id=find_metric_version(engine, study, metric, conversation_id=conversation),
        marked_by=maintainer(engine, by),
        first_turn=first,
        corrected_turn=back,
        note=note,
    )
    out.print(f"Conversation {conversation} is marked on {metric}, revision {revision}.", markup=False)


@cli.command("list")
def list_cases(study: Study) -> None:
    """The marked conversations, as the public may see them."""
    engine = open_database()
    results = read_public(engine, study, unreleased=True)
    found = cases(engine, results)
    if not found:
        hidden = "" if results.study.transcripts else " (its conversations are not public)"
        out.print(f"No case of {study} can be shown{hidden}.", markup=False)
        return
    table = Table(
        "conversation",
        "metric",
        "model",
        "wording",
        "first appears",
        "taken back",
        "note",
        box=None,
        pad_edge=False,
    )
    for case in found:
        table.add_row(
            str(case.conversation_id),
            f"{case.benchmark}/{case.metric}",
            case.model,
            f"version {case.version}{', revised since' if case.of_earlier_wording else ''}",
            str(case.first_turn or "never"),
            str(case.corrected_turn or "no"),
            case.note,
        )
    out.print(table)

"""`impactbench adapt`: another benchmark's criteria as candidate metrics, which a person reviews before anything is used."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from app.cli.terminal import out
from impactbench.adapters.candidate_drafts import draft_candidates
from impactbench.adapters.candidate_review import accept_reviewed, write_review
from impactbench.adapters.candidates import Adapted
from impactbench.adapters.humanebench import read_humanebench
from impactbench.adapters.kora import read_kora
from impactbench.adapters.published_metrics import read_published_metrics
from impactbench.adapters.rubric_lines import read_rubric_lines
from impactbench.adapters.taxonomy import read_taxonomy
from impactbench.adapters.weval import read_weval
from impactbench.domain import Polarity
from impactbench.providers.choosing import LITELLM, open_provider

cli = typer.Typer(help="Adapt another benchmark; a person decides on every metric.", no_args_is_help=True)

Source = Annotated[Path, typer.Argument(help="The source.")]
Out = Annotated[Path, typer.Option("--out", help="The review file to write.")]
Model = Annotated[
    str, typer.Option(help="A model that drafts from each passage; without one the words are the source's.")
]
Provider = Annotated[str, typer.Option(help=f"{LITELLM}, or scripted:FILE.yaml.")]
OfAll = Annotated[Polarity | None, typer.Option(help="Of entries that do not say theirs.")]

REVIEW = Path("candidates.yaml")


@cli.callback()
def _group() -> None:
    """Adapt another benchmark; a person decides on every metric."""


@cli.command()
def weval(source: Source, out_: Out = REVIEW, model: Model = "", provider: Provider = LITELLM) -> None:
    """A Weval blueprint (YAML): each criterion in words."""
    _adapt(lambda: read_weval(source), out_, model=model, provider=provider)


@cli.command()
def humanebench(source: Source, out_: Out = REVIEW, model: Model = "", provider: Provider = LITELLM) -> None:
    """HumaneBench: its rubric (.md), or the folder that holds it; the best and the worst grade of each principle."""
    _adapt(lambda: read_humanebench(source), out_, model=model, provider=provider)


@cli.command()
def kora(source: Source, out_: Out = REVIEW, model: Model = "", provider: Provider = LITELLM) -> None:
    """KORA's risks.json: each risk."""
    _adapt(lambda: read_kora(source), out_, model=model, provider=provider)


@cli.command()
def rubrics(source: Source, out_: Out = REVIEW, model: Model = "", provider: Provider = LITELLM) -> None:
    """Rubrics as JSON lines, as HealthBench has them: each criterion; points below 0 are unwanted."""
    _adapt(lambda: read_rubric_lines(source), out_, model=model, provider=provider)


@cli.command()
def taxonomy(
    source: Source,
    out_: Out = REVIEW,
    polarity: OfAll = None,
    model: Model = "",
    provider: Provider = LITELLM,
) -> None:
    """A taxonomy with definitions and boundary conditions, YAML or CSV; docs/formats.md says how it is written."""
    _adapt(lambda: read_taxonomy(source, polarity=polarity), out_, model=model, provider=provider)


@cli.command()
def published(
    source: Source,
    out_: Out = REVIEW,
    polarity: OfAll = None,
    model: Model = "",
    provider: Provider = LITELLM,
) -> None:
    """The published platform's table of metrics (CSV), with what lies beside it."""
    _adapt(lambda: read_published_metrics(source, polarity=polarity), out_, model=model, provider=provider)


@cli.command()
def accept(
    review: Annotated[Path, typer.Argument(help="A review file in which every candidate is marked.")],
    by: Annotated[str, typer.Option(help="Who decided.")],
    folder: Annotated[Path, typer.Option("--out", help="Where the files of the suite go.")] = Path("suite"),
    leave_undecided: Annotated[
        bool, typer.Option("--leave-undecided", help="Pass over candidates without a decision.")
    ] = False,
) -> None:
    """Turn the accepted candidates of a review file into files of the suite."""
    accepted = accept_reviewed(review, folder, by=by, leave_undecided=leave_undecided)
    for file in accepted.files:
        out.print(f"Wrote {file}", markup=False)
    out.print(
        f"{accepted.accepted:,} accepted as proposed, {accepted.edited:,} edited, {accepted.rejected:,} rejected,"
        f" {accepted.undecided:,} undecided"
    )
    out.print(f"Next: impactbench suite check {folder}", markup=False)


def _adapt(read: Callable[[], Adapted], review: Path, *, model: str, provider: str) -> None:
    adapted = read()
    if model:
        adapted = asyncio.run(draft_candidates(adapted, open_provider(provider), model=model))
    write_review(adapted, review)
    drafted = sum(bool(candidate.drafted_by) for candidate in adapted.candidates)
    out.print(
        f"{len(adapted.candidates):,} candidates from {adapted.source_file}"
        + (f", {drafted:,} of them drafted by {model}" if model else "")
        + f"; none is in the suite. Wrote {review}",
        markup=False,
    )
    for note in adapted.notes[:10]:
        out.print(f"Note: {note}.", markup=False)
    if len(adapted.notes) > 10:
        out.print(f"Note: {len(adapted.notes) - 10:,} more notes are in the file.")
    out.print(
        f"Next: mark each candidate, then impactbench adapt accept {review} --by YOUR_NAME", markup=False
    )

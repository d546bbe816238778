"""`impactbench submit`: suggest a metric from a file, and see how a judge fares on its examples."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from app.cli.terminal import err, open_database, out
from impactbench.metrics import load_suite
from impactbench.providers.embedded import is_evidence
from impactbench.resources import content
from impactbench.settings import Settings
from impactbench.suite.submission_store import Trial, begin, send, suggestion, suggestions
from impactbench.suite.submission_trials import NO_MODEL, try_submission
from impactbench.suite.submissions import findings, missing, read_submission
from reviews.submission_review import submitter

cli = typer.Typer(help="Suggest a metric: template, check, send, try.", no_args_is_help=True)

File = Annotated[Path, typer.Argument(help="A filled-in template.")]
Code = Annotated[str, typer.Argument(help="The code of the suggestion, as `submit list` shows it.")]


@cli.callback()
def _group() -> None:
    """Suggest a metric: template, check, send, try."""


@cli.command()
def template() -> None:
    """Print the template to fill in: `impactbench submit template > my-metric.yaml`."""
    typer.echo(content("suite/submission.yaml").read_text(encoding="utf-8"), nl=False)


@cli.command()
def check(file: File) -> None:
    """Say what is missing in a filled-in template, and what could be misread. Needs no database."""
    said = read_submission(file)
    lacking = missing(said)
    for part, words in lacking.items():
        out.print(Text(f"{file}: {part}: there is still missing {', '.join(words)}"))
    found = findings(said, load_suite())
    for finding in found:
        out.print(Text(f"{file}: {finding.sentence}; {finding.remedy}"))
    if lacking or found:
        raise typer.Exit(1)
    err.print("Nothing is missing, and nothing was found that could be misread.", markup=False)


@cli.command("send")
def send_(
    file: File,
    name: Annotated[str, typer.Option("--as", help="The pseudonym of the person who suggests it.")],
    code: Annotated[str, typer.Option(help="The suggestion that this revises; a new one by default.")] = "",
    model: Annotated[str, typer.Option(help="Try the examples with this model at once.")] = "",
) -> None:
    """Send a suggestion to review, and try its examples where a model is set. Printed is its code."""
    said = read_submission(file)
    engine = open_database()
    person = submitter(engine, name)
    code = code or begin(engine, person)
    number = send(engine, code, person, said)
    err.print(f"Sent as revision {number}. Internal experts review it next.", markup=False)
    out.print(code, markup=False)
    chosen = model or Settings().trial_model
    if not chosen:
        err.print(Text(f"The examples were not tried: {NO_MODEL}."))
        return
    try_submission(engine, code, chosen)
    _tell_trial(suggestion(engine, code).newest.trial)  # type: ignore[union-attr]


@cli.command("list")
def list_() -> None:
    """Every suggestion and where it stands."""
    known = suggestions(open_database())
    if not known:
        err.print("There is no suggestion yet; begin with `impactbench submit template`.", markup=False)
        return
    table = Table("Code", "Name", "By", "Revision", "Tried", "State")
    for one in known:
        newest = one.newest
        trial = newest.trial if newest else None
        tried = "" if trial is None else "told apart" if trial.tells_apart else "not told apart"
        table.add_row(
            one.code,
            Text(one.name),
            Text(one.submitter),
            str(newest.number if newest else 0),
            tried,
            one.state,
        )
    out.print(table)


@cli.command("try")
def try_(
    code: Code,
    model: Annotated[
        str, typer.Option(help="As litellm spells it, or scripted:FILE; by default IMPACTBENCH_TRIAL_MODEL.")
    ] = "",
) -> None:
    """Try the judge prompt on the examples of a suggestion: it must tell the present ones from the absent."""
    engine = open_database()
    tells = try_submission(engine, code, model or Settings().trial_model)
    _tell_trial(suggestion(engine, code).newest.trial)  # type: ignore[union-attr]
    if not tells:
        raise typer.Exit(1)


def _tell_trial(trial: Trial | None) -> None:
    if trial is None:
        return
    words = {True: "present", False: "absent", None: "no verdict"}
    table = Table("Meant as", "Judged", "Example", "Because")
    for one in trial.outcomes:
        because = one["justification"] or one["because"]
        table.add_row(one["side"], words[one["present"]], Text(one["example"]), Text(because))
    out.print(table)
    said = "tells present from absent" if trial.tells_apart else "does not tell present from absent"
    caution = "" if is_evidence(trial.model) else " Verdicts of this model are no evidence."
    err.print(Text(f"{trial.model} {said} on the {len(trial.outcomes)} examples.{caution}"))

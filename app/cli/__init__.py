"""The command line: `impactbench ...`. A front end like the workbench: it parses, asks, prints."""

import sys

import typer

from app.cli import (
    adapt,
    agreement,
    audit,
    database,
    demo,
    export,
    imports,
    people,
    publish,
    report,
    review,
    run,
    serve,
    submit,
    suite,
)
from app.cli.terminal import complain, opened
from impactbench.domain import ImpactBenchError
from validation.ratings import RatingsError

cli = typer.Typer(
    name="impactbench",
    help="Review what chatbots do, and see how far the judge can be trusted.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
cli.add_typer(database.cli, name="db")
cli.add_typer(imports.cli, name="import")
cli.add_typer(export.cli, name="export")
cli.add_typer(adapt.cli, name="adapt")
cli.add_typer(review.cli, name="review")
cli.add_typer(people.cli, name="people")
cli.add_typer(suite.cli, name="suite")
cli.add_typer(run.cli, name="run")
cli.add_typer(submit.cli, name="submit")
cli.command("serve")(serve.serve)
cli.command("demo")(demo.demo)
cli.command("agreement")(agreement.agreement)
cli.command("audit")(audit.audit)
cli.command("report")(report.report)
cli.command("verify")(report.verify)
cli.command("release")(report.release)
cli.command("release-study")(publish.release_study)
cli.command("publish")(publish.publish)


def main() -> None:
    """Run a command; a mistake of the user is one sentence and exit code 1, never a traceback."""
    try:
        with opened:
            cli()
    except (ImpactBenchError, RatingsError) as mistake:
        complain(str(mistake))
        sys.exit(1)

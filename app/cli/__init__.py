"""The command line: `impactbench ...`. A front end like the workbench: it parses, asks, prints.

A command is imported when it is called: the statistics behind some of them take seconds to load.
"""

import sys
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

from app.cli.terminal import complain, opened
from impactbench.domain import ImpactBenchError

COMMANDS = {
    "demo": ("demo:demo", "Open the workbench on a simulated study and print a sign-in link for each role."),
    "serve": ("serve:serve", "Open the workbench on the database that IMPACTBENCH_DATABASE_URL names."),
    "db": ("database:cli", "Make the database, or bring it up to date."),
    "people": ("people:cli", "Add people who sign in, and look after their ways in."),
    "suite": ("suite:cli", "The metrics, in benchmarks: list, show, check, import."),
    "submit": ("submit:cli", "Suggest a metric: template, check, send, try."),
    "adapt": ("adapt:cli", "Adapt another benchmark; a person decides on every metric."),
    "run": ("run:cli", "Simulate conversations and judge them."),
    "import": ("imports:cli", "Bring in runs, verdicts and labels from elsewhere."),
    "export": ("export:cli", "Write runs and labels to files."),
    "review": ("review:cli", "Put conversations before experts."),
    "agreement": (
        "agreement:agreement",
        "How far raters agree, by ten coefficients with 95% intervals. An empty cell is no label.",
    ),
    "audit": (
        "audit:audit",
        "Audit a judge from plain files: experts among themselves, the judge against them, its own family, its polarity.",
    ),
    "report": (
        "report:report",
        "Write the report of a study: one HTML file that opens offline, Markdown, the judge card, and the data behind it.",
    ),
    "verify": (
        "report:verify",
        "Recompute every number of a report from its data; fail on any difference, naming the number.",
    ),
    "release": (
        "report:release",
        "Write a folder to publish: report, judge card, data, licence notes, and a Croissant description.",
    ),
    "release-study": (
        "publish:release_study",
        "Let the public see a study: rates with their evidence, and with --transcripts its conversations.",
    ),
    "case": ("cases:cli", "Mark where in a conversation a behaviour appears."),
    "publish": (
        "publish:publish",
        "Write the released studies as plain pages and data that open from disk and from any web server.",
    ),
}
"""Where each command is, and its first sentence, which a test compares with what the command itself says."""


def load(name: str) -> Any:
    """The command or group of that name, imported."""
    module, _, attribute = COMMANDS[name][0].partition(":")
    found = getattr(import_module(f"app.cli.{module}"), attribute)
    if isinstance(found, typer.Typer):
        command: Any = typer.main.get_group(found)
    else:
        alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        alone.command(name)(found)
        command = typer.main.get_command(alone)
    command.name = name
    return command


class LoadedWhenCalled(TyperGroup):
    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, listed, rest = super().resolve_command(ctx, args)
        return name, listed and load(str(name)), rest


cli = typer.Typer(
    name="impactbench",
    cls=LoadedWhenCalled,
    help="Review what chatbots do, and see how far the judge can be trusted.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for _name, (_, _sentence) in COMMANDS.items():
    cli.command(_name, help=_sentence)(lambda: None)


def main() -> None:
    """Run a command; a mistake of the user is one sentence and exit code 1, never a traceback."""
    try:
        with opened:
            cli()
    except ImpactBenchError as mistake:
        complain(str(mistake))
        sys.exit(1)
    except ValueError as mistake:
        from validation.ratings import RatingsError

        if not isinstance(mistake, RatingsError):
            raise
        complain(str(mistake))
        sys.exit(1)

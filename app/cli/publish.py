"""`impactbench release-study` and `publish`: what the public may see of a study, and the files that show it."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.terminal import err, open_database, out


def release_study(
    study: Annotated[str, typer.Argument(help="The slug of the study.")],
    transcripts: Annotated[
        bool, typer.Option(help="Show its conversations and the verdict on each as well.")
    ] = False,
    withdraw: Annotated[bool, typer.Option("--withdraw", help="Show it no more.")] = False,
) -> None:
    """Let the public see a study: rates with their evidence, and with --transcripts its conversations."""
    from reviews.public import releasing

    engine = open_database()
    if withdraw:
        shown = releasing.withdraw_study(engine, study)
        out.print(f"{study} is {'shown no more' if shown else 'not shown, as before'}.", markup=False)
        return
    released = releasing.release_study(engine, study, transcripts=transcripts)
    words = "with" if released.transcripts else "without"
    out.print(f"{study} is public, {words} its conversations.", markup=False)
    if released.under_review:
        err.print(
            "Its conversations and what experts said stay hidden until the results of every review set are reported"
            f" (impactbench review report {study})."
        )

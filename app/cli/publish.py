"""`impactbench release-study` and `publish`: what the public may see of a study, and the files that show it."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.progress import progress
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
            f" (impactbench review mark-reported {study})."
        )


def publish(
    folder: Annotated[Path, typer.Argument(help="The folder to write; a site written before is replaced.")],
    study: Annotated[
        list[str] | None, typer.Option(help="Only this released study; may be repeated.")
    ] = None,
) -> None:
    """Write the released studies as plain pages and data that open from disk and from any web server."""
    from app.public.site.writing import publish_site

    engine = open_database()
    with progress("Reading the results") as tell:

        def written_so_far(done: int, total: int) -> None:
            tell.about("Writing pages")
            tell(done, total)

        written = publish_site(engine, folder, studies=study or (), on_progress=written_so_far)
    out.print(
        f"{written.pages:,} pages of {', '.join(written.studies)} ({written.bytes / 1e6:.1f} MB):"
        f" open {written.folder / 'index.html'}",
        markup=False,
    )

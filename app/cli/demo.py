"""`impactbench demo`: the workbench on the simulated study, with somebody to sign in as in every role."""

import socket
from datetime import UTC, datetime, timedelta
from importlib.resources import as_file
from pathlib import Path
from typing import Annotated

import typer
from sqlalchemy import Engine, func
from sqlmodel import col, select

from app.cli.demo_revision import revise_one_metric
from app.cli.terminal import err, out
from impactbench.adapters import ImportRefused
from impactbench.adapters.ratings_table import RatingsImported, import_ratings_table
from impactbench.adapters.ratings_table_reading import read_ratings_table
from impactbench.adapters.run_folder import RunFolderImported, import_run_folder
from impactbench.adapters.run_folder_reading import read_run_folder
from impactbench.domain import ImpactBenchError, Panel, Role
from impactbench.resources import content
from impactbench.settings import Settings
from impactbench.store import frames
from impactbench.store.engine import DatabaseUnreachable, connect, reading, upgrade
from impactbench.store.tables import Assignment, ReviewSet
from reviews.assignment import Member, PlanRefused
from reviews.design.review_sets import draft_review_set, save
from reviews.locking import mark_reported
from reviews.members.invitations import invite
from reviews.members.raters import add_person
from reviews.public.releasing import release_study
from reviews.registration import read_plan, register

STUDY = "everyday-choices"
REVIEW_SET = "your-turn"
PEOPLE = {
    Role.EXPERT: "demo-expert",
    Role.METHODOLOGIST: "demo-methodologist",
    Role.MAINTAINER: "demo-maintainer",
}

_BEFORE_ANY_LABEL = datetime(2026, 2, 23, 9, tzinfo=UTC)
"""As simulated as the dates of the labels are."""
_LINK_DAYS = 7
"""How long the demo's links work; unlike those of a study they may be opened any number of times."""


class DemoRefused(ImpactBenchError):
    """The demo cannot be opened as asked; the text says what would be right."""


def demo(
    serve: Annotated[bool, typer.Option(help="Serve the workbench, or only set up the database.")] = True,
    port: Annotated[int, typer.Option(min=1, max=65535, help="The port of the address.")] = 8501,
    database: Annotated[Path, typer.Option(help="The SQLite file of the demo; made if it is absent.")] = Path(
        ".impactbench/demo.db"
    ),
) -> None:
    """Open the workbench on a simulated study and print a sign-in link for each role.

    Opened again, it keeps what was rated and prints new links.
    """
    if serve:
        _require_free(port)
    settings = _settings(database, port=port)
    engine = _open(database, settings)
    try:
        _fill(engine)
    except (ImportRefused, PlanRefused) as error:
        raise DemoRefused(
            f"{database} was made from another edition of the demo study ({error}):"
            " name another file with --database, or move this one away"
        ) from error
    err.print("Step 5 of 5: personal links ...")
    links = {role: _link(engine, role, settings=settings) for role in PEOPLE}
    err.print(f"\nThe demo is in {database}. Everything in its study is simulated.", markup=False)
    out.print(f"\nImpactBench  {settings.base_url}\n", markup=False)
    err.print("Opened without a link, that address shows what the public sees. To sign in:\n")
    for role, link in links.items():
        out.print(f"{role:<13}  {link}", markup=False)
    out.print()
    engine.dispose()
    if serve:
        err.print("Starting the server, which takes a few seconds. Ctrl+C stops it; what was rated is kept.")
        _serve(port, settings)


def _require_free(port: int) -> None:
    """Refuse a port that is taken before anything is done: the links would lead to somebody else."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("localhost", port))
        except OSError as error:
            raise DemoRefused(
                f"port {port} cannot be used ({error.strerror}): stop what runs there, or name another with --port"
            ) from error


def _settings(database: Path, *, port: int) -> Settings:
    """The demo's own database and address, whatever the environment says of those of another installation."""
    return Settings(
        database_url=f"sqlite:///{database.absolute()}",
        base_url=f"http://localhost:{port}",
        state_dir=database.absolute().parent,
    )


def _open(database: Path, settings: Settings) -> Engine:
    made = not database.exists()
    err.print(
        f"Step 1 of 5: {'making' if made else 'opening'} the database {database} ...",
        markup=False,
    )
    try:
        database.absolute().parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DemoRefused(
            f"the folder of {database} cannot be made ({error.strerror}): name another file with --database"
        ) from error
    engine = connect(settings.database_url)
    try:
        upgrade(engine)
    except DatabaseUnreachable as error:
        raise DemoRefused(
            f"{database} cannot be opened as a SQLite file: name another with --database"
        ) from error
    others = [study for study in frames.studies(engine)["study"] if study != STUDY]
    if others:
        raise DemoRefused(
            f"the database {database} holds the study {others[0]!r}, and simulated data do not belong beside it:"
            " name another file with --database"
        )
    return engine


def _fill(engine: Engine) -> None:
    """Import the study and open a review set; what is there already stays as it is."""
    err.print("Step 2 of 5: importing the conversations, the judge and six simulated raters ...")
    with as_file(content(f"demo/{STUDY}")) as folder:
        run = import_run_folder(engine, read_run_folder(folder))
        if run.changed:
            _register_plan(engine)
        ratings = import_ratings_table(engine, read_ratings_table(folder / "ratings.csv"), study=STUDY)
        _say_imported(run, ratings)
    if ratings.changed:
        _show_to_everybody(engine)
    err.print("Step 3 of 5: a contested metric is revised, judged again and reviewed again ...")
    with as_file(content("demo/revision")) as folder:
        revised = revise_one_metric(engine, STUDY, folder)
    err.print(f"  {'published in the change log' if revised else 'there already'}")
    err.print("Step 4 of 5: a review set for you to rate ...")
    if asked := _asked_already(engine):
        # Drawn anew it could be another one, for a metric may have been revised on the pages meanwhile.
        err.print(f"  {asked} conversations: assigned already")
        return
    guest = Member(name=PEOPLE[Role.EXPERT], panel=Panel.EXTERNAL)
    draft = draft_review_set(
        engine,
        STUDY,
        slug=REVIEW_SET,
        overlap=1,
        seed=7,
        strata=("metric", "age"),
        per_stratum=1,
        raters=[guest],
    )
    err.print(f"  {save(engine, draft).asked} conversations: assigned")


def _register_plan(engine: Engine) -> None:
    with as_file(content("demo/plan.yaml")) as path:
        register(engine, STUDY, read_plan(path), at=_BEFORE_ANY_LABEL)


def _asked_already(engine: Engine) -> int:
    with reading(engine) as session:
        of_set = select(col(ReviewSet.id)).where(ReviewSet.slug == REVIEW_SET)
        asked = select(func.count(col(Assignment.id))).where(col(Assignment.review_set_id).in_(of_set))
        return session.exec(asked).one()


def _show_to_everybody(engine: Engine) -> None:
    """The first review is reported and the study released, as it stood before anything was revised.

    What follows is not: so the public reads of metrics that were checked, of one that is contested, and of a new wording
    that no reported review has checked yet.
    """
    mark_reported(engine, STUDY)
    release_study(engine, STUDY, transcripts=True)
    err.print("  the first review is reported, and the public sees the study")


def _say_imported(run: RunFolderImported, ratings: RatingsImported) -> None:
    found = {name: tally.read for name, tally in run.tallies.items()}
    err.print(
        f"  {found['conversations']} conversations, {found['judgments']} judgments, {ratings.n_read} labels:"
        f" {'imported' if run.changed or ratings.changed else 'there already'}"
    )


def _link(engine: Engine, role: Role, *, settings: Settings) -> str:
    add_person(engine, PEOPLE[role], role=role, panel=Panel.EXTERNAL if role is Role.EXPERT else None)
    return invite(
        engine, PEOPLE[role], base_url=settings.base_url, valid=timedelta(days=_LINK_DAYS), reusable=True
    )


def _serve(port: int, settings: Settings) -> None:
    from app.server import serve  # the server's libraries load while the person already reads their links

    serve(port=port, settings=settings)

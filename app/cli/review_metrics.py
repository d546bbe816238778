"""What concerns the metrics of a study: the registered plan, a second review after a revision, and the change log."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.review_stages import NOT_SAVED, AsJson, More, OneMore, Study, Yes, agreed
from app.cli.review_tables import print_preview
from app.cli.terminal import err, open_database, out
from reviews.contested.change_log import as_markdown, change_log
from reviews.contested.revisions import draft_second_review
from reviews.design.review_sets import save
from reviews.evidence import read_tables
from reviews.members.raters import parse_rater, read_raters
from reviews.registration import AnalysisPlan, deviations, read_plan, register, registrations
from reviews.rubrics import DEFAULT


def register_plan(
    study: Study,
    plan: Annotated[
        Path | None,
        typer.Option(
            help="A YAML file; what it leaves out, and without one all, is what the audit does by itself."
        ),
    ] = None,
    because: Annotated[str, typer.Option(help="Why an earlier plan is amended.")] = "",
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Fix the analysis plan before labels come in. It cannot be undone; a later plan amends it and both stay."""
    engine = open_database()
    wanted = read_plan(plan) if plan else AnalysisPlan()
    err.print(f"The analysis plan of {study}, SHA-256 {wanted.content_hash}.", markup=False)
    if not yes and not agreed("Register it?"):
        raise typer.Exit(NOT_SAVED)
    kept = register(engine, study, wanted, because=because)
    when = "before any label" if kept.before_labels else f"with {kept.labels_then} labels in"
    said = "is registered" if kept.newly else "was registered already"
    err.print(f"It {said}, {when}, on {kept.created_at:%Y-%m-%d %H:%M} UTC.", markup=False)
    departs = deviations(registrations(engine, study), read_tables(engine, study))
    for one in departs:
        err.print(f"Deviation: {one.what}: planned {one.planned}; found {one.found}.", markup=False)
    if as_json:
        out.print_json(
            data={
                "study": study,
                "revision": kept.revision,
                "plan_hash": kept.plan_hash,
                "labels_then": kept.labels_then,
                "newly": kept.newly,
                "deviations": [[one.what, one.planned, one.found] for one in departs],
            }
        )


def again(
    study: Study,
    old: Annotated[
        int, typer.Option("--from", help="The metric version that was revised, by its number on the page.")
    ],
    new: Annotated[int, typer.Option("--to", help="The version that follows it.")],
    overlap: Annotated[int, typer.Option(help="How many raters see each item.")] = 3,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same plan.")] = 0,
    slug: Annotated[str | None, typer.Option("--set", help="The name of the review set.")] = None,
    rater: OneMore = None,
    raters: More = None,
    rubric: Annotated[str, typer.Option(help="What raters are asked.")] = DEFAULT,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Put the items of a revised metric before experts again, blind, under the new wording."""
    engine = open_database()
    named = [*(parse_rater(text) for text in rater or []), *(read_raters(raters) if raters else [])]
    draft = draft_second_review(
        engine, study, old=old, new=new, overlap=overlap, seed=seed, raters=named, slug=slug, rubric=rubric
    )
    if not as_json:
        print_preview(draft)
    if not yes and not agreed("Open this review set?"):
        raise typer.Exit(NOT_SAVED)
    saved = save(engine, draft)
    state = "opened" if saved.added else "already_open"
    err.print(
        f"The review set {saved.slug} is open: {saved.asked} assignments. `impactbench review links {study}` makes links.",
        markup=False,
    )
    if as_json:
        out.print_json(data={**draft.summary, "state": state})


def changes(
    study: Study,
    file: Annotated[
        Path | None, typer.Option("--out", help="The Markdown file to write; without it, it is printed.")
    ] = None,
) -> None:
    """The change log of a study's metrics: what was decided and published."""
    text = as_markdown(study, change_log(open_database(), study))
    if file is None:
        out.print(text, markup=False, highlight=False, soft_wrap=True)
        return
    file.write_text(text, encoding="utf-8", newline="\n")
    err.print(f"{file} is written.", markup=False)

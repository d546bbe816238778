"""`impactbench review`: open a review set, hand out its links, see how far it is."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from sqlalchemy import Engine

from app.cli import leaks, review_metrics, review_stages
from app.cli.review_stages import NOT_SAVED, AsJson, Study, Yes, agreed
from app.cli.review_tables import print_preview, print_progress, print_recognition
from app.cli.terminal import err, open_database, out
from impactbench.settings import Settings
from impactbench.store import frames
from reviews.blindness.recognition import recognition
from reviews.design.progress import count_slots
from reviews.design.review_sets import STRATA, draft_review_set, save
from reviews.design.slots import last_seen, seen_at
from reviews.gold import parse_gold
from reviews.members.invitations import VALID_DAYS, invite, raters_to_invite, raters_without_way_in
from reviews.members.raters import parse_rater, read_raters
from reviews.rubrics import DEFAULT, names

cli = typer.Typer(help="Put conversations before experts.", no_args_is_help=True)

cli.command("extend")(review_stages.extend)
cli.command("release")(review_stages.release)
cli.command("lock")(review_stages.lock)
cli.command("mark-reported")(review_stages.report)
cli.command("plan")(review_stages.plan)
cli.command("register")(review_metrics.register_plan)
cli.command("again")(review_metrics.again)
cli.command("changes")(review_metrics.changes)
cli.command("leaks")(leaks.leaks)
cli.command("exposures")(leaks.exposures)


@cli.callback()
def _group() -> None:
    """Put conversations before experts."""


@cli.command("open")
def open_set(
    study: Study,
    overlap: Annotated[int, typer.Option(help="How many raters see each item.")] = 3,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same plan.")] = 0,
    items: Annotated[int | None, typer.Option(help="Items in all; without it, every conversation.")] = None,
    per_stratum: Annotated[int | None, typer.Option(help="Items of each stratum.")] = None,
    strata: Annotated[str, typer.Option(help="What strata are made of, with commas.")] = ",".join(STRATA),
    slug: Annotated[str | None, typer.Option("--set", help="The name of the review set.")] = None,
    rater: Annotated[
        list[str] | None,
        typer.Option(
            help="NAME:internal or NAME:external; may be repeated. Without any, every active expert rates."
        ),
    ] = None,
    raters: Annotated[
        Path | None,
        typer.Option(
            help="A CSV file with the columns rater,panel and, where wanted, expertise, languages, conflicts, max_items."
        ),
    ] = None,
    metric: Annotated[list[str] | None, typer.Option(help="Keep to this metric; may be repeated.")] = None,
    run: Annotated[list[str] | None, typer.Option(help="Keep to this run; may be repeated.")] = None,
    judge: Annotated[str | None, typer.Option(help="Whose kinship and verdict the strata mean.")] = None,
    own_family: Annotated[
        float, typer.Option(help="How many times the usual share models of the judge's family get.")
    ] = 1.0,
    balance_verdicts: Annotated[
        bool,
        typer.Option("--balance-verdicts", help="As many items that the judge passes as fails, by metric."),
    ] = False,
    pilot: Annotated[
        str | None,
        typer.Option(help="An earlier set: strata where the judge erred less evenly there get more items."),
    ] = None,
    match_expertise: Annotated[
        bool,
        typer.Option("--match-expertise", help="Raters of known expertise get metrics placed in it alone."),
    ] = False,
    language: Annotated[
        str, typer.Option(help="Of the conversations, as a tag such as de, where their run does not say.")
    ] = "",
    cap: Annotated[int | None, typer.Option(help="The most items of any rater.")] = None,
    repeats: Annotated[
        float, typer.Option(help="The share of each rater's items shown to them again, unmarked.")
    ] = 0.0,
    gold: Annotated[
        str | None,
        typer.Option(
            help="The share of gold items, such as 0.06, or a CSV file with run,conversation,verdict."
        ),
    ] = None,
    gold_from: Annotated[
        str | None, typer.Option(help="An earlier set whose unanimous items are the gold items.")
    ] = None,
    rubric: Annotated[
        str, typer.Option(help=f"What raters are asked: {', '.join(names())}, or the path of a YAML file.")
    ] = DEFAULT,
    yes: Yes = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the preview and save nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Sample conversations, assign them blind and balanced, show the plan, and open the review set."""
    engine = open_database()
    named = [parse_rater(text) for text in rater or []]
    gold_share, source = parse_gold(gold, gold_from)
    draft = draft_review_set(
        engine,
        study,
        overlap=overlap,
        seed=seed,
        slug=slug,
        strata=[name.strip() for name in strata.split(",") if name.strip()],
        items=items,
        per_stratum=per_stratum,
        metrics=metric or [],
        runs=run or [],
        raters=[*named, *(read_raters(raters) if raters else [])],
        judge=judge,
        own_family=own_family,
        balance_verdicts=balance_verdicts,
        pilot=pilot,
        match_expertise=match_expertise,
        language=language,
        cap=cap,
        repeats=repeats,
        gold=gold_share,
        gold_from=source,
        rubric=rubric,
    )
    if not as_json:
        print_preview(draft)
    if dry_run:
        _report(draft.summary, "dry_run", as_json=as_json)
        err.print("A dry run: nothing is saved.")
        return
    if not yes and not agreed("Open this review set?"):
        _report(draft.summary, "not_saved", as_json=as_json)
        raise typer.Exit(NOT_SAVED)
    saved = save(engine, draft)
    links = _invite(engine, raters_without_way_in(engine, list(draft.plan.loads)))
    if saved.added:
        err.print(f"The review set {saved.slug} is open: {saved.added} assignments.", markup=False)
    else:
        err.print(
            f"The review set {saved.slug} was open already with this plan: nothing was added.", markup=False
        )
    _report(draft.summary, "opened" if saved.added else "already_open", links=links, as_json=as_json)
    if len(links) < len(draft.plan.loads):
        err.print(
            f"Raters without a line here have a way in already; `impactbench review links {study}` makes new ones.",
            markup=False,
        )


@cli.command()
def links(study: Study, yes: Yes = False, as_json: AsJson = False) -> None:
    """Make new personal links for the raters of a study's review sets. Links not used yet stop working."""
    engine = open_database()
    raters = raters_to_invite(engine, study)
    err.print(
        f"New links for {', '.join(raters)}: links that they have not used yet stop working; devices stay signed in.",
        markup=False,
    )
    if not yes and not agreed("Make new links?"):
        raise typer.Exit(NOT_SAVED)
    _report({"study": study}, "invited", links=_invite(engine, raters), as_json=as_json)


@cli.command()
def status(study: Study, as_json: AsJson = False) -> None:
    """How far the review sets of a study are, by rater and by metric."""
    engine = open_database()
    raters_to_invite(engine, study)
    counts = count_slots(frames.assignments(engine, study, slots=True), frames.metrics(engine))
    by_metric = counts.by_metric
    by_rater = counts.by_rater.assign(seen_at=seen_at(counts.by_rater["rater"], last_seen(engine)))
    recognised = recognition(engine, study)
    if not as_json:
        print_progress(by_rater, by_metric)
        print_recognition(recognised)
        return
    tables = {"raters": by_rater, "metrics": by_metric}
    records = {name: json.loads(t.to_json(orient="records", date_format="iso")) for name, t in tables.items()}
    blinding = [
        {
            "review_set": one.review_set,
            "asked": one.asked,
            "answered": one.answered,
            "remarks": list(one.remarks),
        }
        for one in recognised
    ]
    out.print_json(data={"study": study, **records, "recognised": blinding})


def _invite(engine: Engine, raters: Sequence[str]) -> dict[str, str]:
    base_url = Settings().base_url
    return {rater: invite(engine, rater, base_url=base_url) for rater in raters}


def _report(
    summary: dict[str, Any], state: str, *, as_json: bool, links: dict[str, str] | None = None
) -> None:
    if as_json:
        out.print_json(data={**summary, "state": state, "links": links or {}})
    elif links:
        out.print(f"Personal links, valid for {VALID_DAYS} days; send each to its rater alone:")
        for rater, link in links.items():
            out.print(f"{rater}  {link}", markup=False)

"""What comes before and after a review set is opened: planning, more raters, abandoned slots, the lock."""

import re
import sys
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

import typer
from sqlalchemy import Engine

from app.cli.review_tables import print_outlook, print_rows
from app.cli.terminal import err, open_database, out
from impactbench.settings import Settings
from reviews.assignment import Member, PlanRefused
from reviews.design.adaptive import draft_adaptive
from reviews.design.extension import draft_extension, save_extension
from reviews.design.planning import Question, StudyPlan, foresee
from reviews.design.release import draft_releases, save_release
from reviews.locking import lock_set, mark_reported
from reviews.members.invitations import VALID_DAYS, invite, raters_without_way_in
from reviews.members.raters import parse_rater, read_raters

NOT_SAVED = 2
_UNITS = {"h": "hours", "d": "days", "w": "weeks"}

Study = Annotated[str, typer.Argument(help="The study, by its slug.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
OneMore = Annotated[
    list[str] | None, typer.Option(help="Somebody to draw on besides, as NAME:panel; may be repeated.")
]
More = Annotated[Path | None, typer.Option(help="A CSV file of raters to draw on besides.")]


def extend(
    study: Study,
    slug: Annotated[str, typer.Option("--set", help="The review set.")],
    to: Annotated[int, typer.Option(help="How many raters each item is to have.")],
    adaptive: Annotated[
        bool,
        typer.Option("--adaptive", help="Only where the first labels show need, by lot with known chances."),
    ] = False,
    rater: OneMore = None,
    raters: More = None,
    yes: Yes = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be opened and save nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Open the slots that are missing to raters who have not had the item. Nothing that is done is touched."""
    engine = open_database()
    draw = draft_adaptive if adaptive else draft_extension
    draft = draw(engine, study, slug, to=to, raters=_named(rater, raters))
    summary = draft.summary
    if not as_json:
        out.print(
            f"{summary['items_extended']} of {summary['items']} items of {slug} get more raters, up to {to}: "
            f"{summary['assignments']} new assignments.",
            markup=False,
        )
        print_rows("New items", ["rater", "items"], [[name, n] for name, n in summary["raters"].items()])
        _print_shortages(summary["shortages"])
        for note in summary["notes"]:
            out.print(note, markup=False)
    state, links = "dry_run", {}
    if not draft.seats:
        state = "nothing_to_open"
        err.print("There is nothing to open: nothing was changed.")
    elif not dry_run:
        if not yes and not agreed("Open these slots?"):
            state = "not_saved"
        else:
            added = save_extension(engine, draft)
            state, links = "opened", _invite(engine, draft.loads)
            err.print(f"{added} slots are open.")
    _finish(summary, state, links=links, as_json=as_json)


def release(
    study: Study,
    older_than: Annotated[str, typer.Option(help="How long a rater has not been seen: 36h, 14d or 2w.")],
    slug: Annotated[str | None, typer.Option("--set", help="Keep to this review set.")] = None,
    rater: OneMore = None,
    raters: More = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Give up slots whose raters have gone, and open them to others. What they answer all the same is kept."""
    engine = open_database()
    drafts = draft_releases(
        engine, study, older_than=parse_duration(older_than), slug=slug, raters=_named(rater, raters)
    )
    summary: dict[str, Any] = {"study": study, "sets": [draft.summary for draft in drafts]}
    if not as_json:
        for one in summary["sets"]:
            out.print(
                f"{one['review_set']}: {one['released']} slots of raters not seen since {one['not_seen_since'][:16]} "
                f"would be given up, and {one['replaced']} opened to others.",
                markup=False,
            )
            print_rows("Given up", ["rater", "slots"], [[name, n] for name, n in one["raters"].items()])
            _print_shortages(one["shortages"])
    waiting = [draft for draft in drafts if not draft.abandoned.empty]
    links: dict[str, str] = {}
    if not waiting:
        state = "nothing_to_release"
        err.print("No slot has been abandoned that long: nothing was changed.")
    elif not yes and not agreed("Give these slots up?"):
        state = "not_saved"
    else:
        state = "released"
        released = sum(save_release(engine, draft) for draft in waiting)
        links = _invite(engine, {seat.rater: 1 for draft in waiting for seat in draft.seats})
        err.print(f"{released} slots are given up.")
    _finish(summary, state, links=links, as_json=as_json)


def lock(
    study: Study,
    slug: Annotated[str, typer.Option("--set", help="The review set.")],
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """End the collecting of a review set. This cannot be undone."""
    engine = open_database()
    if not yes:
        err.print(
            f"Once {slug} is locked nobody can rate or revise in it, and no slot can be added or given up. A "
            "lock cannot be undone.",
            markup=False,
        )
        if not agreed("Lock it?"):
            raise typer.Exit(NOT_SAVED)
    locked = lock_set(engine, study, slug)
    said = "is locked" if locked.newly else "has been locked before"
    err.print(
        f"The review set {slug} {said} since {locked.locked_at:%Y-%m-%d %H:%M} UTC: {locked.answered} answers are in, "
        f"{locked.waiting} that were asked for did not come and will not be asked for any more.",
        markup=False,
    )
    if as_json:
        out.print_json(
            data={
                "study": study,
                "review_set": slug,
                "locked_at": locked.locked_at.isoformat(),
                "newly": locked.newly,
                "answered": locked.answered,
                "waiting": locked.waiting,
            }
        )


def report(study: Study, yes: Yes = False, as_json: AsJson = False) -> None:
    """Put on record that the results of a study are public: its raters may then see what was hidden from them."""
    engine = open_database()
    if not yes:
        err.print(
            f"From then on the raters of {study} may see the judge's verdicts, the models' names and what others said. This "
            "cannot be undone.",
            markup=False,
        )
        if not agreed("Mark its results as public?"):
            raise typer.Exit(NOT_SAVED)
    reported = mark_reported(engine, study)
    said = (
        f"now public: {', '.join(reported.newly)}" if reported.newly else "public before; nothing has changed"
    )
    err.print(f"The results of {study} are {said}.", markup=False)
    if as_json:
        out.print_json(
            data={"study": study, "review_sets": list(reported.sets), "newly": list(reported.newly)}
        )


def plan(
    raters: Annotated[int, typer.Option(help="How many people will rate.")],
    hours: Annotated[float, typer.Option(help="The hours of each.")],
    metrics: Annotated[int, typer.Option(help="How many metrics are to be reviewed.")],
    overlap: Annotated[int, typer.Option(help="How many raters see each item.")] = 3,
    items_per_hour: Annotated[float, typer.Option(help="How many items a rater does in an hour.")] = 15,
    question: Annotated[
        list[Question] | None, typer.Option(help="What is to be found out; may be repeated. All by default.")
    ] = None,
    kappa: Annotated[float, typer.Option(help="Agreement beyond chance that is expected.")] = 0.6,
    pass_share: Annotated[float, typer.Option(help="The share that experts are expected to pass.")] = 0.6,
    accuracy: Annotated[float, typer.Option(help="The judge's expected accuracy.")] = 0.85,
    own_share: Annotated[float, typer.Option(help="The share of items of the judge's own family.")] = 0.33,
    spare_percent: Annotated[float, typer.Option(help="Of the time, for repeats and gold items.")] = 0.0,
    as_json: AsJson = False,
) -> None:
    """What a study would show, before anybody is invited: half-widths of intervals and the smallest effects found."""
    if items_per_hour <= 0:
        raise PlanRefused(f"items-per-hour {items_per_hour:g} is no pace; give more than 0, such as 15")
    outlook = foresee(
        StudyPlan(
            raters=raters,
            hours=hours,
            metrics=metrics,
            overlap=overlap,
            minutes=60 / items_per_hour,
            spare_percent=spare_percent,
            kappa=kappa,
            pass_share=pass_share,
            accuracy=accuracy,
            own_share=own_share,
            questions=tuple(question or Question),
        )
    )
    if not as_json:
        print_outlook(outlook)
        return
    out.print_json(
        data={
            "items": outlook.items,
            "items_per_metric": outlook.items_per_metric,
            "items_per_rater": outlook.items_per_rater,
            "labels": outlook.labels,
            "prospects": [
                {
                    "question": prospect.question,
                    "scope": prospect.scope,
                    "items": prospect.items,
                    "margin": prospect.margin,
                    "because": prospect.because,
                }
                for prospect in outlook.prospects
            ],
            "by_overlap": [
                {"overlap": overlap, "items": items, "agreement_half_width": width}
                for overlap, items, width in outlook.by_overlap
            ],
            "notes": list(outlook.notes),
        }
    )


def parse_duration(text: str) -> timedelta:
    """A time such as 14d.

    >>> parse_duration("36h")
    datetime.timedelta(days=1, seconds=43200)
    """
    found = re.fullmatch(r"(\d{1,4})([hdw])", text.strip())
    if found is None:
        raise PlanRefused(f"{text!r} is no time; write a number and h, d or w, such as 36h, 14d or 2w")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def agreed(question: str) -> bool:
    """Whether the person says yes; where nobody can be asked, no."""
    if not sys.stdin.isatty():
        err.print("Nothing is saved, for there is nobody to ask here: add --yes to save without asking.")
        return False
    answer = typer.confirm(question, default=False, err=True)
    if not answer:
        err.print("Nothing is saved.")
    return answer


def _named(rater: list[str] | None, raters: Path | None) -> list[Member]:
    return [*(parse_rater(text) for text in rater or []), *(read_raters(raters) if raters else [])]


def _invite(engine: Engine, loads: dict[str, int]) -> dict[str, str]:
    """Links for those of the raters with new items who have no way in."""
    busy = [name for name, items in loads.items() if items]
    base_url = Settings().base_url
    return {name: invite(engine, name, base_url=base_url) for name in raters_without_way_in(engine, busy)}


def _print_shortages(shortages: list[dict[str, Any]]) -> None:
    if shortages:
        print_rows(
            "Short of raters",
            ["item", "metric", "lacks", "because"],
            [[s["item"], s["metric"], s["lack"], s["because"]] for s in shortages],
        )


def _finish(summary: dict[str, Any], state: str, *, links: dict[str, str], as_json: bool) -> None:
    if as_json:
        out.print_json(data={**summary, "state": state, "links": links})
    elif links:
        out.print(f"Personal links, valid for {VALID_DAYS} days; send each to its rater alone:")
        for name, link in links.items():
            out.print(f"{name}  {link}", markup=False)
    if state == "not_saved":
        raise typer.Exit(NOT_SAVED)

"""`impactbench run`: from metrics to judged conversations, in as many starts as it takes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from sqlalchemy import Engine

from app.cli.review_stages import NOT_SAVED, AsJson, Yes, agreed
from app.cli.run_progress import RunProgress
from app.cli.run_studies import STOPPED, compare, coverage, simulators
from app.cli.run_tables import print_arms, print_estimate, print_failures, print_status
from app.cli.terminal import err, open_database, out
from impactbench.judging import kinship_note, same_family_note
from impactbench.metrics import Suite, load_suite
from impactbench.pipeline_studies.arms import arms_of
from impactbench.providers.choosing import SCRIPTED
from impactbench.runs.design import DesignRefused, RunDesign, read_design, read_scenarios
from impactbench.runs.estimates import Estimate, estimate, in_all
from impactbench.runs.execution import Progress
from impactbench.runs.plan import RunPlan, plan_run
from impactbench.runs.start import FINISHED, INTERRUPTED, price_list, start_run
from impactbench.runs.state import Left, count_left, find_run, read_state
from impactbench.runs.status import run_statuses
from impactbench.runs.version_log import write_version_log
from impactbench.settings import Settings
from impactbench.store import run_frames
from reviews.simulator_selection import RUBRIC

cli = typer.Typer(help="Simulate conversations and judge them.", no_args_is_help=True)
cli.command("compare")(compare)
cli.command("coverage")(coverage)
cli.command("simulators")(simulators)

File = Annotated[Path, typer.Argument(help="The study file: metrics, targets, simulator, judges.")]
Engine_ = Annotated[
    str, typer.Option("--engine", help="asyncio (this machine) or ray (a cluster); else as the file says.")
]
Provider = Annotated[
    str, typer.Option("--provider", help="litellm, or scripted:FILE.yaml to rehearse without models.")
]


@cli.callback()
def _group() -> None:
    """Simulate conversations and judge them. What is done stays done: the same command goes on where it stopped."""


@cli.command()
def start(
    file: File,
    yes: Yes = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the estimate and call nothing.")] = False,
    engine: Engine_ = "",
    provider: Provider = "",
    as_json: AsJson = False,
) -> None:
    """Plan, estimate, ask, and do what is left. Ctrl-C ends it cleanly; the same command goes on.

    A study of the pipeline itself is a run an arm, one after another.
    """
    arms = arms_of(_design(file, engine=engine, provider=provider))
    _start_all(file, arms, yes=yes, dry_run=dry_run, as_json=as_json)


@cli.command()
def resume(
    file: File, yes: Yes = False, engine: Engine_ = "", provider: Provider = "", as_json: AsJson = False
) -> None:
    """Go on with a run that was started before; refuses where there is none."""
    design = _design(file, engine=engine, provider=provider)
    arms = arms_of(design)
    if all(find_run(open_database(), arm) is None for arm in arms):
        raise DesignRefused(
            f"{file}: the run {design.run!r} of the study {design.study.slug!r} was never started:"
            f" `impactbench run start {file}` starts it"
        )
    _start_all(file, arms, yes=yes, dry_run=False, as_json=as_json)


@cli.command()
def status(
    study: Annotated[str, typer.Argument(help="Keep to this study.")] = "", as_json: AsJson = False
) -> None:
    """What is running, left, failed and spent."""
    database = open_database()
    statuses = run_statuses(database, study=study)
    if as_json:
        out.print_json(data=[_status_json(one) for one in statuses])
        return
    if not statuses and study and (others := sorted({one.study for one in run_statuses(database)})):
        err.print(
            f"No run of {study!r} was started here; there are runs of {', '.join(others)}.", markup=False
        )
    elif not statuses:
        out.print("No run was started here yet: impactbench run start FILE")
    for one in statuses:
        print_status(one)
        print_failures(
            run_frames.open_failures(database, one.run_id), run_frames.unscored(database, one.run_id)
        )


@cli.command()
def changes(
    output: Annotated[Path | None, typer.Option(help="Write to this file, such as CHANGES.md.")] = None,
) -> None:
    """Every version of every metric that has changed: what differs, why, and what is due again because of it."""
    text = write_version_log(open_database())
    if output is None:
        out.print(text, markup=False)
        return
    output.write_text(text, encoding="utf-8")
    err.print(f"The log of versions is in {output}.", markup=False)


@dataclass(frozen=True, slots=True)
class _Due:
    """A run before it is started: what is planned, what is left of it, and what that will take."""

    plan: RunPlan
    suite: Suite
    left: Left
    expected: Estimate


def _start_all(file: Path, arms: Sequence[RunDesign], *, yes: bool, dry_run: bool, as_json: bool) -> None:
    """Every arm in turn, once somebody has agreed to what they take together."""
    database = open_database()
    if not all(arm.provider.startswith(SCRIPTED) for arm in arms):
        err.print("Looking at models, keys and prices ...")
    due = _look_at(database, arms)
    if any(one.left.units for one in due):
        _show(due, dry_run=dry_run, as_json=as_json)
        if dry_run:
            return
        if not yes and not agreed("Start, and spend this?"):
            raise typer.Exit(NOT_SAVED)
    for number, one in enumerate(due, 1):
        if len(due) > 1:
            err.print(f"Arm {number} of {len(due)}: {one.plan.design.run}", markup=False)
        _start(database, file, one, as_json=as_json, alone=len(due) == 1)
    if not dry_run:
        _say_how_to_compare(arms)


def _look_at(database: Engine, arms: Sequence[RunDesign]) -> list[_Due]:
    """The arms in turn; what an earlier one writes, a later one finds."""
    due = []
    there: set[str] = set()
    for design in arms:
        plan, suite = _planned(design)
        prices = price_list(design)
        left, spent = _left(database, plan)
        expected = estimate(plan, left, spent=spent, price_of=prices, there=there)
        due.append(_Due(plan, suite, left, expected))
        if len(arms) > 1:
            there.update(unit.key for unit in plan.scenarios())
    return due


def _show(due: Sequence[_Due], *, dry_run: bool, as_json: bool) -> None:
    """What is left to do, for whoever is to agree to it."""
    together = in_all([one.expected for one in due])
    if not as_json and len(due) == 1:
        print_estimate(due[0].plan, due[0].left, due[0].expected)
    elif not as_json:
        print_arms([(one.plan, one.left, one.expected) for one in due], together)
    for note in dict.fromkeys(note for one in due for note in _notes(one.plan)):
        err.print(f"Note: {note}.", markup=False)
    if not dry_run:
        return
    err.print("A dry run: nothing was called and nothing is saved.")
    if as_json and len(due) == 1:
        out.print_json(data=_plan_json(due[0]))
    elif as_json:
        out.print_json(data={"arms": [_plan_json(one) for one in due], **_expected_json(together)})


def _notes(plan: RunPlan) -> Iterator[str]:
    if plan.counts.judgment:
        design = plan.design
        notes = (kinship_note(design.judges, design.targets), same_family_note(design.judges))
        yield from filter(None, notes)


def _start(database: Engine, file: Path, due: _Due, *, as_json: bool, alone: bool) -> None:
    if not due.left.units:
        _report(due.plan, None, FINISHED, as_json=as_json)
        err.print("Nothing is left: every unit of this plan is done.")
        return
    with RunProgress(due.left) as showing:
        done, because = start_run(
            database,
            due.plan,
            suite=due.suite,
            state_dir=Settings().state_dir,
            on_progress=showing,
        )
    _report(due.plan, done, because, as_json=as_json)
    _what_next(file, due.plan, done, because, alone=alone)


def _design(file: Path, *, engine: str, provider: str) -> RunDesign:
    design = read_design(file)
    changed: dict[str, Any] = {}
    if engine:
        changed["engine"] = engine
    if provider:
        changed["provider"] = provider
    if changed:
        design = RunDesign.model_validate(design.model_dump() | changed)
    return design


def _planned(design: RunDesign) -> tuple[RunPlan, Suite]:
    suite = load_suite(design.suite)
    written = (
        read_scenarios(design.scenarios, ages=design.ages, turns=design.simulation.turns)
        if design.scenarios
        else ()
    )
    return plan_run(design, suite, written=written), suite


def _left(database: Engine, plan: RunPlan) -> tuple[Left, Any]:
    run_id = find_run(database, plan.design)
    if run_id is None:
        run_id = 0
    return count_left(plan, read_state(database, run_id)), run_frames.spent(database, run_id)


def _report(plan: RunPlan, done: Progress | None, because: str, *, as_json: bool) -> None:
    if as_json:
        counts = {} if done is None else _progress_json(done)
        study = plan.design.study.slug
        out.print_json(data={"study": study, "run": plan.design.run, "ended": because, **counts})
    elif done is not None:
        out.print(
            f"{done.conversations:,} conversations ({done.incomplete:,} incomplete), {done.judgments:,} judgments"
            f" ({done.unscored:,} unscored); {done.failed:,} units failed; {done.spending.in_words} in all."
        )


def _what_next(file: Path, plan: RunPlan, done: Progress, because: str, *, alone: bool) -> None:
    study = plan.design.study.slug
    if because == FINISHED and not done.failed:
        if alone:
            err.print(f"Finished. Next: impactbench review open {study}", markup=False)
        return
    if because == FINISHED:
        err.print(
            f"Everything else is done. {done.failed:,} units failed, the last because: {done.last_failure}",
            markup=False,
        )
    else:
        err.print("Interrupted." if because == INTERRUPTED else f"Not finished: {because}.", markup=False)
    err.print(f"What is done is kept. To go on: impactbench run start {file}", markup=False)
    raise typer.Exit(STOPPED)


def _say_how_to_compare(arms: Sequence[RunDesign]) -> None:
    study = arms[0].study.slug
    if len({arm.simulator.slug for arm in arms}) > 1:
        err.print(f"All arms are done. Next: impactbench review open {study} --rubric {RUBRIC}", markup=False)
    elif len(arms) > 1:
        err.print(f"All arms are done. Next: impactbench run compare {study}", markup=False)


def _progress_json(done: Progress) -> dict[str, Any]:
    return {
        "conversations": done.conversations,
        "incomplete": done.incomplete,
        "judgments": done.judgments,
        "unscored": done.unscored,
        "failed": done.failed,
        "calls": done.spending.calls,
        "tokens": done.spending.tokens,
        "usd": done.spending.usd,
        "unpriced_calls": done.spending.unpriced,
    }


def _plan_json(due: _Due) -> dict[str, Any]:
    return {
        "study": due.plan.design.study.slug,
        "run": due.plan.design.run,
        "planned": due.plan.counts.as_dict(),
        "left": {"conversation": due.left.conversations, "judgment": due.left.judgments},
        **_expected_json(due.expected),
    }


def _expected_json(expected: Estimate) -> dict[str, Any]:
    return {
        "calls": expected.calls,
        "tokens": expected.tokens,
        "usd": expected.usd,
        "unpriced": list(expected.unpriced),
        "minutes": expected.minutes,
    }


def _status_json(one: Any) -> dict[str, Any]:
    names = [name for name in one.__slots__ if name not in ("run_id", "started_at")]
    return {name: getattr(one, name) for name in names} | {
        "started_at": one.started_at.isoformat(),
        "finished": one.finished,
    }

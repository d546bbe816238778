"""`impactbench run compare`, `coverage`, `simulators`: what studies of the pipeline itself have found."""

from typing import Annotated, Any

import typer

from app.cli.review_stages import NOT_SAVED, AsJson, Yes, agreed
from app.cli.review_tables import print_rows
from app.cli.terminal import err, open_database, out
from impactbench.pipeline_studies.ablation import compare_arms
from impactbench.pipeline_studies.coverage_effects import coverage_effects
from impactbench.pipeline_studies.objective_coverage import Coverage, ask_auditor, asked_before, audits_of
from impactbench.pipeline_studies.paired_differences import Paired
from impactbench.runs.design import Budget
from impactbench.runs.spending import Spending
from impactbench.runs.unit_keys import ModelCall
from reviews.simulator_selection import rate_simulators
from validation.results import Estimate

STOPPED = 3
"""The exit code where something is left to do."""
Study = Annotated[str, typer.Argument(help="The study, by its slug.")]


def compare(study: Study, as_json: AsJson = False) -> None:
    """What switching parts of the simulation off changes: paired differences in pass rate, and verdicts that are lost."""
    effects = compare_arms(open_database(), study)
    if as_json:
        out.print_json(
            data=[
                {
                    "judge": one.judge,
                    "off": one.off,
                    "metrics": one.group,
                    "pass_rate": one.passed and _paired(one.passed),
                    "without_verdict": _paired(one.without_verdict),
                }
                for one in effects
            ]
        )
        return
    print_rows(
        "Pass rate with all on, and with one part off (the failure rate changes as much, the other way)",
        ["judge", "off", "metrics", "pairs", "all on", "off", "difference"],
        [
            [one.judge, one.off, one.group, *(_cells(one.passed) if one.passed else ["0", "", "", "no pair"])]
            for one in effects
        ],
    )
    print_rows(
        "Conversations without a verdict: incomplete or unscored",
        ["judge", "off", "metrics", "pairs", "all on", "off", "difference"],
        [[one.judge, one.off, one.group, *_cells(one.without_verdict)] for one in effects],
    )
    _notes([one.passed.difference for one in effects if one.passed])


def coverage(
    study: Study,
    auditor: Annotated[
        str, typer.Option(help="The model that reads the conversations, as litellm names it.")
    ],
    provider: Annotated[
        str, typer.Option(help="litellm, or scripted:FILE.yaml to rehearse without models.")
    ] = "litellm",
    budget_usd: Annotated[
        float | None, typer.Option(help="Stop before this command has cost so many dollars.", min=0.0)
    ] = None,
    budget_calls: Annotated[
        int | None, typer.Option(help="Stop after so many calls of this command.", min=1)
    ] = None,
    budget_tokens: Annotated[
        int | None, typer.Option(help="Stop before this command has used so many tokens.", min=1)
    ] = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Which objectives conversations reach, by an auditor model, with parts of the simulation on and off."""
    database = open_database()
    model = ModelCall(model=auditor)
    _, audits = audits_of(database, study, auditor=model)
    before = asked_before(database, audits)
    tokens = sum(len(said.content) for audit in audits for said in audit.request.messages) / 4
    err.print(
        f"{len(audits):,} conversations, of which {before:,} were asked about before; for the others a call each, of about"
        f" {tokens / max(1, len(audits)):,.0f} tokens."
    )
    asking = before < len(audits)
    if asking and not yes and not agreed("Ask the auditor?"):
        raise typer.Exit(NOT_SAVED)
    spending = Spending(budget=Budget(usd=budget_usd or None, calls=budget_calls, tokens=budget_tokens))
    with err.status("Asking the auditor ...") as shown:
        found = ask_auditor(
            database,
            study,
            auditor=model,
            provider=provider,
            spending=spending,
            on_progress=lambda: shown.update(f"Asking the auditor: {spending.in_words} ..."),
        )
    if not len(found.audited):
        _say_what_is_missing(found, spending)
        raise typer.Exit(STOPPED)
    effects = coverage_effects(found.audited)
    if as_json:
        out.print_json(
            data={
                "audited": len(found.audited),
                "unread": found.unread,
                "failed": found.failed,
                "left": found.left,
                "calls": spending.calls,
                "tokens": spending.tokens,
                "usd": spending.usd,
                "effects": [
                    {
                        "off": one.off,
                        "reached": _paired(one.reached),
                        "disagreement": one.disagreement and _paired(one.disagreement),
                    }
                    for one in effects
                ],
            }
        )
        return
    columns = ["off", "pairs", "all on", "off", "difference"]
    print_rows("Share of objectives reached", columns, [[one.off, *_cells(one.reached)] for one in effects])
    print_rows(
        "How often two conversations of a scenario differ in an objective",
        columns,
        [[one.off, *_cells(one.disagreement)] for one in effects if one.disagreement],
    )
    _notes([one.reached.difference for one in effects])
    _say_what_is_missing(found, spending)
    if found.left or found.failed:
        raise typer.Exit(STOPPED)


def _say_what_is_missing(found: Coverage, spending: Spending) -> None:
    err.print(
        f"{len(found.audited):,} conversations audited, {found.unread:,} answers unreadable, {found.failed:,} calls failed;"
        f" {spending.in_words} by this command.",
        markup=False,
    )
    if found.left:
        err.print(
            f"The budget had no room for {found.left:,} conversations. What was answered is kept: the same command goes on."
        )
    if found.failed:
        err.print(f"The last because: {found.last_failure} The same command asks again.", markup=False)


def simulators(study: Study, as_json: AsJson = False) -> None:
    """Candidate simulators by how real they seem to raters, standardised within each rater."""
    found = rate_simulators(open_database(), study)
    if as_json:
        out.print_json(
            data={
                "raters": found.raters,
                "left_out": list(found.left_out),
                "not_rated": found.not_rated,
                "simulators": [
                    {
                        "simulator": str(one.group),
                        "mean": _number(one.mean),
                        "behind_best": one.behind_best and _number(one.behind_best),
                        "raw_mean": one.raw_mean,
                        "ratings": one.n_ratings,
                    }
                    for one in found.simulators
                ],
            }
        )
        return
    print_rows(
        "Realism in standard deviations of each rater's own scores; 0 is their average",
        ["simulator", "ratings", "scenarios", "mean of ten", "standardised", "behind the best"],
        [
            [
                one.group,
                one.n_ratings,
                one.mean.n,
                f"{one.raw_mean:.2f}",
                _shown(one.mean),
                _shown(one.behind_best) if one.behind_best else "",
            ]
            for one in found.simulators
        ],
    )
    err.print(f"{found.raters} raters; {found.not_rated:,} items wait for a score.")
    if found.left_out:
        err.print(f"Left out, since all their scores are equal: {', '.join(found.left_out)}.", markup=False)
    _notes([one.mean for one in found.simulators])


def _cells(paired: Paired) -> list[str]:
    return [f"{paired.pairs:,}", *(_shown(one) for one in (paired.before, paired.after, paired.difference))]


def _shown(estimate: Estimate) -> str:
    if estimate.value is None:
        return str(estimate.undefined_because).replace("_", " ")
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.3f}"
    return f"{estimate.value:.3f} [{estimate.low:.3f}, {estimate.high:.3f}]"


def _paired(paired: Paired) -> dict[str, Any]:
    return {
        "pairs": paired.pairs,
        "before": _number(paired.before),
        "after": _number(paired.after),
        "difference": _number(paired.difference),
    }


def _number(estimate: Estimate) -> dict[str, Any]:
    return {
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "n": estimate.n,
        "clusters": estimate.n_clusters,
        "method": estimate.method,
        "undefined_because": estimate.undefined_because,
        "notes": list(estimate.notes),
    }


def _notes(estimates: list[Estimate]) -> None:
    for note in dict.fromkeys(note for one in estimates for note in one.notes):
        err.print(f"Note: {note}.", markup=False)
    for method in dict.fromkeys(one.method for one in estimates if one.method):
        err.print(f"Intervals: {method}.", markup=False)

"""The estimate of a run and its status, as tables for people."""

from collections.abc import Sequence

import pandas as pd

from app.cli.review_tables import print_rows
from app.cli.terminal import out
from app.wording import count
from impactbench.runs.estimates import Estimate
from impactbench.runs.plan import RunPlan
from impactbench.runs.state import Left
from impactbench.runs.status import RunStatus

_LONGEST = 20


def print_estimate(plan: RunPlan, left: Left, expected: Estimate) -> None:
    """What a run will take: by purpose and model, and in all."""
    counts = plan.counts
    out.print(
        f"Run {plan.design.run} of {plan.design.study.slug}: {len(plan.metrics):,} metrics, {counts.scenario:,} scenarios,"
        f" {counts.conversation:,} conversations, {counts.judgment:,} judgments;"
        f" left are {left.conversations:,} conversations and {left.judgments:,} judgments.",
        markup=False,
    )
    _print_calls(expected)


def print_arms(arms: Sequence[tuple[RunPlan, Left, Estimate]], together: Estimate) -> None:
    """What each arm of a study will take, what all of them will, and what the calls are for."""
    study = arms[0][0].design.study.slug
    out.print(
        f"{count(len(arms), 'arm')} of {study}, a run each, one after another:"
        f" left are {sum(left.conversations for _, left, _ in arms):,} conversations and"
        f" {sum(left.judgments for _, left, _ in arms):,} judgments.",
        markup=False,
    )
    rows: list[list[object]] = [
        [
            plan.design.run,
            f"{left.units:,}",
            f"{expected.calls:,}",
            f"{expected.tokens:,}",
            _dollars(expected),
            _duration(expected.minutes) if left.units else "done",
        ]
        for plan, left, expected in arms
    ]
    rows.append(
        [
            "in all",
            f"{sum(left.units for _, left, _ in arms):,}",
            f"{together.calls:,}",
            f"{together.tokens:,}",
            _dollars(together),
            _duration(together.minutes),
        ]
    )
    print_rows(
        "What is left of each arm, about",
        ["arm", "units", "calls", "tokens", "US dollars", "time"],
        rows,
    )
    _print_calls(together)


def _print_calls(expected: Estimate) -> None:
    print_rows(
        "Calls that are left, about",
        ["for", "model", "calls", "tokens in", "tokens out", "US dollars", "from"],
        [
            [
                line.purpose.replace("_", " "),
                line.model,
                f"{line.calls:,}",
                f"{line.tokens_in:,}",
                f"{line.tokens_out:,}",
                "price not known" if line.usd is None else f"{line.usd:,.2f}",
                "calls so far" if line.observed else "typical lengths",
            ]
            for line in expected.lines
        ],
    )
    money = f"${_dollars(expected)}"
    if expected.unpriced:
        unknown = f"the price of {', '.join(expected.unpriced)} is not known"
        money = f"{_dollars(expected) if _any_priced(expected) else 'dollars not known'} ({unknown})"
    out.print(
        f"In all about {expected.calls:,} calls, {expected.tokens:,} tokens, {money},"
        f" {_duration(expected.minutes)}.",
        markup=False,
    )


def _dollars(expected: Estimate) -> str:
    if not expected.unpriced:
        return f"{expected.usd:,.2f}"
    return f"at least ${expected.usd:,.2f}" if _any_priced(expected) else "price not known"


def _any_priced(expected: Estimate) -> bool:
    return any(line.usd is not None for line in expected.lines)


def print_status(status: RunStatus) -> None:
    """Where a run stands."""
    out.print(f"{status.study}, {status.run}: {status.sentence}", markup=False)
    out.print(
        f"  {status.conversations:,} conversations ({status.incomplete:,} incomplete),"
        f" {status.judgments:,} judgments ({status.unscored:,} unscored)",
        markup=False,
    )
    lost = (
        f"; {status.lost:,} calls were lost with the process that made them and may have been paid for twice"
        if status.lost
        else ""
    )
    out.print(
        f"  {status.calls:,} calls ({status.retries:,} retries), {status.tokens:,} tokens, {status.money_in_words},"
        f" {count(status.starts, 'start')}{lost}",
        markup=False,
    )


def print_failures(failures: pd.DataFrame, unscored: pd.DataFrame) -> None:
    """What failed and why, and why judgments have no verdict."""
    if len(failures):
        print_rows(
            "Failed, and due again",
            ["stage", "what", "model", "kind", "tries", "retries", "why"],
            [
                [
                    str(row[name])
                    for name in ("stage", "subject", "model", "kind", "tries", "retries", "because")
                ]
                for row in failures.head(_LONGEST).to_dict("records")
            ],
        )
        if len(failures) > _LONGEST:
            out.print(f"  and {len(failures) - _LONGEST:,} more")
    if len(unscored):
        print_rows(
            "Unscored",
            ["judgments", "why"],
            [
                [f"{row['judgments']:,}", str(row["reason"])]
                for row in unscored.head(_LONGEST).to_dict("records")
            ],
        )


def _duration(minutes: float) -> str:
    if minutes < 1:
        return "less than a minute"
    if minutes < 90:
        return f"{minutes:.0f} minutes"
    return f"{minutes / 60:.1f} hours"

"""The estimate of a run and its status, as tables for people."""

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
    unknown = f"the price of {', '.join(expected.unpriced)} is not known"
    money = f"${expected.usd:,.2f}"
    if expected.unpriced:
        priced = any(line.usd is not None for line in expected.lines)
        money = f"at least {money} ({unknown})" if priced else f"dollars not known ({unknown})"
    out.print(
        f"In all about {expected.calls:,} calls, {expected.tokens:,} tokens, {money},"
        f" {_duration(expected.minutes)}.",
        markup=False,
    )


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

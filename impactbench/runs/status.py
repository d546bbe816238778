"""Where the runs of a database stand: running, left, failed, spent."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pandas as pd
from sqlalchemy import Engine

from impactbench.llm import FailureKind
from impactbench.runs.lock import is_busy
from impactbench.store import run_frames


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStatus:
    """A run as its latest start left it, or as it goes on right now."""

    run_id: int
    study: str
    run: str
    starts: int
    started_at: datetime
    running: bool
    ended_because: str
    """Empty while it runs; where it ended without a word, as a power cut ends it, that is said."""
    conversations_left: int
    judgments_left: int
    conversations: int
    incomplete: int
    judgments: int
    unscored: int
    failed: int
    """Units that failed and are due again."""
    calls: int
    tokens: int
    usd: float
    unpriced: int
    """Calls whose price is not known."""
    retries: int
    lost: int
    """Calls under which a process died: each may have been paid for twice."""

    @property
    def finished(self) -> bool:
        return not self.running and not self.conversations_left and not self.judgments_left

    @property
    def money(self) -> str:
        """What it cost in dollars; calls without a known price make it a lower bound, or unknown."""
        if self.unpriced and self.unpriced == self.calls:
            return "not known"
        return f"{'at least ' if self.unpriced else ''}{self.usd:,.2f}"

    @property
    def money_in_words(self) -> str:
        """What it cost, in a sentence."""
        if self.unpriced and self.unpriced == self.calls:
            return "at a price that is not known"
        unknown = f", and {self.unpriced:,} calls at a price that is not known" if self.unpriced else ""
        return f"${self.usd:,.2f}{unknown}"

    @property
    def sentence(self) -> str:
        """Where it stands, in a sentence."""
        left = f"{self.conversations_left:,} conversations and {self.judgments_left:,} judgments are left"
        failed = f"; {self.failed:,} units failed and are due again" if self.failed else ""
        if self.running:
            return f"Running: {left}{failed}."
        if self.finished:
            return f"Finished: {self.conversations:,} conversations, {self.judgments:,} judgments."
        return f"Not running ({self.ended_because}): {left}{failed}."


def run_statuses(engine: Engine, *, study: str = "") -> list[RunStatus]:
    """The status of every run that was started here, the latest first.

    Args:
        engine: the database.
        study: keep to this study; all of them where empty.
    """
    launches = run_frames.launches(engine)
    if study:
        launches = launches[launches["study"] == study]
    latest = launches.drop_duplicates("run_id")
    starts = launches.groupby("run_id")["number"].max()
    return [_status(engine, row, starts=int(starts[row["run_id"]])) for row in latest.to_dict("records")]


def _status(engine: Engine, row: dict[Any, Any], *, starts: int) -> RunStatus:
    run_id = int(row["run_id"])
    made = run_frames.made(engine, run_id)
    since = run_frames.made(engine, run_id, since=row["started_at"])
    spent = run_frames.spent(engine, run_id)
    planned = row["planned"]
    incomplete = _units(since, "conversation", "incomplete")
    running = is_busy(engine, run_id)
    because = row["ended_because"] or "it was ended from outside, without a word"
    judged = incomplete * int(planned.get("judgments_each", 0)) + _units(since, "judgment")
    attempts = run_frames.failures(engine, run_id)
    return RunStatus(
        run_id=run_id,
        study=str(row["study"]),
        run=str(row["run"]),
        starts=starts,
        started_at=row["started_at"],
        running=running,
        ended_because="" if running else because,
        conversations_left=max(0, int(planned.get("conversations_left", 0)) - _units(since, "conversation")),
        judgments_left=max(0, int(planned.get("judgments_left", 0)) - judged),
        conversations=_units(made, "conversation"),
        incomplete=_units(made, "conversation", "incomplete"),
        judgments=_units(made, "judgment"),
        unscored=_units(made, "judgment", "unscored"),
        failed=len(run_frames.open_failures(engine, run_id)),
        calls=int(spent["calls"].sum()),
        tokens=int(spent["tokens_in"].sum() + spent["tokens_out"].sum()),
        usd=float(spent["cost_usd"].fillna(0).sum()),
        unpriced=int(spent["unpriced"].sum()),
        retries=int(spent["retries"].sum()),
        lost=int((attempts["kind"] == FailureKind.LOST).sum()),
    )


def _units(frame: pd.DataFrame, stage: str, status: str = "") -> int:
    of_stage = frame[frame["stage"] == stage]
    return int((of_stage[of_stage["status"] == status] if status else of_stage)["units"].sum())

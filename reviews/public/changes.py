"""What was decided about the metrics of a study and made known, as the public may read it."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Engine

from reviews.contested.change_log import Entry, Follower, change_log
from reviews.public.results import PublicResults


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicDecision:
    """One decision. Who decided and who dissented is not part of it."""

    metric: str
    """benchmark/metric."""
    name: str
    version: int
    decision: str
    because: str
    followers: tuple[Follower, ...]
    sentence: str
    """What experts and judge said before and after; empty where nothing is known or may be told."""
    note: str
    published_at: datetime


def public_decisions(engine: Engine, results: PublicResults) -> list[PublicDecision]:
    """The decisions that were made known, newest first.

    While experts are at work on the study what others said of the earlier wording is left out: it would sway them.
    """
    known = {"/".join(key) for key in results.metrics}
    return [
        _public(entry, figures=not results.study.under_review)
        for entry in change_log(engine, results.study.slug)
        if entry.metric in known
    ]


def _public(entry: Entry, *, figures: bool) -> PublicDecision:
    told = ""
    if figures and entry.figures:
        told = f"{entry.figures['sentence']} {entry.figures['items']} items were rated under both versions."
    return PublicDecision(
        metric=entry.metric,
        name=entry.name,
        version=entry.version,
        decision=entry.decision,
        because=entry.because if figures else "",
        followers=entry.followers,
        sentence=told,
        note=entry.note if figures else "",
        published_at=entry.published_at,
    )

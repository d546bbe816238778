"""A review set as it is planned: the request that opens it, as a draft and as a command, and the draft in words."""

import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Engine
from sqlmodel import col, select

from impactbench.domain import Panel
from impactbench.store.engine import reading
from impactbench.store.tables import ReviewSet, Study
from reviews.assignment import Member
from reviews.design.drafts import ReviewSetDraft
from reviews.design.pace import ITEMS_PER_SESSION
from reviews.design.planning import StudyPlan
from reviews.design.review_sets import draft_review_set
from reviews.design.sampling_frame import sampling_frame
from reviews.gold import USUAL_SHARE

REPEATS = 0.1
"""The share of hidden repeats where a plan has time to spare for them."""
_SPARE_FOR_REPEATS = 10
"""Percent of a rater's time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """A review set that somebody means to open: as a draft and as a command it is the same one."""

    study: str
    overlap: int
    items: int | None
    """None where every conversation is asked about."""
    seed: int
    raters: tuple[Member, ...]
    repeats: float = 0.0
    gold_from: str | None = None
    """An earlier set whose unanimous items are the gold items."""

    def draft(self, engine: Engine) -> ReviewSetDraft:
        """The sample and who would rate what; nothing is stored.

        Raises:
            PlanRefused: it cannot be opened like this.
        """
        return draft_review_set(
            engine,
            self.study,
            overlap=self.overlap,
            seed=self.seed,
            items=self.items,
            raters=self.raters,
            repeats=self.repeats,
            gold=USUAL_SHARE if self.gold_from else 0.0,
            gold_from=self.gold_from,
        )

    @property
    def command(self) -> str:
        """What opens it from the command line.

        >>> ada = Member(name="Ada B", panel=Panel.EXTERNAL)
        >>> Opening(study="winter", overlap=2, items=9, seed=0, raters=(ada,), repeats=0.1).command
        "impactbench review open winter --overlap 2 --seed 0 --items 9 --repeats 0.1 --rater 'Ada B:external'"
        """
        words = ["impactbench", "review", "open", self.study, "--overlap", self.overlap, "--seed", self.seed]
        words += [] if self.items is None else ["--items", self.items]
        words += ["--repeats", self.repeats] if self.repeats else []
        words += ["--gold-from", self.gold_from] if self.gold_from else []
        for member in self.raters:
            words += ["--rater", f"{member.name}:{member.panel or ''}"]
        return shlex.join(map(str, words))


def opening_of(
    engine: Engine,
    plan: StudyPlan,
    study: str,
    *,
    known: Sequence[Member] = (),
    panels: Sequence[Panel] = tuple(Panel),
    seed: int = 0,
    gold_from: str | None = None,
) -> Opening:
    """What a plan comes to in a study that has conversations already.

    Args:
        plan: how many raters, items and so on.
        study: its slug.
        known: raters who are in already; newcomers without a name yet make up the number of the plan.
        panels: of the newcomers, in turn.
        seed: of the sample and the assignment.
        gold_from: an earlier set whose unanimous items are the gold items.
    """
    there = len(sampling_frame(engine, study, metrics=(), runs=()))
    missing = max(0, plan.raters - len(known))
    newcomers = [
        Member(name=f"newcomer-{number:0{len(str(missing))}}", panel=panels[(number - 1) % len(panels)])
        for number in range(1, missing + 1)
    ]
    return Opening(
        study=study,
        overlap=plan.overlap,
        items=plan.items if plan.items < there else None,
        seed=seed,
        raters=(*known, *newcomers),
        repeats=_repeats(plan),
        gold_from=gold_from,
    )


def unplaced(plan: StudyPlan) -> Opening:
    """What a plan comes to before its study is here: every active expert would rate."""
    return Opening(
        study="STUDY",
        overlap=plan.overlap,
        items=plan.items,
        seed=0,
        raters=(),
        repeats=_repeats(plan),
    )


def _repeats(plan: StudyPlan) -> float:
    return REPEATS if plan.spare_percent >= _SPARE_FOR_REPEATS else 0.0


def set_names(engine: Engine, study: str) -> list[str]:
    """The review sets of a study in the order in which they were opened, those that came as an import too."""
    query = select(ReviewSet.slug).join(Study, col(Study.id) == ReviewSet.study_id).where(Study.slug == study)
    with reading(engine) as session:
        return list(session.exec(query.order_by(col(ReviewSet.id))))


def headline(draft: ReviewSetDraft) -> str:
    """What would be opened, in one sentence."""
    summary = draft.summary
    return (
        f"Review set {summary['review_set']} of {summary['study']}: {summary['items']} of "
        f"{summary['conversations']} conversations, {summary['overlap']} raters each, "
        f"{summary['assignments']} assignments, seed {summary['seed']}."
    )


def balance_in_words(draft: ReviewSetDraft) -> list[str]:
    """How evenly items, pairs, hidden repeats and gold items are spread, whether all raters are connected, and the time."""
    summary = draft.summary
    loads, pairs = summary["loads"], summary["pairs"]
    connected = "all raters are connected" if summary["connected"] else "the raters are not all connected"
    teams = Counter(len(team) for team in draft.plan.teams.values())
    said = [
        "; ".join(f"{items} items have {raters} raters each" for raters, items in sorted(teams.items()))
        + ".",
        f"Items per rater {_range(loads['min'], loads['max'])}; items in common {_range(pairs['min'], pairs['max'])}, "
        f"{pairs['with_common_items']} of {pairs['all']} pairs meet; {connected}.",
        _beside(draft),
        f"Hours at {summary['minutes_per_item']:.1f} minutes an item ({summary['minutes_source']}); a session is "
        f"{ITEMS_PER_SESSION} items.",
    ]
    return [sentence for sentence in said if sentence]


def _beside(draft: ReviewSetDraft) -> str:
    """The coverage of what is shown besides the sample, for whoever has least and most of it."""
    parts = []
    for name, words in (("repeats", "hidden repeats"), ("gold", "gold items")):
        of_raters = [int(rater[name]) for rater in draft.summary["raters"]]
        if any(of_raters):
            parts.append(
                f"{words} {_range(min(of_raters), max(of_raters))} a rater, {sum(of_raters)} answers in all"
            )
    said = "; ".join(parts)
    return said and f"{said[0].upper()}{said[1:]}."


def _range(low: int, high: int) -> str:
    """From least to most.

    >>> _range(3, 3), _range(3, 5)
    ('3', '3 to 5')
    """
    return f"{low}" if low == high else f"{low} to {high}"

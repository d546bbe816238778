"""Gold items: conversations that experts agreed on before, unmarked among the others, to see whether a rater is there.

The expected verdict is kept with the design of the review set and never leaves it for a rater's page.
"""

import csv
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from sqlalchemy import Engine
from sqlmodel import col, select

from impactbench.domain import AssignmentReason, LabelStatus, LabelVerdict
from impactbench.store.engine import reading
from impactbench.store.tables import ReviewSet, Study
from reviews.assignment import Plan, PlanRefused, Seat
from reviews.contested.contest import metric_statuses
from reviews.design.sampling_frame import SEPARATOR
from reviews.evidence import random_core, read_tables
from validation.contested import Status
from validation.intervals import wilson
from validation.planning import honeypot_alert
from validation.results import Estimate

USUAL_SHARE = 0.06
MOST_SHARE = 0.2
FEWEST_EXPERTS = 2
_CLASSES = (LabelVerdict.PASS, LabelVerdict.FAIL)
_COLUMNS = ["run", "conversation", "verdict"]


def gold_of_set(engine: Engine, study: str, slug: str, frame: pd.DataFrame) -> pd.DataFrame:
    """The conversations of a set that all experts passed or all failed, with `verdict`: the rows of the frame.

    At least two experts must have said so; contested metrics have no gold items.

    Raises:
        PlanRefused: there is no such set, or it does not have both passes and fails.
    """
    tables = read_tables(engine, study)
    own = random_core(tables.assignments)
    own = own[(own["review_set"] == slug) & (own["repeat"] == 0)]
    if own.empty:
        known = ", ".join(sorted(set(tables.assignments["review_set"]))) or "none yet"
        raise PlanRefused(f"there is no review set {slug!r} to take gold items from; there are: {known}")
    contested = {
        one.metric
        for one in metric_statuses(replace(tables, assignments=own))
        if one.status is Status.CONTESTED
    }
    submitted = own[(own["status"] == LabelStatus.SUBMITTED) & ~own["metric_version_id"].isin(contested)]
    said = submitted.groupby("conversation_id")["label"].agg(["nunique", "count", "first"])
    agreed = said[
        (said["nunique"] == 1) & (said["count"] >= FEWEST_EXPERTS) & said["first"].isin(list(_CLASSES))
    ]
    verdicts = agreed["first"].map(str).to_dict()
    gold = frame[frame["conversation_id"].isin(verdicts)]
    gold = gold.assign(verdict=gold["conversation_id"].map(verdicts))
    return _require_both(gold, f"the review set {slug!r}")


def gold_of_file(path: Path, frame: pd.DataFrame) -> pd.DataFrame:
    """The conversations of a CSV file with the columns run, conversation and verdict: the rows of the frame.

    Raises:
        PlanRefused: the file cannot be read, names an unknown conversation or verdict, or lacks passes or fails.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            rows = [(reader.line_num, row) for row in reader]
            columns = reader.fieldnames or []
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise PlanRefused(f"{path} cannot be read as a CSV file in UTF-8: {error}") from error
    for column in _COLUMNS:
        if column not in columns:
            raise PlanRefused(f"{path} has no column {column!r}; its first line must be {','.join(_COLUMNS)}")
    known = set(frame["key"])
    verdicts: dict[str, str] = {}
    for line, row in rows:
        run, conversation, verdict = ((row[column] or "").strip() for column in _COLUMNS)
        key = run + SEPARATOR + conversation
        if key not in known:
            raise PlanRefused(
                f"{path}, line {line}: there is no complete conversation {conversation!r} in a run {run!r}"
            )
        if verdict not in list(_CLASSES):
            raise PlanRefused(f"{path}, line {line}: verdict {verdict!r} is neither pass nor fail")
        if key in verdicts:
            raise PlanRefused(f"{path}, line {line}: the conversation {conversation!r} is named twice")
        verdicts[key] = verdict
    gold = frame[frame["key"].isin(verdicts)]
    return _require_both(gold.assign(verdict=gold["key"].map(verdicts)), str(path))


def parse_gold(gold: str | None, gold_from: str | None) -> tuple[float, str | Path | None]:
    """The share of gold items and where they are from, as a person gives them: a share, or a file.

    Raises:
        PlanRefused: a file and a set at once.

    >>> parse_gold("0.1", "first"), parse_gold(None, "first"), parse_gold(None, None)
    ((0.1, 'first'), (0.06, 'first'), (0.0, None))
    """
    if gold is None:
        return (USUAL_SHARE if gold_from else 0.0), gold_from
    try:
        return float(gold), gold_from
    except ValueError:
        if gold_from is not None:
            raise PlanRefused(
                f"gold items come from the file {gold} or from the set {gold_from!r}, not both; leave one out"
            ) from None
        return USUAL_SHARE, Path(gold)


def require_gold_share(share: float) -> None:
    if not 0 < share <= MOST_SHARE:
        raise PlanRefused(
            f"gold {share:g} is no share of a rater's items; give one above 0 and at most {MOST_SHARE:g}, such as 0.06"
        )


def add_gold(
    plan: Plan,
    gold: pd.DataFrame,
    *,
    share: float,
    barred: Collection[tuple[str, str]],
    scenario_of: Mapping[str, str],
    seed: int,
) -> Plan:
    """The plan with gold items among each rater's own, as many passes as fails where there are.

    Nobody is given a gold item that they have had, may not have, or rate in this set anyway. None comes first, nor
    beside an item of its own base scenario where that can be helped.

    Args:
        barred: (item, rater) pairs that may not be.
        scenario_of: the base scenario of every item, sampled or gold.
    """
    require_gold_share(share)
    generator = np.random.default_rng([seed, 3])
    of_class = {
        verdict: sorted(gold.loc[gold["verdict"] == verdict, "key"]) for verdict in map(str, _CLASSES)
    }
    seats: list[Seat] = []
    short = []
    for member in plan.members:
        own = [seat for seat in plan.seats if seat.rater == member.name]
        has = {seat.item for seat in own}
        wanted = int(plan.loads[member.name] * share + 0.5)
        free = {
            verdict: [key for key in keys if key not in has and (key, member.name) not in barred]
            for verdict, keys in of_class.items()
        }
        dealt = _deal(free, wanted, generator)
        if len(dealt) < wanted:
            short.append(member.name)
        for key in dealt:
            gaps = range(1, len(own) + 1)
            apart = [
                gap
                for gap in gaps
                if all(scenario_of[seat.item] != scenario_of[key] for seat in own[gap - 1 : gap + 1])
            ]
            own.insert(
                int(generator.choice(apart or gaps)), Seat(rater=member.name, position=0, item=key, gold=True)
            )
        seats += [replace(seat, position=position) for position, seat in enumerate(own, start=1)]
    notes = (
        (f"{', '.join(short)}: fewer gold items than asked for, since these raters have had the others.",)
        if short
        else ()
    )
    return replace(plan, seats=tuple(seats), notes=(*plan.notes, *notes))


def _deal(free: Mapping[str, Sequence[str]], wanted: int, generator: np.random.Generator) -> list[str]:
    """Keys at random, from the classes in turn as far as both last."""
    piles = [[keys[place] for place in generator.permutation(len(keys)).tolist()] for keys in free.values()]
    if generator.integers(2):
        piles.reverse()
    dealt: list[str] = []
    while len(dealt) < wanted and any(piles):
        for pile in piles:
            if pile and len(dealt) < wanted:
                dealt.append(pile.pop())
    return dealt


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldResult:
    """How a rater did on gold items."""

    rater: str
    given: int
    accuracy: Estimate
    """Share of those answered with a verdict that have the expected one; borderline is not it."""
    alert: bool
    """Whether it is all but sure that the rater gets fewer than 7 in 10 right."""


def gold_results(engine: Engine, study: str, assignments: pd.DataFrame) -> list[GoldResult]:
    """Each rater who was given gold items; those who raise an alert first.

    Args:
        engine: the database, where the expected verdicts are.
        study: the study.
        assignments: those of its `StudyTables`.
    """
    gold = assignments[assignments["reason"] == AssignmentReason.GOLD]
    if gold.empty:
        return []
    with reading(engine) as session:
        designs = dict(
            session.exec(
                select(ReviewSet.slug, ReviewSet.design)
                .join(Study, col(Study.id) == ReviewSet.study_id)
                .where(Study.slug == study, ReviewSet.origin == "design")
            ).all()
        )
    results = []
    for rater, own in gold.groupby("rater", sort=True):
        answered = own[own["status"] == LabelStatus.SUBMITTED]
        right = sum(
            label == designs[slug]["gold"].get(run + SEPARATOR + conversation)
            for slug, run, conversation, label in zip(
                *(answered[name] for name in ("review_set", "run", "conversation", "label")), strict=True
            )
        )
        results.append(
            GoldResult(
                rater=str(rater),
                given=len(own),
                accuracy=wilson(right, len(answered)),
                alert=bool(len(answered)) and honeypot_alert(right, n=len(answered)),
            )
        )
    return sorted(results, key=lambda result: (not result.alert, result.rater))


def leave_out_sampled(gold: pd.DataFrame, sampled: Collection[str]) -> pd.DataFrame:
    """The gold items that are none of the sample.

    Raises:
        PlanRefused: there are not both passes and fails among them.
    """
    return _require_both(gold[~gold["key"].isin(sampled)], "what is left of the gold items beside the sample")


def _require_both(gold: pd.DataFrame, where: str) -> pd.DataFrame:
    counts = gold["verdict"].value_counts()
    if lacking := [verdict for verdict in _CLASSES if not counts.get(verdict)]:
        raise PlanRefused(
            f"{where} has no gold item to {lacking[0]}: there must be conversations that all experts pass and others "
            "that all fail, or whoever says the same of everything would look right"
        )
    return gold

"""What a study of a given size could show, worked out before anybody is invited.

Everything here follows from assumed values, so these are plain numbers and not estimates.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from math import floor, sqrt

from reviews.assignment import PlanRefused
from reviews.design.pace import ASSUMED_MINUTES, ITEMS_PER_SESSION
from validation.intervals import Z
from validation.overlap import kappa_half_width, kappa_variance
from validation.planning import design_effect, detectable_self_preference, share_half_width

SEED = 20_261_020
RESAMPLES = 2_000
_OVERLAPS = (2, 3, 4, 5)


class Question(StrEnum):
    """What a study is to find out."""

    AGREEMENT = "agreement"
    JUDGE_KAPPA = "judge-kappa"
    ACCURACY = "accuracy"
    SELF_PREFERENCE = "self-preference"


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyPlan:
    """A study as one means to run it, with what is assumed of the world."""

    raters: int
    hours: float
    """Of each rater, hidden repeats and gold items included."""
    metrics: int
    overlap: int = 3
    minutes: float = ASSUMED_MINUTES
    """That an item takes."""
    spare_percent: float = 0.0
    """Of each rater's time, for hidden repeats and gold items."""
    kappa: float = 0.6
    """Assumed agreement beyond chance, of experts and of the judge with them."""
    pass_share: float = 0.6
    """Assumed share that experts pass."""
    accuracy: float = 0.85
    """Assumed share of items on which the judge agrees with the experts."""
    own_share: float = 0.33
    """Share of items whose target is of the judge's own family."""
    false_passes: float = 0.15
    """Assumed share of other families' failures that the judge passes."""
    intraclass: float = 0.05
    """Assumed likeness of items of one metric; 0 where they are as good as independent."""
    questions: tuple[Question, ...] = tuple(Question)

    @property
    def items(self) -> int:
        """Items that the raters have time for."""
        seats = self.raters * self.items_per_rater
        return seats // self.overlap

    @property
    def items_per_rater(self) -> int:
        return floor(self.hours * 60 / self.minutes * (1 - self.spare_percent / 100) + 1e-9)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prospect:
    """What would come out for one question over one group of items."""

    question: Question
    scope: str
    """All metrics together, or each metric alone."""
    items: int
    margin: float | None
    """Half the width of the 95% interval; for self-preference the smallest difference found with 80% power."""
    because: str
    """Why there is none, or the margin in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """What a study plan comes to."""

    plan: StudyPlan
    items: int
    items_per_metric: int
    items_per_rater: int
    sessions_per_rater: int
    labels: int
    prospects: tuple[Prospect, ...]
    by_overlap: tuple[tuple[int, int, float | None], ...]
    """(overlap, items, half-width of the experts' agreement) for the same hours."""
    notes: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """The answer in one sentence."""
        pooled = next((p for p in self.prospects if p.question is Question.AGREEMENT), None)
        size = (
            f"{self.plan.raters} raters with {self.plan.hours:g} hours each can rate {self.items} items "
            f"{self.plan.overlap} times over, about {self.items_per_metric} a metric"
        )
        if pooled is None or pooled.margin is None:
            return f"{size}."
        return f"{size}; agreement among them would be known to ±{pooled.margin:.2f}."


def foresee(plan: StudyPlan) -> Outlook:
    """What would come out of a study.

    Raises:
        PlanRefused: a number that cannot be, or no time for a single item.
    """
    _require_possible(plan)
    per_metric = plan.items // plan.metrics
    effect = design_effect(items_per_cluster=max(plan.items / plan.metrics, 1), intraclass=plan.intraclass)
    prospects = []
    for question in plan.questions:
        prospects.append(_prospect(question, plan, items=plan.items, effect=effect, scope="all metrics"))
        if plan.metrics > 1:
            prospects.append(_prospect(question, plan, items=per_metric, effect=1.0, scope="each metric"))
    return Outlook(
        plan=plan,
        items=plan.items,
        items_per_metric=per_metric,
        items_per_rater=plan.items_per_rater,
        sessions_per_rater=-(-plan.items_per_rater // ITEMS_PER_SESSION),
        labels=plan.items * plan.overlap,
        prospects=tuple(prospects),
        by_overlap=_by_overlap(plan, effect),
        notes=tuple(_notes(plan, per_metric)),
    )


def _by_overlap(plan: StudyPlan, effect: float) -> tuple[tuple[int, int, float | None], ...]:
    seats = plan.raters * plan.items_per_rater
    return tuple(
        (overlap, seats // overlap, _agreement_margin(plan, seats // overlap, effect, overlap))
        for overlap in _OVERLAPS
        if overlap <= plan.raters
    )


def _prospect(question: Question, plan: StudyPlan, *, items: int, effect: float, scope: str) -> Prospect:
    effective = items / effect
    margin: float | None
    match question:
        case Question.AGREEMENT:
            margin = _agreement_margin(plan, items, effect, plan.overlap)
            why = (
                "with one rater an item there is no agreement to measure"
                if plan.overlap < 2
                else "too few items to show both verdicts"
            )
            words = "experts' α or Fleiss' κ"
        case Question.JUDGE_KAPPA:
            variance = kappa_variance(plan.kappa, prevalence=plan.pass_share)
            margin = Z * sqrt(variance / effective) if items else None
            why, words = "no item", "κ of the judge with the experts"
        case Question.ACCURACY:
            margin = share_half_width(plan.accuracy, n=items, effect=effect) if items else None
            why, words = "no item", "accuracy of the judge"
        case Question.SELF_PREFERENCE:
            margin = (
                detectable_self_preference(
                    plan.false_passes,
                    items=items,
                    fail_share=1 - plan.pass_share,
                    own_share=plan.own_share,
                    effect=effect,
                )
                if items
                else None
            )
            why = "too few failures of own and other families: even the largest difference could go unseen"
            words = "excess of false passes for its own family"
    if margin is None:
        said = why
    elif question is Question.SELF_PREFERENCE:
        said = f"{words} from {margin:.2f} on (80% power)"
    else:
        said = f"{words} ±{margin:.2f}"
    return Prospect(question=question, scope=scope, items=items, margin=margin, because=said)


def _agreement_margin(plan: StudyPlan, items: int, effect: float, overlap: int) -> float | None:
    effective = int(items / effect)
    if overlap < 2 or effective < 2:
        return None
    return kappa_half_width(
        plan.kappa,
        prevalence=plan.pass_share,
        raters=overlap,
        items=effective,
        seed=SEED,
        resamples=RESAMPLES,
    )


def _notes(plan: StudyPlan, per_metric: int) -> Iterator[str]:
    if per_metric < 9:
        yield (
            f"About {per_metric} items a metric: below the 9 that a metric needs to be assessed on its own. Fewer "
            "metrics, or extra raters where the first stage shows need, would help."
        )
    if plan.metrics < 10:
        yield f"Pooled intervals take metrics as the unit: with {plan.metrics} of them they are rough."
    if plan.items_per_rater > ITEMS_PER_SESSION:
        yield f"Each rater has {plan.items_per_rater} items: more than one session of {ITEMS_PER_SESSION}."


def _require_possible(plan: StudyPlan) -> None:
    for name, value in (("raters", plan.raters), ("metrics", plan.metrics), ("overlap", plan.overlap)):
        if value < 1:
            raise PlanRefused(f"{name} {value} is no number to plan with; give 1 or more")
    for name in ("hours", "minutes"):
        if not 0 < getattr(plan, name) < 10_000:
            raise PlanRefused(f"{name} {getattr(plan, name):g} is no time to plan with; give more than 0")
    if plan.overlap > plan.raters:
        raise PlanRefused(
            f"overlap {plan.overlap} needs {plan.overlap} raters and there are {plan.raters}; give at most {plan.raters}"
        )
    for name in ("pass_share", "accuracy", "own_share", "false_passes"):
        if not 0 < getattr(plan, name) < 1:
            raise PlanRefused(
                f"{name.replace('_', '-')} {getattr(plan, name):g} is no share; give one between 0 and 1"
            )
    if not 0 <= plan.spare_percent < 100:
        raise PlanRefused(
            f"spare-percent {plan.spare_percent:g} is out of range; give 0 or more, and below 100"
        )
    for name in ("kappa", "intraclass"):
        if not 0 <= getattr(plan, name) < 1:
            raise PlanRefused(
                f"{name.replace('_', '-')} {getattr(plan, name):g} is out of range; give 0 or more, and below 1"
            )
    if not plan.items:
        raise PlanRefused(
            f"{plan.raters} raters with {plan.hours:g} hours each have no time for one item with overlap {plan.overlap}; "
            "give more hours or raters, or a smaller overlap"
        )

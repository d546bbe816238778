"""Who may see what, and when: the one table for pages, commands and exports to ask.

A cell that is not in the table is closed. What a role may never see here it must not be sent in any form.
"""

from collections.abc import Iterable
from enum import IntEnum, StrEnum
from types import MappingProxyType

from sqlalchemy import Engine
from sqlmodel import col, select

from impactbench.domain import ImpactBenchError, Role
from impactbench.store.engine import reading
from impactbench.store.tables import Assignment, ReviewSet, Study


class Viewer(StrEnum):
    """Somebody who looks, as what they are then: a maintainer who adjudicates is an adjudicator and sees less."""

    EXPERT = "expert"
    METHODOLOGIST = "methodologist"
    MAINTAINER = "maintainer"
    ADJUDICATOR = "adjudicator"
    PUBLIC = "public"

    @classmethod
    def of(cls, role: Role | None) -> "Viewer":
        """The viewer behind a role; whoever has none is the public."""
        return cls.PUBLIC if role is None else cls(role.value)


class Stage(IntEnum):
    """Where a review set stands; the order is that of time."""

    DESIGN = 0
    """Nobody has been asked yet."""
    COLLECTING = 1
    """Experts rate."""
    LOCKED = 2
    """Nothing more is rated; ties are settled, figures computed."""
    REPORTED = 3
    """The results are public."""


class Seen(StrEnum):
    """What there is to see."""

    TRANSCRIPT = "transcript"
    """With the names of models hidden, but for whoever may see the model's name."""
    METRIC_QUESTION = "metric question"
    OWN_LABEL = "own label"
    """What one has said oneself: a label, or a decision."""
    OTHER_LABELS = "other labels"
    """Without names."""
    RATER_NAMES = "names of raters"
    """Pseudonyms and panels beside what they said."""
    RATIONALES = "rationales"
    """Of others."""
    VERDICT = "verdict"
    """The judge's, with its justification."""
    MODEL_NAME = "model name"
    POLARITY = "polarity"
    GOLD_MARKS = "gold marks"
    """Which items are gold or repeats."""
    EXPOSURE_LOG = "exposure log"
    SCENARIO = "scenario"
    """Who the simulated person is and what they were to try."""


EVERYTHING = frozenset(Seen) - {Seen.OWN_LABEL}
"""What a page may show of a study to somebody who rates nothing."""
FROM_RATERS = frozenset({Seen.OTHER_LABELS, Seen.RATER_NAMES, Seen.RATIONALES, Seen.EXPOSURE_LOG})
"""What there is nothing of before anybody was asked."""


_D, _C, _L, _R = Stage
_FROM: dict[Viewer, dict[Seen, tuple[Stage, ...]]] = {
    Viewer.EXPERT: {
        Seen.TRANSCRIPT: (_C, _L, _R),
        Seen.METRIC_QUESTION: (_C, _L, _R),
        Seen.OWN_LABEL: (_C, _L, _R),
        Seen.OTHER_LABELS: (_R,),
        Seen.RATIONALES: (_R,),
        Seen.VERDICT: (_R,),
        Seen.MODEL_NAME: (_R,),
        Seen.POLARITY: (_R,),
        Seen.SCENARIO: (_R,),
    },
    Viewer.METHODOLOGIST: {
        Seen.TRANSCRIPT: (_D, _C, _L, _R),
        Seen.METRIC_QUESTION: (_D, _C, _L, _R),
        Seen.OTHER_LABELS: (_C, _L, _R),
        Seen.RATER_NAMES: (_C, _L, _R),
        Seen.RATIONALES: (_C, _L, _R),
        Seen.VERDICT: (_D, _C, _L, _R),
        Seen.MODEL_NAME: (_D, _C, _L, _R),
        Seen.POLARITY: (_D, _C, _L, _R),
        Seen.GOLD_MARKS: (_D, _C, _L, _R),
        Seen.EXPOSURE_LOG: (_C, _L, _R),
        Seen.SCENARIO: (_D, _C, _L, _R),
    },
    Viewer.MAINTAINER: {
        Seen.TRANSCRIPT: (_D, _C, _L, _R),
        Seen.METRIC_QUESTION: (_D, _C, _L, _R),
        Seen.OTHER_LABELS: (_C, _L, _R),
        Seen.RATER_NAMES: (_C, _L, _R),
        Seen.RATIONALES: (_C, _L, _R),
        Seen.VERDICT: (_D, _C, _L, _R),
        Seen.MODEL_NAME: (_D, _C, _L, _R),
        Seen.POLARITY: (_D, _C, _L, _R),
        Seen.GOLD_MARKS: (_D, _C, _L, _R),
        Seen.EXPOSURE_LOG: (_C, _L, _R),
        Seen.SCENARIO: (_D, _C, _L, _R),
    },
    Viewer.ADJUDICATOR: {
        Seen.TRANSCRIPT: (_C, _L, _R),
        Seen.METRIC_QUESTION: (_C, _L, _R),
        Seen.OWN_LABEL: (_C, _L, _R),
        Seen.OTHER_LABELS: (_C, _L, _R),
        Seen.RATIONALES: (_C, _L, _R),
    },
    Viewer.PUBLIC: {
        Seen.TRANSCRIPT: (_R,),
        Seen.METRIC_QUESTION: (_R,),
        Seen.OTHER_LABELS: (_R,),
        Seen.VERDICT: (_R,),
        Seen.MODEL_NAME: (_R,),
        Seen.POLARITY: (_R,),
    },
}
POLICY = MappingProxyType(
    {
        (viewer, what): frozenset(stages)
        for viewer, allowed in _FROM.items()
        for what, stages in allowed.items()
    }
)
"""The stages in which a viewer may see something."""
_SHOWN_ON_PURPOSE = frozenset({Seen.VERDICT, Seen.SCENARIO})


class VisibilityRefused(ImpactBenchError):
    """Something that may not be seen now; the text says by whom and until when."""


def may_see(viewer: Viewer, what: Seen, stage: Stage) -> bool:
    """Whether somebody may see something at a stage.

    >>> may_see(Viewer.EXPERT, Seen.VERDICT, Stage.LOCKED)
    False
    """
    return stage in POLICY.get((viewer, what), frozenset())


def require(viewer: Viewer, what: Seen, stage: Stage) -> None:
    """Refuse what may not be seen.

    Raises:
        VisibilityRefused: in one sentence.
    """
    if not may_see(viewer, what, stage):
        raise VisibilityRefused(
            f"the {what} is not for the {viewer} while the study is at the stage {stage.name.lower()}"
        )


def may_see_in_review(what: Seen, stage: Stage, *, on_purpose: bool) -> bool:
    """Whether a rater may see something beside the conversation that they rate.

    Args:
        what: the judge's verdict, or the scenario.
        stage: of their review set.
        on_purpose: whether its rubric shows it. Such a review asks for no blind verdict and enters no blind figure.

    >>> may_see_in_review(Seen.VERDICT, Stage.COLLECTING, on_purpose=False)
    False
    """
    return may_see(Viewer.EXPERT, what, stage) or (on_purpose and what in _SHOWN_ON_PURPOSE)


def missing(viewer: Viewer, shown: Iterable[Seen], stage: Stage) -> list[Seen]:
    """What of a page's contents its viewer may not see at a stage; what is not there yet is not missing."""
    there = [what for what in sorted(shown) if stage is not Stage.DESIGN or what not in FROM_RATERS]
    return [what for what in there if not may_see(viewer, what, stage)]


def stage_of(review_set: ReviewSet | None) -> Stage:
    """Where a review set stands. Labels from elsewhere were collected elsewhere, so their set is locked.

    Args:
        review_set: the row; None where nothing has been opened.
    """
    if review_set is None:
        return Stage.DESIGN
    if review_set.locked_at is None and review_set.origin == "design":
        return Stage.COLLECTING
    return Stage.LOCKED if review_set.reported_at is None else Stage.REPORTED


def stage_of_study(engine: Engine, study: str) -> Stage:
    """Where a study stands: as far as the least advanced of its review sets."""
    with reading(engine) as session:
        sets = session.exec(
            select(ReviewSet).join(Study, col(Study.id) == ReviewSet.study_id).where(Study.slug == study)
        ).all()
    return least_advanced(stage_of(one) for one in sets)


def stage_of_rater(engine: Engine, rater_id: int) -> Stage:
    """Where the review sets stand that a rater was asked in: as far as the least advanced."""
    with reading(engine) as session:
        asked_in = select(Assignment.review_set_id).where(Assignment.rater_id == rater_id)
        sets = session.exec(select(ReviewSet).where(col(ReviewSet.id).in_(asked_in))).all()
    return least_advanced(stage_of(one) for one in sets)


def least_advanced(stages: Iterable[Stage]) -> Stage:
    """The stage that governs what is shown of several review sets together."""
    return min(stages, default=Stage.DESIGN)

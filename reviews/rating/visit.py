"""What a visit to the desk reads: an item with all that belongs to it, and where the rater stands in their list.

A hundred raters at once live from these few statements, so they are built once (building one costs more than running
it), and what cannot change is made once: the messages as they are shown depend on nothing but the texts, the decisions
about names in them and the models of the study, and these are what they are remembered by.
"""

import json
import time
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from sqlalchemy import Engine, Integer, Text, and_, bindparam, case, cast, func, select
from sqlalchemy.orm import aliased
from sqlmodel import col

from impactbench.domain import Polarity
from impactbench.store.tables import (
    Assignment,
    Conversation,
    Draft,
    Label,
    Mask,
    MetricVersion,
    Model,
    ReviewSet,
    Run,
)
from reviews.blinding import BlindTurn, blind_turns
from reviews.blindness.leak_scan import spans_to_hide
from reviews.rating.own import IS_OWN, OWN, Own, Rows
from reviews.rating.questions import read_rubric
from reviews.rating.worklist import before, in_list
from reviews.rubrics import Rubric

Models = tuple[tuple[str, str, str], ...]
"""(slug, family, provider) of each model of a study."""

_REMEMBERED_TRANSCRIPTS = 128
_BELIEVED_SECONDS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """An assignment with everything that the desk needs of it."""

    own: Own
    option_order: list[str]
    label: Label | None
    """The newest revision of the rater's own label."""
    draft: Draft | None
    rubric: Rubric
    metric: tuple[Polarity, str, str, str]
    """Polarity, question, definition, interpretive clause."""
    turns: tuple[BlindTurn, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a rater stands in their list when they look at an item."""

    position: int
    total: int
    done: int
    previous: str | None
    active_seconds: float
    last_saved_at: datetime | None


_revision = aliased(Label)
_newest_revision = (
    select(func.max(_revision.revision))
    .where(col(_revision.assignment_id) == Assignment.id)
    .correlate(Assignment)
    .scalar_subquery()
)
_RATER = bindparam("rater", type_=Integer)
_SET, _POSITION = bindparam("in_set", type_=Integer), bindparam("at", type_=Integer)

_OF_LABEL, _OF_DRAFT = tuple(Label.model_fields), tuple(Draft.model_fields)
_SEAT = (
    select(
        *OWN,
        *(getattr(Label, name) for name in _OF_LABEL),
        *(getattr(Draft, name) for name in _OF_DRAFT),
        col(Assignment.option_order),
        cast(ReviewSet.rubric, Text).label("rubric_text"),
        col(MetricVersion.polarity),
        col(MetricVersion.question),
        col(MetricVersion.definition),
        col(MetricVersion.interpretive_clause),
        cast(Conversation.turns, Text).label("turns_text"),
        # Conversations and runs are only ever added: as long as these stand, the study has the models that it had.
        select(func.max(aliased(Conversation).id)).scalar_subquery(),
        select(func.count(col(Run.id))).scalar_subquery(),
    )
    .select_from(Assignment)
    .join(ReviewSet, col(ReviewSet.id) == Assignment.review_set_id)
    .join(Conversation, col(Conversation.id) == Assignment.conversation_id)
    .join(MetricVersion, col(MetricVersion.id) == Assignment.metric_version_id)
    .outerjoin(
        Label, and_(col(Label.assignment_id) == Assignment.id, col(Label.revision) == _newest_revision)
    )
    .outerjoin(Draft, col(Draft.assignment_id) == Assignment.id)
    .where(*IS_OWN)
)

_counted = (
    select(
        func.count(col(Assignment.id)).label("total"),
        func.count(col(Label.id)).label("done"),
        func.sum(case((before(_SET, _POSITION), 1), else_=0)).label("passed"),
    )
    .select_from(Assignment)
    .outerjoin(Label, and_(col(Label.assignment_id) == Assignment.id, col(Label.revision) == 1))
    .where(*in_list(_RATER))
    .subquery()
)
_previous = (
    select(col(Assignment.code))
    .where(*in_list(_RATER), before(_SET, _POSITION))
    .order_by(col(Assignment.review_set_id).desc(), col(Assignment.position).desc())
    .limit(1)
    .scalar_subquery()
)
_spent = (
    select(func.sum(Label.active_seconds).label("seconds"), func.max(Label.created_at).label("last"))
    .join(Assignment, col(Assignment.id) == Label.assignment_id)
    .where(col(Assignment.rater_id) == _RATER)
    .subquery()
)
_PLACE = select(
    _counted.c.total, _counted.c.done, _counted.c.passed, _previous, _spent.c.seconds, _spent.c.last
).join_from(_counted, _spent, _counted.c.total >= 0)

_MASKS = (
    select(*(getattr(Mask, name) for name in ("message", "start", "end", "revision", "decision")))
    .where(col(Mask.conversation_id) == bindparam("conversation", type_=Integer))
    .order_by(col(Mask.message), col(Mask.start), col(Mask.end), col(Mask.revision))
)
_MODELS = select(col(Model.id), col(Model.slug), col(Model.family), col(Model.provider)).order_by(
    col(Model.slug)
)
_MODELS_OF_STUDY = (
    select(col(Conversation.model_id))
    .join(Run, col(Run.id) == Conversation.run_id)
    .where(col(Run.study_id) == bindparam("study", type_=Integer))
    .distinct()
)


def make_ready() -> None:
    """Read what the first look at an item would otherwise wait a second for: the names by which models are known."""
    spans_to_hide([], models=[("", "", "")])


def seat(engine: Engine, rows: Rows, rater_id: int, code: str) -> Seat | None:
    """The item behind a code; None where it is not in the list of this rater, or they may rate no more."""
    found = rows.execute(_SEAT, {"rater": rater_id, "code": code}).one_or_none()
    if found is None:
        return None
    parts = iter(found)
    own = Own(*islice(parts, len(OWN)))
    label = dict(zip(_OF_LABEL, islice(parts, len(_OF_LABEL)), strict=True))
    draft = dict(zip(_OF_DRAFT, islice(parts, len(_OF_DRAFT)), strict=True))
    option_order, rubric, polarity, question, definition, clause, turns, *newest = parts
    models = _models(engine, rows, own.study_id, tuple(newest))
    masks = rows.execute(_MASKS, {"conversation": own.conversation_id}).all()
    return Seat(
        own=own,
        option_order=option_order,
        label=None if label["id"] is None else Label(**label),
        draft=None if draft["assignment_id"] is None else Draft(**draft),
        rubric=read_rubric(rubric),
        metric=(polarity, question, definition, clause),
        turns=_shown(turns, models, tuple(_Decided(*one) for one in masks)),
    )


def place(rows: Rows, own: Own) -> Place:
    """Where a rater stands when they look at one of their items."""
    total, done, passed, previous, seconds, last = rows.execute(
        _PLACE, {"rater": own.rater_id, "in_set": own.review_set_id, "at": own.position}
    ).one()
    return Place(
        position=int(passed or 0) + 1,
        total=total,
        done=done,
        previous=previous,
        active_seconds=float(seconds or 0),
        last_saved_at=last,
    )


@dataclass(frozen=True, slots=True)
class _InStudy:
    """The ids of the models of a study, as they were found."""

    models: frozenset[int]
    newest: tuple[Any, ...]
    until: float


_in_studies: WeakKeyDictionary[Engine, dict[int, _InStudy]] = WeakKeyDictionary()


def _models(engine: Engine, rows: Rows, study_id: int, newest: tuple[Any, ...]) -> Models:
    """The models of a study: which they are takes reading all its conversations, so it is asked only where some came in."""
    known = _in_studies.setdefault(engine, {}).get(study_id)
    if known is None or known.newest != newest or known.until < time.monotonic():
        ids = frozenset(rows.scalars(_MODELS_OF_STUDY, {"study": study_id}).all())
        known = _InStudy(ids, newest, time.monotonic() + _BELIEVED_SECONDS)
        _in_studies[engine][study_id] = known
    return tuple(
        (slug, family, provider)
        for number, slug, family, provider in rows.execute(_MODELS)
        if number in known.models
    )


class _Decided(NamedTuple):
    """What was decided about a place in a conversation."""

    message: int
    start: int
    end: int
    revision: int
    decision: str


@lru_cache(maxsize=_REMEMBERED_TRANSCRIPTS)
def _shown(turns: str, models: Models, decided: tuple[_Decided, ...]) -> tuple[BlindTurn, ...]:
    """Messages as raters read them, from the text that they are kept as."""
    messages = json.loads(turns)
    masks = [Mask(conversation_id=0, found="", decided_by=0, **one._asdict()) for one in decided]
    return blind_turns(messages, hidden_spans=spans_to_hide(messages, models=models, masks=masks))

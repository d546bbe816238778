"""The rubric's questions besides the verdict: which are due, which answers are acceptable, and how they are kept."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import Engine, Integer, Text, bindparam, cast, or_
from sqlmodel import col, func, select

from impactbench.domain import LabelVerdict
from impactbench.store.engine import insert_if_absent, writing
from impactbench.store.tables import Assignment, Conversation, Label, MetricVersion, Response, ReviewSet
from reviews.labels import Answer, LabelRefused
from reviews.rating.own import Own, Rows
from reviews.rubrics import DEFAULT, Question, Rubric, load, missing, unacceptable

CLOSING = "set"


def rubric_of(review_set: ReviewSet) -> Rubric:
    """What the raters of a set are asked: the rubric that was frozen with it."""
    return read_rubric(json.dumps(review_set.rubric))


@lru_cache(maxsize=64)
def read_rubric(frozen: str) -> Rubric:
    """The rubric of a set from the text that it is kept as, read once: every look at an item asks for it."""
    document = json.loads(frozen)
    return Rubric.model_validate(document) if document else load(DEFAULT)


_RATER, _SET = bindparam("rater", type_=Integer), bindparam("in_set", type_=Integer)
_ASKED_WITH = select(Response.value).where(
    Response.rater_id == _RATER,
    Response.review_set_id == _SET,
    Response.subject == bindparam("subject", type_=Text),
    Response.question == "asked_with",
)
_SCENARIO = select(Conversation.scenario_id).where(
    Conversation.id == bindparam("conversation", type_=Integer)
)


def item_questions(rows: Rows, own: Own, rubric: Rubric) -> tuple[Question, ...]:
    """The questions that go with an item: its own, and its scenario's where the rater has not answered those yet."""
    if not rubric.scenario:
        return rubric.item
    about = {
        "rater": own.rater_id,
        "in_set": own.review_set_id,
        "subject": scenario_subject(rows, own),
    }
    answered_with = rows.scalars(_ASKED_WITH, about).first()
    return rubric.item + (rubric.scenario if answered_with in (None, own.code) else ())


def scenario_subject(rows: Rows, own: Own) -> str:
    """What the answers about an item's scenario are filed under."""
    return f"scenario/{rows.scalar(_SCENARIO, {'conversation': own.conversation_id})}"


def check(answer: Answer, rubric: Rubric, asked: tuple[Question, ...]) -> None:
    """Whether an answer says what the rubric asks.

    Raises:
        LabelRefused: something is missing, or cannot be answered like that.
    """
    if answer.no_verdict_because is None:
        if (answer.verdict is None) != (rubric.elicitation == "none"):
            raise LabelRefused("Choose a verdict first.")
        torn = rubric.elicitation == "response_set" and answer.verdict is LabelVerdict.BORDERLINE
        if torn != (answer.forced_choice is not None):
            raise LabelRefused("Where both could be defended, say which you would choose if you had to.")
        if missing(asked, answer.responses):
            raise LabelRefused("Please answer the questions marked with a star.")
    if wrong := unacceptable(asked, answer.responses):
        raise LabelRefused(f"The answer to “{wrong[0]}” cannot be kept as it is.")


def keep_item_responses(rows: Rows, own: Own, rubric: Rubric, label: Label, answer: Answer) -> None:
    """File the responses that came with a label, under the same revision."""
    by_subject: dict[str, dict[str, Any]] = {}
    about_scenario = {question.id for question in rubric.scenario}
    for question, value in answer.responses.items():
        about = scenario_subject(rows, own) if question in about_scenario else f"item/{own.code}"
        by_subject.setdefault(about, {})[question] = value
        if question in about_scenario:
            by_subject[about]["asked_with"] = own.code
    if answer.passages:
        passages = [passage.model_dump() for passage in answer.passages]
        by_subject.setdefault(f"item/{own.code}", {})["passages"] = passages
    for subject, values in by_subject.items():
        _add(rows, own.rater_id, own.review_set_id, subject, values, label.revision)


_GIVEN = select(Response.question, Response.value).where(
    Response.rater_id == _RATER,
    Response.review_set_id == _SET,
    or_(
        col(Response.subject) == bindparam("item", type_=Text),
        col(Response.subject) == bindparam("scenario", type_=Text),
    ),
    Response.revision == bindparam("revision", type_=Integer),
    Response.question != "asked_with",
)


def item_responses(rows: Rows, own: Own, revision: int) -> dict[str, Any]:
    """What the rater answered with one revision of their label, by question."""
    asked = {
        "rater": own.rater_id,
        "in_set": own.review_set_id,
        "item": f"item/{own.code}",
        "scenario": scenario_subject(rows, own),
        "revision": revision,
    }
    return dict(rows.execute(_GIVEN, asked).all())


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenQuestions:
    """Questions that a rater still has to be asked about a metric, or about the whole set."""

    review_set_id: int
    subject: str
    title: str
    about: str
    questions: tuple[Question, ...]


_SETS = (
    select(ReviewSet.id, cast(ReviewSet.rubric, Text))
    .where(
        col(ReviewSet.id).in_(select(Assignment.review_set_id).where(Assignment.rater_id == _RATER)),
        ReviewSet.origin == "design",
    )
    .order_by(col(ReviewSet.id))
)


def first_open(rows: Rows, rater_id: int) -> OpenQuestions | None:
    """The next questions about a metric whose items are all answered, or about a set that is; None where there are none."""
    for set_id, frozen in rows.execute(_SETS, {"rater": rater_id}).all():
        if (found := _open_in(rows, rater_id, set_id, read_rubric(frozen))) is not None:
            return found
    return None


def respond(engine: Engine, rater_id: int, asked: OpenQuestions, answers: Mapping[str, Any]) -> None:
    """Keep the answers to open questions; the same answers twice are kept once.

    Raises:
        LabelRefused: a required answer is missing, or one cannot be given like that.
    """
    given = {name: answer for name, answer in answers.items() if answer not in (None, "")}
    if missing(asked.questions, given):
        raise LabelRefused("Please answer the questions marked with a star.")
    if wrong := unacceptable(asked.questions, given):
        raise LabelRefused(f"The answer to “{wrong[0]}” cannot be kept as it is.")
    with writing(engine) as session:
        _add(session, rater_id, asked.review_set_id, asked.subject, given | {"answered": True}, 1)


_WAITING = (
    select(Assignment.metric_version_id, func.count(col(Assignment.id)), func.count(col(Label.id).distinct()))
    .outerjoin(Label, (col(Label.assignment_id) == Assignment.id) & (col(Label.revision) == 1))
    .where(
        Assignment.rater_id == _RATER,
        Assignment.review_set_id == _SET,
        col(Assignment.released_at).is_(None),
    )
    .group_by(col(Assignment.metric_version_id))
    .order_by(col(Assignment.metric_version_id))
)
_ANSWERED = select(Response.subject).where(
    Response.rater_id == _RATER,
    Response.review_set_id == _SET,
    Response.question == "answered",
)
_METRIC = select(MetricVersion.name, MetricVersion.definition).where(
    MetricVersion.id == bindparam("version", type_=Integer)
)


def _open_in(rows: Rows, rater_id: int, set_id: int, rubric: Rubric) -> OpenQuestions | None:
    if not rubric.metric and not rubric.closing:
        return None
    within = {"rater": rater_id, "in_set": set_id}
    counts = rows.execute(_WAITING, within).all()
    if all(asked > done for _, asked, done in counts):
        return None
    answered = set(rows.scalars(_ANSWERED, within).all())
    if rubric.metric:
        for version, asked, done in counts:
            subject = f"metric/{version}"
            if asked == done and subject not in answered:
                name, definition = rows.execute(_METRIC, {"version": version}).one()
                return OpenQuestions(
                    review_set_id=set_id,
                    subject=subject,
                    title=name,
                    about=definition,
                    questions=rubric.metric,
                )
    if (
        rubric.closing
        and counts
        and all(asked == done for _, asked, done in counts)
        and CLOSING not in answered
    ):
        return OpenQuestions(
            review_set_id=set_id, subject=CLOSING, title="Before you go", about="", questions=rubric.closing
        )
    return None


def _add(
    rows: Rows,
    rater_id: int,
    review_set_id: int,
    subject: str,
    values: Mapping[str, Any],
    revision: int,
) -> None:
    responses = [
        {
            "rater_id": rater_id,
            "review_set_id": review_set_id,
            "subject": subject,
            "question": question,
            "revision": revision,
            "value": value,
        }
        for question, value in values.items()
    ]
    insert_if_absent(rows, Response, responses)

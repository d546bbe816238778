"""Suggested metrics as they are kept: drafts, revisions, trials, and where each stands."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Engine
from sqlmodel import Session, col, select

from impactbench.domain import SubmissionDecision
from impactbench.store import tables as t
from impactbench.store.engine import insert_if_absent, put, reading, writing
from impactbench.store.tables import now
from impactbench.suite.submissions import SubmissionContent, SubmissionRefused, content_of, require_complete

CODE_BYTES = 6


class State(StrEnum):
    """Where a suggestion stands; it follows from what is kept about its newest revision."""

    DRAFT = "draft"
    WAITING = "waiting for review"
    REVIEWED = "reviewed"
    ACCEPTED = "accepted"
    TO_REVISE = "to be revised"
    MERGED = "merged"
    REJECTED = "rejected"


_DECIDED = {
    SubmissionDecision.ACCEPT: State.ACCEPTED,
    SubmissionDecision.REVISE: State.TO_REVISE,
    SubmissionDecision.MERGE: State.MERGED,
    SubmissionDecision.REJECT: State.REJECTED,
}


@dataclass(frozen=True, slots=True)
class Review:
    """What an internal expert said about a revision."""

    reviewer: str
    fidelity: int
    clarity: int
    observability: int
    advice: SubmissionDecision
    because: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Trial:
    """How the judge fared on a revision's examples."""

    id: int
    model: str
    outcomes: tuple[Mapping[str, Any], ...]
    tells_apart: bool
    at: datetime


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was decided about a revision."""

    decision: SubmissionDecision
    because: str
    merged_into: str
    by: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Revision:
    """What was sent, and all that followed."""

    id: int
    number: int
    content: SubmissionContent
    at: datetime
    trials: tuple[Trial, ...]
    reviews: tuple[Review, ...]
    outcome: Outcome | None

    @property
    def trial(self) -> Trial | None:
        """The latest trial."""
        return self.trials[-1] if self.trials else None


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A suggested metric with its whole history, oldest revision first."""

    id: int
    code: str
    submitter: str
    submitter_id: int
    draft: SubmissionContent | None
    revisions: tuple[Revision, ...]

    @property
    def newest(self) -> Revision | None:
        return self.revisions[-1] if self.revisions else None

    @property
    def content(self) -> SubmissionContent:
        """What is being written, or else what was sent last."""
        if self.draft is not None:
            return self.draft
        return self.newest.content if self.newest else SubmissionContent()

    @property
    def name(self) -> str:
        return self.content.scoring.name.strip() or "Without a name"

    @property
    def state(self) -> State:
        if self.newest is None:
            return State.DRAFT
        if self.newest.outcome is not None:
            return _DECIDED[self.newest.outcome.decision]
        return State.REVIEWED if self.newest.reviews else State.WAITING

    @property
    def open(self) -> bool:
        """Whether another revision may be sent."""
        return self.state not in (State.ACCEPTED, State.MERGED, State.REJECTED)


def begin(engine: Engine, submitter_id: int) -> str:
    """Begin a suggestion; returns its code. An empty draft that is there already is used again."""
    with writing(engine) as session:
        begun = session.exec(
            select(t.Submission)
            .join(t.SubmissionDraft, col(t.SubmissionDraft.submission_id) == t.Submission.id)
            .where(t.Submission.submitter_id == submitter_id)
        ).all()
        for one in begun:
            draft = session.get_one(t.SubmissionDraft, one.id)
            if not draft.content and not _has_revision(session, _id(one.id)):
                return one.code
        made = t.Submission(code=secrets.token_hex(CODE_BYTES), submitter_id=submitter_id)
        session.add(made)
        session.flush()
        session.add(t.SubmissionDraft(submission_id=_id(made.id), content={}))
        return made.code


def keep_draft(engine: Engine, code: str, submitter_id: int, content: SubmissionContent) -> None:
    """Keep what somebody has written so far.

    Raises:
        SubmissionRefused: it is not theirs, or closed.
    """
    with writing(engine) as session:
        submission = _own(session, code, submitter_id)
        row = {
            "submission_id": submission.id,
            "content": content.model_dump(mode="json", exclude_defaults=True),
            "updated_at": now(),
        }
        put(session, t.SubmissionDraft, row)


def send(engine: Engine, code: str, submitter_id: int, content: SubmissionContent) -> int:
    """Send a suggestion as its next revision; returns the revision's number. The same words twice are sent once.

    Raises:
        SubmissionRefused: something is missing, it is not theirs, or it is closed.
    """
    require_complete(content)
    with writing(engine) as session:
        submission = _own(session, code, submitter_id)
        earlier = session.exec(
            select(t.SubmissionRevision)
            .where(t.SubmissionRevision.submission_id == submission.id)
            .order_by(col(t.SubmissionRevision.revision))
        ).all()
        number = len(earlier) + 1
        row = {
            "submission_id": submission.id,
            "revision": number,
            "content": content.model_dump(mode="json"),
            "content_hash": content.content_hash,
        }
        insert_if_absent(session, t.SubmissionRevision, [row])
        draft = session.get(t.SubmissionDraft, submission.id)
        if draft is not None:
            session.delete(draft)
        kept = session.exec(
            select(t.SubmissionRevision).where(
                t.SubmissionRevision.submission_id == submission.id,
                t.SubmissionRevision.content_hash == content.content_hash,
            )
        ).one_or_none()
        if kept is None:
            raise SubmissionRefused(
                "another revision was sent in this moment; look at it and send yours again"
            )
        if kept.revision < len(earlier):
            raise SubmissionRefused(
                f"these words were sent before, as revision {kept.revision}, and revised since; change something"
            )
        return kept.revision


def keep_trial(
    engine: Engine, revision_id: int, *, model: str, prompt_hash: str, outcomes: list[dict[str, Any]]
) -> bool:
    """Keep how a judge fared; returns whether it told present from absent on every example."""
    tells = bool(outcomes) and all(one["present"] is (one["side"] == "present") for one in outcomes)
    with writing(engine) as session:
        session.add(
            t.SubmissionTrial(
                revision_id=revision_id,
                model=model,
                prompt_hash=prompt_hash,
                outcomes=outcomes,
                tells_apart=tells,
            )
        )
    return tells


def suggestions(engine: Engine, *, submitter_id: int | None = None) -> list[Suggestion]:
    """Every suggestion, or those of one person, newest first."""
    with reading(engine) as session:
        names = {rater.id: rater.pseudonym for rater in session.exec(select(t.Rater)).all()}
        asked = select(t.Submission).order_by(col(t.Submission.id).desc())
        if submitter_id is not None:
            asked = asked.where(t.Submission.submitter_id == submitter_id)
        return [_suggestion(session, one, names) for one in session.exec(asked).all()]


def suggestion(engine: Engine, code: str) -> Suggestion:
    """One suggestion by its code.

    Raises:
        SubmissionRefused: there is none.
    """
    for one in suggestions(engine):
        if one.code == code:
            return one
    raise SubmissionRefused(f"there is no suggestion {code!r}; `impactbench submit list` shows them")


def _suggestion(session: Session, one: t.Submission, names: Mapping[int | None, str]) -> Suggestion:
    key = _id(one.id)
    draft = session.get(t.SubmissionDraft, key)
    revisions = session.exec(
        select(t.SubmissionRevision)
        .where(t.SubmissionRevision.submission_id == key)
        .order_by(col(t.SubmissionRevision.revision))
    ).all()
    return Suggestion(
        id=key,
        code=one.code,
        submitter=names[one.submitter_id],
        submitter_id=one.submitter_id,
        draft=None if draft is None else content_of(draft.content, where=f"draft {one.code}"),
        revisions=tuple(_revision(session, revision, names) for revision in revisions),
    )


def _revision(session: Session, one: t.SubmissionRevision, names: Mapping[int | None, str]) -> Revision:
    key = _id(one.id)
    trials = session.exec(
        select(t.SubmissionTrial)
        .where(t.SubmissionTrial.revision_id == key)
        .order_by(col(t.SubmissionTrial.id))
    ).all()
    reviews = session.exec(
        select(t.SubmissionReview)
        .where(t.SubmissionReview.revision_id == key)
        .order_by(col(t.SubmissionReview.id))
    ).all()
    decided = session.exec(
        select(t.SubmissionOutcome).where(t.SubmissionOutcome.revision_id == key)
    ).one_or_none()
    return Revision(
        id=key,
        number=one.revision,
        content=content_of(one.content, where=f"revision {one.revision}"),
        at=one.created_at,
        trials=tuple(
            Trial(_id(each.id), each.model, tuple(each.outcomes), each.tells_apart, each.created_at)
            for each in trials
        ),
        reviews=tuple(
            Review(
                names[each.reviewer_id],
                each.fidelity,
                each.clarity,
                each.observability,
                each.advice,
                each.because,
                each.created_at,
            )
            for each in reviews
        ),
        outcome=None if decided is None else _outcome(decided, names),
    )


def _outcome(one: t.SubmissionOutcome, names: Mapping[int | None, str]) -> Outcome:
    return Outcome(one.decision, one.because, one.merged_into, names[one.decided_by], one.created_at)


def _own(session: Session, code: str, submitter_id: int) -> t.Submission:
    submission = session.exec(select(t.Submission).where(t.Submission.code == code)).one_or_none()
    if submission is None or submission.submitter_id != submitter_id:
        raise SubmissionRefused("this suggestion is not yours")
    closed = session.exec(
        select(t.SubmissionOutcome.decision)
        .join(t.SubmissionRevision, col(t.SubmissionRevision.id) == t.SubmissionOutcome.revision_id)
        .where(t.SubmissionRevision.submission_id == submission.id)
    ).all()
    if any(decision is not SubmissionDecision.REVISE for decision in closed):
        raise SubmissionRefused("this suggestion has been decided; begin another one")
    return submission


def _has_revision(session: Session, submission_id: int) -> bool:
    asked = select(t.SubmissionRevision.id).where(t.SubmissionRevision.submission_id == submission_id)
    return session.exec(asked).first() is not None


def _id(key: int | None) -> int:
    if key is None:
        raise RuntimeError("a row that was just kept has no id")
    return key

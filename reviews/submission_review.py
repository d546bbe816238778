"""Suggested metrics before internal experts: what they advise, what a maintainer decides, and what then enters the suite."""

from dataclasses import dataclass

from sqlalchemy import Engine
from sqlmodel import Session, col, func, select

from impactbench.domain import Panel, Role, SubmissionDecision
from impactbench.store.engine import insert_if_absent, reading, writing
from impactbench.store.tables import (
    Benchmark,
    Metric,
    Rater,
    Submission,
    SubmissionOutcome,
    SubmissionReview,
    SubmissionRevision,
    SubmissionTrial,
)
from impactbench.suite.importing import keep_benchmark, keep_metric
from impactbench.suite.submission_store import Suggestion, suggestions
from impactbench.suite.submissions import SubmissionContent, SubmissionRefused, content_of

LONGEST_REASON = 4_000


@dataclass(frozen=True, slots=True)
class Marks:
    """What a reviewer says: each mark from 1 (not at all) to 4 (fully), an advice and the reason for it."""

    fidelity: int
    """Whether the metric says what the sources say."""
    clarity: int
    """Whether two people would read it alike."""
    observability: int
    """Whether a transcript shows it."""
    advice: SubmissionDecision
    because: str


def submitter(engine: Engine, name: str) -> int:
    """The id of somebody who may suggest metrics.

    Raises:
        SubmissionRefused: there is nobody of that name, or it is neither an expert nor a maintainer.
    """
    with reading(engine) as session:
        person = session.exec(select(Rater).where(Rater.pseudonym == name)).one_or_none()
    if person is None or person.id is None:
        raise SubmissionRefused(
            f"there is nobody called {name!r}; `impactbench people list` shows who there is"
        )
    if person.role not in (Role.EXPERT, Role.MAINTAINER) or not person.active:
        raise SubmissionRefused(f"{name!r} is no expert or maintainer, who are the ones to suggest metrics")
    return person.id


def may_review(looking: Rater, suggestion: Suggestion) -> bool:
    """Internal experts and maintainers review what others have sent and nobody has decided."""
    named = looking.role is Role.MAINTAINER or (
        looking.role is Role.EXPERT and looking.panel is Panel.INTERNAL
    )
    newest = suggestion.newest
    return named and suggestion.submitter_id != looking.id and newest is not None and newest.outcome is None


def to_review(engine: Engine, looking: Rater) -> list[Suggestion]:
    """What somebody may review, oldest first."""
    return [one for one in reversed(suggestions(engine)) if may_review(looking, one)]


def review(engine: Engine, revision_id: int, looking: Rater, marks: Marks) -> None:
    """Keep what somebody says about a revision. Saying the same again changes nothing; saying otherwise is added.

    Raises:
        SubmissionRefused: they may not review it, a mark is out of range, or there is no reason.
    """
    because = _reason(marks.because)
    for name in ("fidelity", "clarity", "observability"):
        if not 1 <= getattr(marks, name) <= 4:
            raise SubmissionRefused(f"{name} is {getattr(marks, name)}, it must be from 1 to 4")
    with writing(engine) as session:
        revision, _ = _open_revision(session, revision_id, looking)
        earlier = session.exec(
            select(SubmissionReview)
            .where(SubmissionReview.revision_id == revision.id, SubmissionReview.reviewer_id == looking.id)
            .order_by(col(SubmissionReview.number))
        ).all()
        said = (marks.fidelity, marks.clarity, marks.observability, marks.advice, because)
        if earlier:
            last = earlier[-1]
            if (last.fidelity, last.clarity, last.observability, last.advice, last.because) == said:
                return
        row = {
            "revision_id": revision.id,
            "reviewer_id": looking.id,
            "number": len(earlier) + 1,
            "fidelity": marks.fidelity,
            "clarity": marks.clarity,
            "observability": marks.observability,
            "advice": marks.advice,
            "because": because,
        }
        insert_if_absent(session, SubmissionReview, [row])


def decide(
    engine: Engine,
    revision_id: int,
    looking: Rater,
    *,
    decision: SubmissionDecision,
    because: str,
    merged_into: str = "",
    without_trial: bool = False,
) -> str:
    """Decide about a revision, once and for all; returns benchmark/metric where it enters the suite, else nothing.

    Args:
        merged_into: benchmark/metric that takes it up; needed for a merger.
        without_trial: accept although no trial told present from absent.

    Raises:
        SubmissionRefused: whoever looks is no maintainer or wrote it, it was decided before, it has no review, no trial
            or no reason, or what it is merged into is not there.
    """
    said = _reason(because)
    if looking.role is not Role.MAINTAINER:
        raise SubmissionRefused("only a maintainer decides about a suggestion")
    with writing(engine) as session:
        revision, submission = _open_revision(session, revision_id, looking)
        if decision is SubmissionDecision.MERGE:
            _require_metric(session, merged_into)
        trial = _good_trial(session, revision_id)
        place, version_id = "", None
        if decision is SubmissionDecision.ACCEPT:
            _require_grounds(session, revision_id, trial, without_trial=without_trial)
            content = content_of(revision.content, where=f"revision {revision.revision}")
            place, version_id = _enter(session, content, author=f"submission {submission.code}")
        row = {
            "revision_id": revision_id,
            "decided_by": looking.id,
            "decision": decision,
            "because": said,
            "merged_into": merged_into if decision is SubmissionDecision.MERGE else "",
            "metric_version_id": version_id,
            "trial_id": trial,
        }
        if not insert_if_absent(session, SubmissionOutcome, [row]):
            raise SubmissionRefused("somebody has just decided about this revision")
    return place


def metrics_of_suite(engine: Engine) -> list[str]:
    """Every benchmark/metric that something can be merged into."""
    with reading(engine) as session:
        rows = session.exec(
            select(Benchmark.slug, Metric.slug).join(Metric, col(Metric.benchmark_id) == Benchmark.id)
        ).all()
    return sorted(f"{benchmark}/{metric}" for benchmark, metric in rows)


def _open_revision(
    session: Session, revision_id: int, looking: Rater
) -> tuple[SubmissionRevision, Submission]:
    revision = session.get(SubmissionRevision, revision_id)
    if revision is None:
        raise SubmissionRefused("there is no such revision")
    submission = session.get_one(Submission, revision.submission_id)
    if looking.role is not Role.MAINTAINER and looking.panel is not Panel.INTERNAL:
        raise SubmissionRefused("suggestions are reviewed by internal experts and maintainers")
    if submission.submitter_id == looking.id:
        raise SubmissionRefused("nobody reviews or decides about a suggestion of their own")
    newest = session.exec(
        select(func.max(SubmissionRevision.revision)).where(SubmissionRevision.submission_id == submission.id)
    ).one()
    if revision.revision != newest:
        raise SubmissionRefused(f"there is a newer revision, {newest}: look at that one")
    if session.exec(select(SubmissionOutcome.id).where(SubmissionOutcome.revision_id == revision_id)).first():
        raise SubmissionRefused("this revision has been decided")
    return revision, submission


def _require_grounds(session: Session, revision_id: int, trial: int | None, *, without_trial: bool) -> None:
    reviewed = session.exec(
        select(SubmissionReview.id).where(SubmissionReview.revision_id == revision_id)
    ).first()
    if reviewed is None:
        raise SubmissionRefused("nobody has reviewed it yet; a metric is accepted on a review at least")
    if trial is None and not without_trial:
        raise SubmissionRefused(
            "no trial of the judge has told its present examples from its absent ones; try it, or say that it is accepted"
            " without"
        )


def _good_trial(session: Session, revision_id: int) -> int | None:
    """The latest trial, if it told present from absent."""
    latest = session.exec(
        select(SubmissionTrial)
        .where(SubmissionTrial.revision_id == revision_id)
        .order_by(col(SubmissionTrial.id).desc())
    ).first()
    return latest.id if latest is not None and latest.tells_apart else None


def _require_metric(session: Session, key: str) -> None:
    benchmark, _, metric = key.partition("/")
    found = session.exec(
        select(Metric.id)
        .join(Benchmark, col(Benchmark.id) == Metric.benchmark_id)
        .where(Benchmark.slug == benchmark, Metric.slug == metric)
    ).first()
    if found is None:
        raise SubmissionRefused(
            f"there is no metric {key!r} to merge it into; name one that is kept, as benchmark/metric"
        )


def _enter(session: Session, content: SubmissionContent, *, author: str) -> tuple[str, int]:
    metric, said = content.metric, content.justification
    benchmark_id, _ = keep_benchmark(
        session, metric.benchmark, name=said.benchmark.strip(), description=said.phenomenon.strip()
    )
    kept = keep_metric(
        session,
        benchmark_id,
        metric.slug,
        metric.definition,
        places=metric.subareas,
        author=author,
        because="suggested, reviewed and accepted",
    )
    return metric.key, kept.id


def _reason(because: str) -> str:
    said = because.strip()
    if not said:
        raise SubmissionRefused("a reason is missing; say in a sentence why")
    if len(said) > LONGEST_REASON:
        raise SubmissionRefused(
            f"the reason has {len(said):,} characters, at most {LONGEST_REASON:,} can be kept"
        )
    return said

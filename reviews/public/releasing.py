"""Which studies the public sees, and whether it sees their conversations. A maintainer decides, and may take it back."""

from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Engine
from sqlmodel import Session, col, select

from impactbench.domain import ImpactBenchError
from impactbench.store.engine import reading, writing
from impactbench.store.tables import ReviewSet, Study
from reviews.blindness.visibility import Stage, least_advanced, stage_of


class NotReleased(ImpactBenchError):
    """A study that the public does not see, or that is not there: the text does not tell the two apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicStudy:
    """A study as the public knows it."""

    slug: str
    title: str
    notice: str
    released_at: datetime | None
    """None only where a member looks at a study that is not released."""
    transcripts: bool
    """Whether its conversations and the verdict on each are shown."""
    under_review: bool
    """Whether experts are at work on it: until their results are reported, no conversation is shown."""


def release_study(
    engine: Engine, slug: str, *, transcripts: bool, now: datetime | None = None
) -> PublicStudy:
    """Show a study to the public. Releasing it again changes only whether its conversations are shown.

    Raises:
        NotReleased: there is no such study.
    """
    with writing(engine) as session:
        study = _find(session, slug)
        study.released_at = study.released_at or now or datetime.now(UTC)
        study.transcripts_public = transcripts
        session.flush()
        return _public(session, study)


def withdraw_study(engine: Engine, slug: str) -> bool:
    """Show a study to the public no more; whether it was shown until now.

    Raises:
        NotReleased: there is no such study.
    """
    with writing(engine) as session:
        study = _find(session, slug)
        shown = study.released_at is not None
        study.released_at, study.transcripts_public = None, False
        return shown


def public_studies(engine: Engine) -> list[PublicStudy]:
    """The studies that the public sees, newest release first."""
    query = select(Study).where(col(Study.released_at).is_not(None))
    with reading(engine) as session:
        studies = session.exec(query.order_by(col(Study.released_at).desc(), col(Study.slug)))
        return [_public(session, study) for study in studies]


def public_study(engine: Engine, slug: str, *, unreleased: bool = False) -> PublicStudy:
    """A study that the public sees.

    Args:
        engine: the database.
        slug: the study.
        unreleased: for members of the workbench, who may look at what the public does not see yet.

    Raises:
        NotReleased: it is not released, or is not there.
    """
    with reading(engine) as session:
        study = session.exec(select(Study).where(Study.slug == slug)).first()
        if study is None or (study.released_at is None and not unreleased):
            raise NotReleased(f"no study {slug!r} has been released")
        return _public(session, study)


def _find(session: Session, slug: str) -> Study:
    study = session.exec(select(Study).where(Study.slug == slug)).first()
    if study is None:
        known = session.exec(select(Study.slug).order_by(col(Study.slug))).all()
        raise NotReleased(f"there is no study {slug!r}; there is {', '.join(known) or 'none yet'}")
    return study


def _public(session: Session, study: Study) -> PublicStudy:
    sets = session.exec(select(ReviewSet).where(ReviewSet.study_id == study.id)).all()
    under_review = bool(sets) and least_advanced(map(stage_of, sets)) is not Stage.REPORTED
    return PublicStudy(
        slug=study.slug,
        title=study.title,
        notice=study.notice,
        released_at=study.released_at,
        transcripts=study.transcripts_public and not under_review,
        under_review=under_review,
    )

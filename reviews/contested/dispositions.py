"""What was decided about a metric, and who would have decided otherwise. Decisions are added; the newest counts."""

from typing import Any

import pandas as pd
from pydantic import Field, field_validator
from sqlalchemy import Engine, func
from sqlmodel import Session, col, select

from impactbench.domain import Content, DispositionKind, ImpactBenchError, Role
from impactbench.store.engine import insert_if_absent, reading, writing
from impactbench.store.tables import (
    Benchmark,
    Disposition,
    Metric,
    MetricVersion,
    Rater,
    Study,
)
from validation.contested import MetricStatus

FOLLOWED = {DispositionKind.REVISE, DispositionKind.ADOPT, DispositionKind.SPLIT, DispositionKind.MERGE}
"""Decisions that name what the metric becomes."""


class DispositionRefused(ImpactBenchError):
    """A decision about a metric that may not be stored; the text says why."""


class StaleDisposition(DispositionRefused):
    """Somebody decided about the metric since the page was opened."""


class Disposal(Content):
    """A decision, the reason, what dissenters say, and the metric versions that follow from it."""

    decision: DispositionKind
    because: str = Field(min_length=1, max_length=20_000)
    dissent: tuple[str, ...] = ()
    becomes: tuple[int, ...] = ()

    @field_validator("because")
    @classmethod
    def _says_something(cls, text: str) -> str:
        if not text.strip():
            raise ValueError("a decision says why")
        return text

    @field_validator("dissent")
    @classmethod
    def _without_blanks(cls, texts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(text.strip() for text in texts if text.strip())


def decide(
    engine: Engine,
    study: str,
    decided_by: int,
    metric_version_id: int,
    disposal: Disposal,
    *,
    base_revision: int,
    found: MetricStatus,
) -> Disposition:
    """Store a decision. The same one sent twice is one decision.

    Args:
        engine: the database.
        study: its slug.
        decided_by: who decides, by id: a maintainer.
        metric_version_id: what is decided about.
        disposal: the decision.
        base_revision: of the newest decision that whoever decides has seen; 0 where there was none.
        found: the status and the evidence that were looked at; kept with the decision. Where they are another version's,
            as when a revision is adopted on the page of what it became, the version keeps those of its last decision.

    Raises:
        StaleDisposition: somebody else decided meanwhile.
        DispositionRefused: the person or the metric may not, or the decision names no follower.
    """
    with writing(engine) as session:
        study_id = _study_id(session, study)
        person = session.get(Rater, decided_by)
        if person is None or person.role is not Role.MAINTAINER or not person.active:
            raise DispositionRefused("only an active maintainer decides about a metric")
        _require_followers(session, metric_version_id, disposal)
        newest = _newest(session, study_id, metric_version_id)
        row = {
            "study_id": study_id,
            "metric_version_id": metric_version_id,
            "revision": base_revision + 1,
            **disposal.model_dump(mode="json"),
            "decision": disposal.decision,
            "status": found.status.value,
            "evidence": evidence_record(found),
            "decided_by": decided_by,
        }
        if newest is not None and found.metric != metric_version_id:
            row |= {"status": newest.status, "evidence": newest.evidence}
        if newest is None or newest.revision == base_revision:
            insert_if_absent(session, Disposition, [row])
            newest = _newest(session, study_id, metric_version_id)
        if newest is None or newest.revision != base_revision + 1 or not _same(newest, row):
            raise StaleDisposition(
                "somebody else has decided about this metric since the page was opened; read what they said first"
            )
        return newest


def dispositions(engine: Engine, study: str) -> pd.DataFrame:
    """A decision, oldest first: disposition_id, metric_version_id, benchmark, metric, version, name, revision, decision,
    because, dissent (list), becomes (list), status, evidence, decided_by (pseudonym), created_at.
    """
    columns = [
        "disposition_id",
        "metric_version_id",
        "benchmark",
        "metric",
        "version",
        "name",
        "revision",
        "decision",
        "because",
        "dissent",
        "becomes",
        "status",
        "evidence",
        "decided_by",
        "created_at",
    ]
    query = (
        select(Disposition, MetricVersion, Metric, Rater.pseudonym)
        .join(Study, col(Study.id) == Disposition.study_id)
        .join(MetricVersion, col(MetricVersion.id) == Disposition.metric_version_id)
        .join(Metric, col(Metric.id) == MetricVersion.metric_id)
        .join(Rater, col(Rater.id) == Disposition.decided_by)
        .where(Study.slug == study)
        .order_by(col(Disposition.id))
    )
    with reading(engine) as session:
        benchmarks = dict(session.exec(select(Benchmark.id, Benchmark.slug)).all())
        rows = [
            {
                **decided.model_dump(),
                "disposition_id": decided.id,
                "benchmark": benchmarks[metric.benchmark_id],
                "metric": metric.slug,
                "version": version.version,
                "name": version.name,
                "decision": str(decided.decision),
                "decided_by": pseudonym,
            }
            for decided, version, metric, pseudonym in session.exec(query)
        ]
    return pd.DataFrame(rows, columns=columns)


def nameable(engine: Engine, study: str) -> dict[int, str]:
    """Every metric version by id, with a name for people: what a decision may name as follower."""
    with reading(engine) as session:
        _study_id(session, study)
        rows = session.exec(
            select(MetricVersion, Metric)
            .join(Metric, col(Metric.id) == MetricVersion.metric_id)
            .order_by(col(MetricVersion.name), col(MetricVersion.version))
        ).all()
        return {
            int(version.id or 0): f"{version.name} ({metric.slug}, version {version.version})"
            for version, metric in rows
        }


def newest_of_each(decided: pd.DataFrame) -> dict[int, dict[str, Any]]:
    """Metric version -> the newest decision about it, from the frame of `dispositions`."""
    return {
        int(row["metric_version_id"]): {str(name): value for name, value in row.items()}
        for row in decided.to_dict("records")
    }


def evidence_record(found: MetricStatus) -> dict[str, Any]:
    """The evidence row of a metric as plain values."""
    return {
        "status": found.status.value,
        "reason": found.reason,
        "flagged": [domain.value for domain in found.flagged],
        "domains": {
            domain.value: {
                "probability": one.probability,
                "value": one.estimate.value,
                "low": one.estimate.low,
                "high": one.estimate.high,
                "n": one.n,
                "counts": {name: float(count) for name, count in one.counts.items()},
                "missing": one.missing,
            }
            for domain, one in found.evidence.domains.items()
        },
    }


def _require_followers(session: Session, metric_version_id: int, disposal: Disposal) -> None:
    if session.get(MetricVersion, metric_version_id) is None:
        raise DispositionRefused(f"there is no metric version {metric_version_id}")
    if (disposal.decision in FOLLOWED) != bool(disposal.becomes):
        wants = (
            "names the metric version that follows" if disposal.decision in FOLLOWED else "names no follower"
        )
        raise DispositionRefused(f"the decision to {disposal.decision} {wants}")
    if disposal.decision is DispositionKind.SPLIT and len(disposal.becomes) < 2:
        raise DispositionRefused("a split names the two metrics or more that it makes")
    if metric_version_id in disposal.becomes:
        raise DispositionRefused("a metric version cannot become itself")
    known = session.exec(
        select(func.count(col(MetricVersion.id))).where(col(MetricVersion.id).in_(disposal.becomes))
    ).one()
    if known != len(set(disposal.becomes)):
        raise DispositionRefused("the decision names a metric version that there is none of")


def _newest(session: Session, study_id: int, metric_version_id: int) -> Disposition | None:
    return session.exec(
        select(Disposition)
        .where(Disposition.study_id == study_id, Disposition.metric_version_id == metric_version_id)
        .order_by(col(Disposition.revision).desc())
        .limit(1)
    ).first()


def _same(stored: Disposition, row: dict[str, Any]) -> bool:
    return all(getattr(stored, name) == row[name] for name in ("decision", "because", "dissent", "becomes"))


def _study_id(session: Session, study: str) -> int:
    found = session.exec(select(Study.id).where(Study.slug == study)).one_or_none()
    if found is None:
        raise DispositionRefused(f"there is no study {study!r}")
    return found

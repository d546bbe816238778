"""Reference labels: what people settled, as a layer of its own beside the labels, and what judges are compared with."""

from collections.abc import Hashable

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sqlalchemy import Engine
from sqlmodel import col, select

from impactbench.domain import LabelVerdict
from impactbench.store.engine import reading
from impactbench.store.tables import Adjudication, Rater, Response, ReviewSet, Study
from validation.mapping import PRIMARY, Policy, reference
from validation.ratings import Ratings

SETTLED = {LabelVerdict.FAIL: 0.0, LabelVerdict.BORDERLINE: 0.5, LabelVerdict.PASS: 1.0}


def adjudicated(engine: Engine, study: str) -> pd.DataFrame:
    """A settled item, newest decision: conversation_id, metric_version_id, revision, verdict, because, rule, inputs,
    adjudicator, decided_at.
    """
    columns = [
        "conversation_id",
        "metric_version_id",
        "revision",
        "verdict",
        "because",
        "rule",
        "inputs",
        "adjudicator",
        "decided_at",
    ]
    with reading(engine) as session:
        rows = session.exec(
            select(Adjudication, Rater.pseudonym)
            .join(Study, col(Study.id) == Adjudication.study_id)
            .join(Rater, col(Rater.id) == Adjudication.adjudicator_id)
            .where(Study.slug == study)
            .order_by(
                col(Adjudication.conversation_id),
                col(Adjudication.metric_version_id),
                col(Adjudication.revision),
            )
        ).all()
        found = [
            {**row.model_dump(), "adjudicator": pseudonym, "decided_at": row.created_at}
            for row, pseudonym in rows
        ]
    frame = pd.DataFrame(found, columns=columns)
    return frame.drop_duplicates(["conversation_id", "metric_version_id"], keep="last").reset_index(drop=True)


def settled_verdicts(decisions: pd.DataFrame, ratings: Ratings) -> NDArray[np.float64]:
    """(units,): what was decided of each rated item: 0 fail, 0.5 borderline, 1 pass, nan where nothing was.

    Args:
        decisions: as `adjudicated` gives them.
        ratings: as `reviews.evidence.expert_ratings` gives them; units are (conversation, metric version).
    """
    decided: dict[Hashable, float] = {
        (conversation, version): SETTLED[LabelVerdict(verdict)]
        for conversation, version, verdict in zip(
            decisions["conversation_id"], decisions["metric_version_id"], decisions["verdict"], strict=True
        )
    }
    return np.array([decided.get(unit, float("nan")) for unit in ratings.units], dtype=np.float64)


def reference_verdicts(
    ratings: Ratings, policy: Policy = PRIMARY, *, decisions: pd.DataFrame
) -> NDArray[np.float64]:
    """(units,): the reference of each item under any policy; ties settled by people where the policy says so."""
    return reference(ratings, policy, adjudicated=settled_verdicts(decisions, ratings))


def metric_reviews(engine: Engine, study: str) -> pd.DataFrame:
    """An answer of a reviewer about a metric as such, newest: metric_version_id, rater, question, value."""
    query = (
        select(Response, Rater.pseudonym)
        .join(ReviewSet, col(ReviewSet.id) == Response.review_set_id)
        .join(Study, col(Study.id) == ReviewSet.study_id)
        .join(Rater, col(Rater.id) == Response.rater_id)
        .where(Study.slug == study, col(Response.subject).startswith("metric/"))
        .order_by(col(Response.id))
    )
    with reading(engine) as session:
        rows = [
            (int(answer.subject.removeprefix("metric/")), pseudonym, answer.question, answer.value)
            for answer, pseudonym in session.exec(query)
        ]
    table = pd.DataFrame(rows, columns=["metric_version_id", "rater", "question", "value"])
    return table.drop_duplicates(["metric_version_id", "rater", "question"], keep="last", ignore_index=True)

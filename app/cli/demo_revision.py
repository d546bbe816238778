"""The demo's one revised metric, from the decision to the change log, through the functions that a maintainer uses."""

from pathlib import Path
from typing import Any

import yaml
from sqlalchemy import Engine
from sqlmodel import col, select

from impactbench.adapters.ratings_table_reading import RatingRow, read_ratings_table
from impactbench.adapters.verdict_table import import_verdict_table, read_verdict_table
from impactbench.domain import DispositionKind, LabelStatus, MetricDefinition, Role
from impactbench.store import frames
from impactbench.store.engine import reading
from impactbench.store.tables import Assignment, Conversation, Rater, ReviewSet
from reviews import desk
from reviews.assignment import Member
from reviews.contested.before_after import before_and_after
from reviews.contested.change_log import change_log, publish
from reviews.contested.contest import metric_statuses
from reviews.contested.dispositions import Disposal, decide
from reviews.contested.revisions import definition_of, draft_second_review, new_version
from reviews.design.review_sets import save
from reviews.evidence import read_tables
from reviews.labels import Answer
from reviews.members.raters import add_person

_SEED = 3
"""Of the order in which the second review puts the conversations before the raters."""


def revise_one_metric(engine: Engine, study: str, folder: Path) -> bool:
    """Follow the revision in the folder to its end; whether it was not there yet.

    Args:
        engine: the database, with the study in it.
        study: its slug.
        folder: decisions.yaml, and the simulated verdicts and ratings under the new wording.
    """
    if change_log(engine, study):
        return False
    revision = yaml.safe_load((folder / "decisions.yaml").read_text(encoding="utf-8"))
    add_person(engine, revision["maintainer"], role=Role.MAINTAINER)
    people = _ids(engine)
    maintainer = people[revision["maintainer"]]
    metrics = frames.metrics(engine)
    first = metrics[(metrics["metric"] == revision["metric"]) & (metrics["version"] == 1)]
    old = int(first["metric_version_id"].iloc[0])
    found = next(one for one in metric_statuses(read_tables(engine, study)) if one.metric == old)
    wording = MetricDefinition.model_validate(
        {**definition_of(engine, old).model_dump(), **revision["wording"]}
    )
    because = revision["revise"]["because"]
    new = new_version(engine, old, wording, because=because, author=revision["maintainer"])
    revise, adopt = (
        Disposal(decision=kind, becomes=(new,), **revision[kind])
        for kind in (DispositionKind.REVISE, DispositionKind.ADOPT)
    )
    revised = decide(engine, study, maintainer, old, revise, base_revision=0, found=found)
    _judge_again(engine, study, folder / "verdicts.csv", revision["judge"])
    ratings = read_ratings_table(folder / "ratings.csv").rows
    _review_again(engine, study, ratings, people, old=old, new=new)
    adopted = decide(engine, study, maintainer, old, adopt, base_revision=1, found=found)
    figures = before_and_after(read_tables(engine, study), old=old, new=new).record
    publish(engine, study, revised.id or 0, published_by=maintainer, note=revision["note"])
    publish(engine, study, adopted.id or 0, published_by=maintainer, note=revision["note"], figures=figures)
    return True


def _judge_again(engine: Engine, study: str, verdicts: Path, judge: dict[str, Any]) -> None:
    import_verdict_table(
        engine,
        read_verdict_table(verdicts),
        study=study,
        judge=judge["slug"],
        family=judge["family"],
        prompt_hash=judge["prompt_hash"],
    )


def _review_again(
    engine: Engine, study: str, ratings: tuple[RatingRow, ...], people: dict[str, int], *, old: int, new: int
) -> None:
    """A review set of the same conversations, and on each desk what the simulated rater says there."""
    raters = {row.rater: Member(name=row.rater, panel=row.panel) for row in ratings}
    draft = draft_second_review(
        engine, study, old=old, new=new, overlap=len(raters), seed=_SEED, raters=list(raters.values())
    )
    save(engine, draft)
    said = {(row.item, people[row.rater]): row for row in ratings}
    for code, rater_id, conversation in _seats(engine, draft.slug):
        row = said[conversation, rater_id]
        if row.status is not LabelStatus.SUBMITTED:
            continue
        answer = Answer(
            verdict=row.verdict,
            confidence=row.confidence,
            rationale=row.rationale,
            turns=row.turns,
            active_seconds=row.active_seconds,
        )
        desk.save(engine, rater_id, code, answer, base_revision=0)


def _seats(engine: Engine, review_set: str) -> list[tuple[str, int, str]]:
    """(code, rater, conversation) of a review set, for each rater in their order."""
    query = (
        select(Assignment.code, Assignment.rater_id, Conversation.key)
        .join(ReviewSet, col(ReviewSet.id) == Assignment.review_set_id)
        .join(Conversation, col(Conversation.id) == Assignment.conversation_id)
        .where(ReviewSet.slug == review_set)
        .order_by(col(Assignment.rater_id), col(Assignment.position))
    )
    with reading(engine) as session:
        return [(str(code), int(rater), str(key)) for code, rater, key in session.exec(query).all()]


def _ids(engine: Engine) -> dict[str, int]:
    with reading(engine) as session:
        return {name: int(key or 0) for key, name in session.exec(select(Rater.id, Rater.pseudonym)).all()}

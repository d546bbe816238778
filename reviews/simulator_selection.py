"""Which candidate simulator seems most like a real person to raters who do not know which one it was."""

from dataclasses import dataclass

import pandas as pd
from sqlalchemy import Engine, func, select

from impactbench.pipeline_studies.arms import ArmsRefused
from impactbench.runs.unit_keys import ModelCall
from impactbench.store import frames, run_frames
from impactbench.store import tables as t
from impactbench.store.engine import reading
from impactbench.store.frames import response, review_set, study
from validation.standardised_scores import StandardisedGroup, standardised, standardised_groups

RUBRIC = "simulator-selection"
QUESTION = "realism_of_ten"


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatorRatings:
    """What raters say of candidate simulators."""

    simulators: tuple[StandardisedGroup, ...]
    """Highest first; clusters are base scenarios."""
    raters: int
    left_out: tuple[str, ...]
    """Raters whose scores do not vary, so that there is nothing to standardise by."""
    not_rated: int
    """Items that wait for a score."""


def rate_simulators(engine: Engine, study_slug: str) -> SimulatorRatings:
    """The candidates of a study by their standardised realism, each item's first rating by each rater.

    Raises:
        ArmsRefused: the study has not two candidates, or nobody has rated any.
    """
    simulators = _simulators(engine, study_slug)
    if simulators["simulator"].nunique() < 2:
        raise ArmsRefused(
            f"the study {study_slug!r} has not two simulators to choose from: `pipeline_study: {{simulators: [...]}}` in"
            " a study file makes a run of each"
        )
    scores = _scores(engine, study_slug).merge(simulators, on="run")
    rated = scores.dropna(subset=["score"])
    if rated.empty:
        raise ArmsRefused(
            f"nobody has rated the simulators of {study_slug!r} yet:"
            f" `impactbench review open {study_slug} --rubric {RUBRIC}` opens a set for it"
        )
    vary = standardised(rated["score"].tolist(), rated["rater"].tolist())
    found = standardised_groups(
        rated["score"].tolist(),
        raters=rated["rater"].tolist(),
        groups=rated["simulator"].tolist(),
        clusters=rated["base_scenario"].tolist(),
    )
    steady = rated.loc[pd.isna(vary), "rater"]
    return SimulatorRatings(
        simulators=tuple(found),
        raters=int(rated["rater"].nunique()),
        left_out=tuple(sorted(set(steady))),
        not_rated=len(scores) - len(rated),
    )


def _simulators(engine: Engine, study_slug: str) -> pd.DataFrame:
    """run, simulator."""
    runs = run_frames.designs(engine, study_slug)
    runs["simulator"] = [ModelCall.model_validate(each["simulator"]).slug for each in runs["design"]]
    return runs[["run", "simulator"]]


def _scores(engine: Engine, study_slug: str) -> pd.DataFrame:
    """An assignment under the rubric: rater, run, base_scenario, score (missing where there is none yet)."""
    seats = frames.assignments(engine, study_slug)
    seats = seats[(seats["repeat"] == 0) & seats["review_set"].isin(_review_sets(engine, study_slug))]
    seats = seats.merge(
        frames.conversations(engine, study_slug)[["conversation_id", "run", "base_scenario"]],
        on="conversation_id",
    )
    newest = (
        select(
            response.rater_id,
            response.review_set_id,
            response.subject,
            func.max(response.revision).label("r"),
        )
        .where(response.question == QUESTION)
        .group_by(response.rater_id, response.review_set_id, response.subject)
        .subquery()
    )
    query = (
        select(response.rater_id, review_set.slug.label("review_set"), response.subject, response.value)
        .join(t.ReviewSet, review_set.id == response.review_set_id)
        .join(t.Study, study.id == review_set.study_id)
        .join(
            newest,
            (newest.c.rater_id == response.rater_id)
            & (newest.c.review_set_id == response.review_set_id)
            & (newest.c.subject == response.subject)
            & (newest.c.r == response.revision),
        )
        .where(study.slug == study_slug, response.question == QUESTION)
    )
    with reading(engine) as session:
        rows = session.connection().execute(query).all()
    given = {(rater, where, subject): value for rater, where, subject, value in rows}
    keys = zip(seats["rater_id"], seats["review_set"], "item/" + seats["code"], strict=True)
    seats["score"] = pd.Series([given.get(key) for key in keys], index=seats.index, dtype="float64")
    return seats[["rater", "run", "base_scenario", "score"]]


def _review_sets(engine: Engine, study_slug: str) -> list[str]:
    """The review sets whose rubric asks how realistic the person is, on the scale of ten."""
    query = select(review_set.slug, review_set.rubric).join(t.Study, study.id == review_set.study_id)
    with reading(engine) as session:
        rows = session.connection().execute(query.where(study.slug == study_slug)).all()
    return [slug for slug, rubric in rows if QUESTION in _questions(rubric)]


def _questions(rubric: dict[str, list[dict[str, str]]]) -> list[str]:
    return [str(question.get("id")) for question in rubric.get("item") or []]

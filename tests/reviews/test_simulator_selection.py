"""Candidate simulators are compared by what raters say, each rater's own use of the scale taken out."""

import pytest
from sqlalchemy import Engine
from sqlmodel import select

from impactbench.pipeline_studies.arms import ArmsRefused
from impactbench.store import tables as t
from impactbench.store.engine import writing
from reviews.rubrics import load
from reviews.simulator_selection import RUBRIC, rate_simulators
from tests.reviews.invented_study import add_raters, add_study

SEEMS = {"run-tansy-2": 2, "run-corvid-7": 1}


def open_set(engine: Engine) -> None:
    """Two raters on every conversation; the second uses the upper half of the scale, a third one number alone."""
    add_raters(engine, "ana", "ben", "cy")
    with writing(engine) as session:
        study = session.exec(select(t.Study)).one()
        for run in session.exec(select(t.Run)).all():
            run.manifest = {"design": {"simulator": {"model": f"a/{run.slug}"}}}
        rubric = load(RUBRIC).model_dump(mode="json")
        seats = t.ReviewSet(study_id=study.id, slug="real", origin="design", design_hash="x", rubric=rubric)
        session.add(seats)
        session.flush()
        for rater in session.exec(select(t.Rater)).all():
            for conversation in session.exec(select(t.Conversation)).all():
                scenario = session.get_one(t.Scenario, conversation.scenario_id)
                code = f"{rater.pseudonym}-{conversation.id}"
                session.add(
                    t.Assignment(
                        study_id=study.id,
                        review_set_id=seats.id,
                        conversation_id=conversation.id,
                        metric_version_id=scenario.metric_version_id,
                        rater_id=rater.id,
                        code=code,
                        position=conversation.id,
                    )
                )


def rate(engine: Engine, *, revision: int = 1, shift: int = 0) -> None:
    with writing(engine) as session:
        slugs = {run.id: run.slug for run in session.exec(select(t.Run)).all()}
        names = {rater.id: rater.pseudonym for rater in session.exec(select(t.Rater)).all()}
        for seat in session.exec(select(t.Assignment)).all():
            run = session.get_one(t.Conversation, seat.conversation_id).run_id
            own = {"ana": 0, "ben": 5}.get(names[seat.rater_id])
            score = 7 if own is None else own + SEEMS[slugs[run]] + seat.position % 3 + shift
            session.add(
                t.Response(
                    rater_id=seat.rater_id,
                    review_set_id=seat.review_set_id,
                    subject=f"item/{seat.code}",
                    question="realism_of_ten",
                    revision=revision,
                    value=score,
                )
            )


def test_the_simulator_that_raters_find_more_real_is_ahead_whatever_part_of_the_scale_they_use(
    engine: Engine,
) -> None:
    add_study(engine)
    with pytest.raises(ArmsRefused, match="not two simulators"):
        rate_simulators(engine, "winter")
    open_set(engine)
    with pytest.raises(ArmsRefused, match="nobody has rated"):
        rate_simulators(engine, "winter")
    rate(engine, shift=-1)
    rate(engine, revision=2)
    found = rate_simulators(engine, "winter")
    first, second = found.simulators
    assert (first.group, second.group) == ("run-tansy-2", "run-corvid-7")
    assert (found.raters, found.left_out, found.not_rated) == (3, ("cy",), 0)
    assert first.n_ratings == second.n_ratings == 16
    assert first.raw_mean > second.raw_mean
    assert first.behind_best is None
    assert second.behind_best is not None
    assert second.behind_best.value == pytest.approx((second.mean.value or 0) - (first.mean.value or 0))
    assert second.behind_best.notes == ("fewer than 5 clusters (2): no pooled interval",)

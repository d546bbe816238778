"""What the public sees of a study: nothing before its release, never a rater, and every number with its evidence."""

import re
from dataclasses import replace

import numpy as np
import pytest
from sqlalchemy import Engine
from sqlmodel import select

from impactbench.domain import Polarity
from impactbench.store import frames
from impactbench.store import tables as t
from impactbench.store.engine import writing
from reviews.locking import lock_set, mark_reported
from reviews.public.conversations import transcript, verdicts_of
from reviews.public.explore import Filters, metric_rates, model_order, place_rates
from reviews.public.nutrition import nutrition_labels
from reviews.public.releasing import NotReleased, public_studies, release_study, withdraw_study
from reviews.public.results import PublicResults, kept_public, public_state, read_public
from tests.reviews.invented_study import add_judge, add_study, place_metrics
from tests.reviews.test_extension import answer_all, open_set
from validation.contested import Status

RATERS = ("Ada", "Bo", "Cy", "Di", "Ed", "Flo")
SECRET = "they said it at home"


@pytest.fixture
def winter(sqlite_engine: Engine) -> Engine:
    """A judged study with its metrics in two subareas; nobody has reviewed it."""
    add_study(sqlite_engine)
    add_judge(sqlite_engine)
    place_metrics(sqlite_engine)
    return sqlite_engine


def reviewed(engine: Engine, *, reported: bool) -> None:
    open_set(engine)
    answer_all(engine)
    if reported:
        lock_set(engine, "winter", "first")
        mark_reported(engine, "winter")


def results_of(engine: Engine) -> PublicResults:
    release_study(engine, "winter", transcripts=True)
    return read_public(engine, "winter")


def test_a_study_is_seen_from_its_release_to_its_withdrawal(engine: Engine) -> None:
    add_study(engine)
    add_judge(engine)
    assert public_studies(engine) == []
    with pytest.raises(NotReleased, match="no study 'winter' has been released"):
        read_public(engine, "winter")
    assert read_public(engine, "winter", unreleased=True).study.released_at is None
    first = release_study(engine, "winter", transcripts=False)
    again = release_study(engine, "winter", transcripts=True)
    assert (first.transcripts, again.transcripts) == (False, True)
    assert first.released_at == again.released_at
    assert [study.slug for study in public_studies(engine)] == ["winter"]
    assert read_public(engine, "winter").judge == "tansy-2"
    assert withdraw_study(engine, "winter")
    assert not withdraw_study(engine, "winter")
    with pytest.raises(NotReleased):
        read_public(engine, "winter")
    with pytest.raises(NotReleased, match="there is no study 'x'; there is winter"):
        release_study(engine, "x", transcripts=False)


def test_conversations_stay_hidden_unless_released_and_while_experts_are_at_work(winter: Engine) -> None:
    results = results_of(winter)
    metric = results.metrics["kindness", "m01"]
    first = verdicts_of(winter, results, metric)[0].conversation_id
    found = transcript(winter, results, metric, first)
    assert found is not None
    assert [turn.content for turn in found.turns] == ["hi", "hello"]

    release_study(winter, "winter", transcripts=False)
    assert transcript(winter, read_public(winter, "winter"), metric, first) is None

    reviewed(winter, reported=False)
    hidden = results_of(winter)
    assert hidden.study.under_review
    assert transcript(winter, hidden, metric, first) is None
    assert verdicts_of(winter, hidden, metric) == []
    assert metric_rates(hidden)["both_scored"].sum() == 15


def test_a_conversation_of_another_study_is_not_shown(winter: Engine) -> None:
    results = results_of(winter)
    other = replace(results, study=replace(results.study, slug="summer"))
    assert transcript(winter, other, results.metrics["kindness", "m01"], 1) is None


def test_what_experts_said_counts_once_it_is_reported_and_never_names_them(winter: Engine) -> None:
    reviewed(winter, reported=False)
    before = results_of(winter)
    (line, *_) = nutrition_labels(before)["tansy-2"].promotes
    assert (line.checked.status, line.checked.n_experts) == (Status.NOT_ASSESSED, 0)
    assert line.checked.agreement.undefined_because == "not_checked_by_experts"

    lock_set(winter, "winter", "first")
    mark_reported(winter, "winter")
    after = read_public(winter, "winter")
    (line, *_) = nutrition_labels(after)["tansy-2"].promotes
    assert line.checked.n_experts == 6
    ratings = frames.judgments(winter, "winter")
    of_m01 = ratings[ratings["metric_version_id"] == after.metrics["kindness", "m01"].metric_version_id]
    assert line.checked.n_items == len(of_m01["passed"].dropna())
    assert line.checked.agreement.value == pytest.approx(of_m01["passed"].dropna().astype(float).mean())
    said = repr((nutrition_labels(after), after.metrics, place_rates(after), model_order(after), after.study))
    assert not [name for name in RATERS if re.search(rf"\b{name}\b", said)]


def test_the_lines_of_a_label_are_the_rates_of_their_conversations(winter: Engine) -> None:
    results = results_of(winter)
    judged = frames.conversations(winter, "winter").merge(
        frames.judgments(winter, "winter")[["conversation_id", "passed"]], on="conversation_id"
    )
    for model, label in nutrition_labels(results).items():
        for line in (*label.promotes, *label.avoids):
            rows = judged[
                (judged["model"] == model) & (judged["polarity"] == line.polarity) & judged["passed"].notna()
            ]
            assert line.rate.n == len(rows)
            assert line.rate.value == pytest.approx(rows["passed"].astype(float).mean())
            teens = rows[rows["age"] == "teen"]["passed"].astype(float)
            assert line.teen.value == pytest.approx(teens.mean())
        assert {line.polarity for line in label.promotes} == {Polarity.POSITIVE}
        assert {line.heading for line in label.avoids} == {"All metrics", "grief"}


def test_verdicts_of_older_versions_and_earlier_runs_are_not_pooled(winter: Engine) -> None:
    counted = read_public(winter, "winter", unreleased=True).tally.scored.sum()
    with writing(winter) as session:
        old = session.exec(select(t.Run).where(t.Run.slug == "run-tansy-2")).one()
        newer = t.Run(study_id=old.study_id, slug="second")
        session.add(newer)
        session.flush()
        judge = session.exec(select(t.Judge)).one()
        for row in session.exec(select(t.Conversation).where(t.Conversation.run_id == old.id)).all():
            scenario = session.get_one(t.Scenario, row.scenario_id)
            copy = t.Conversation(
                run_id=newer.id or 0,
                key=row.key,
                scenario_id=row.scenario_id,
                model_id=row.model_id,
                content_hash=row.content_hash,
            )
            session.add(copy)
            session.flush()
            session.add(
                t.Judgment(
                    conversation_id=copy.id or 0,
                    metric_version_id=scenario.metric_version_id,
                    judge_id=judge.id or 0,
                    present=True,
                )
            )
    results = read_public(winter, "winter", unreleased=True)
    rates = metric_rates(results).set_index(["metric", "model"])["both_rate"]
    assert rates["m01", "tansy-2"] == 1
    assert rates["m02", "tansy-2"] == 0
    assert results.tally.scored.sum() in (counted, counted + 1)


def test_weights_of_the_reader_change_the_order_and_the_change_is_shown(winter: Engine) -> None:
    results = results_of(winter)
    areas = results.places["area"].unique().tolist()
    order = model_order(results, weights={areas[0]: 1.0, **dict.fromkeys(areas[1:], 0.0)})
    assert order.n_metrics == 2
    assert {one.name for one in order.ranking.models} == {"corvid-7", "tansy-2"}
    assert all(one.lowest <= one.rank <= one.highest for one in order.ranking.models)
    with pytest.raises(ValueError, match="one of them is above 0"):
        model_order(results, weights=dict.fromkeys(areas, 0.0))
    only = place_rates(results, level="all", filters=Filters(models=frozenset({"tansy-2"})))
    assert [(row.model, row.n_metrics) for row in only] == [("tansy-2", 2)]
    tally = results.tally
    j = tally.models.index("tansy-2")
    assert only[0].rate.value == pytest.approx(tally.passed[:, j].sum() / tally.scored[:, j].sum())
    assert place_rates(results, filters=Filters(statuses=frozenset({Status.CONTESTED}))) == []
    assert np.isnan(metric_rates(results)["both_rate"]).sum() == 0


def test_results_are_read_again_only_when_something_public_has_changed(winter: Engine) -> None:
    release_study(winter, "winter", transcripts=False)
    first, state = kept_public(winter, "winter"), public_state(winter, "winter")
    assert kept_public(winter, "winter") is first
    release_study(winter, "winter", transcripts=True)
    assert public_state(winter, "winter") != state
    assert kept_public(winter, "winter").study.transcripts
    withdraw_study(winter, "winter")
    with pytest.raises(NotReleased):
        kept_public(winter, "winter")


def test_what_a_reader_may_not_see_is_in_no_transcript(winter: Engine) -> None:
    with writing(winter) as session:
        for scenario in session.exec(select(t.Scenario)).all():
            scenario.adversarial_goal = scenario.persona = SECRET
        for judgment in session.exec(select(t.Judgment)).all():
            judgment.raw_reply = SECRET
    results = results_of(winter)
    for metric in results.metrics.values():
        found = verdicts_of(winter, results, metric)
        shown = [transcript(winter, results, metric, one.conversation_id) for one in found]
        assert SECRET not in repr((found, shown))

"""The statistics of a paper, case studies and change over time, from what the public sees of a study."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Engine
from sqlmodel import select

from impactbench.domain import Role
from impactbench.store import tables as t
from impactbench.store.engine import writing
from reviews.public.cases import CaseRefused, cases, find_metric_version, mark_case
from reviews.public.over_time import over_time
from reviews.public.paper import paper_statistics
from reviews.public.releasing import release_study
from reviews.public.results import PublicResults, read_public
from tests.reviews.invented_study import add_judge, add_raters, add_study, place_metrics


def judged(engine: Engine) -> PublicResults:
    add_study(engine)
    add_judge(engine)
    place_metrics(engine)
    release_study(engine, "winter", transcripts=True)
    return read_public(engine, "winter")


def person(engine: Engine, name: str, role: Role) -> int:
    add_raters(engine, name, role=role)
    with writing(engine) as session:
        return session.exec(select(t.Rater).where(t.Rater.pseudonym == name)).one().id or 0


def test_the_statistics_of_a_paper_rest_on_the_verdicts_that_are_shown(sqlite_engine: Engine) -> None:
    results = judged(sqlite_engine)
    found = paper_statistics(results, draws=50)
    tally = results.tally
    for j, model in enumerate(tally.models):
        pooled = found.rates.models[model].pooled
        assert pooled.value == pytest.approx(tally.passed[:, j].sum() / tally.scored[:, j].sum())
        assert pooled.n == tally.scored[:, j].sum()
    widest = found.spread[0]
    rates = [getattr(one, widest.polarity).value for one in found.places.subareas[widest.subarea].values()]
    assert (widest.lowest, widest.highest) == (min(rates), max(rates))
    assert [one.range for one in found.spread] == sorted((one.range for one in found.spread), reverse=True)
    assert set(found.ages.by_metric) == set(tally.metrics)
    assert set(found.orders) == {"kindness"}


def test_a_case_is_marked_by_a_maintainer_and_a_change_is_a_revision(engine: Engine) -> None:
    results = judged(engine)
    maintainer = person(engine, "Maude", Role.MAINTAINER)
    version = results.metrics["kindness", "m01"].metric_version_id
    with writing(engine) as session:
        row = session.exec(select(t.Judgment).where(t.Judgment.metric_version_id == version)).first()
        assert row is not None
        place = {"conversation_id": row.conversation_id, "metric_version_id": version}

    def mark(**said: object) -> int:
        return mark_case(engine, "winter", **{**place, "marked_by": maintainer, **said})  # type: ignore[arg-type]

    assert mark(first_turn=1, note="at once") == 1
    assert mark(first_turn=1, note="at once") == 1
    assert mark(first_turn=1, corrected_turn=1, note="and taken back") == 2
    (case,) = cases(engine, results)
    assert (case.first_turn, case.corrected, case.note, case.revision) == (1, True, "and taken back", 2)
    assert "Maude" not in repr(case)
    with writing(engine) as session:
        assert len(session.exec(select(t.CaseMark)).all()) == 2
    for said, sentence in (
        ({"first_turn": 2}, "exchange 2 is not in the conversation, which has 1"),
        ({"first_turn": None, "corrected_turn": 1}, "only after it has appeared"),
        ({"first_turn": 1, "conversation_id": 999}, "no conversation 999"),
        ({"first_turn": 1, "marked_by": person(engine, "Ada", Role.EXPERT)}, "only an active maintainer"),
    ):
        with pytest.raises(CaseRefused, match=sentence):
            mark(**said)
    release_study(engine, "winter", transcripts=False)
    assert cases(engine, read_public(engine, "winter")) == []


def test_a_case_outlives_a_revision_and_says_of_which_wording_it_is(engine: Engine) -> None:
    results = judged(engine)
    maintainer = person(engine, "Maude", Role.MAINTAINER)
    old = results.metrics["kindness", "m01"].metric_version_id
    with writing(engine) as session:
        judgments = session.exec(select(t.Judgment).where(t.Judgment.metric_version_id == old)).all()
        first, second = (row.conversation_id for row in judgments[:2])
    for conversation in (first, second):
        mark_case(
            engine,
            "winter",
            conversation_id=conversation,
            metric_version_id=old,
            marked_by=maintainer,
            first_turn=1,
        )
    reworded = judge_anew(engine, old, but_for=second)
    (case,) = cases(engine, read_public(engine, "winter"))
    assert (case.conversation_id, case.version, case.shown_version) == (first, 1, 2)
    assert (case.of_earlier_wording, case.definition, case.metric) == (True, "Something is done.", "m01")
    assert find_metric_version(engine, "winter", "kindness/m01", conversation_id=first) == reworded
    assert find_metric_version(engine, "winter", "kindness/m01", conversation_id=second) == old
    mark_case(
        engine,
        "winter",
        conversation_id=first,
        metric_version_id=reworded,
        marked_by=maintainer,
        first_turn=None,
    )
    (case,) = cases(engine, read_public(engine, "winter"))
    assert (case.first_turn, case.version, case.of_earlier_wording) == (None, 2, False)
    with pytest.raises(CaseRefused, match="the study 'summer' has no conversation"):
        find_metric_version(engine, "summer", "kindness/m01", conversation_id=first)


def judge_anew(engine: Engine, old: int, *, but_for: int) -> int:
    """Revise a metric and judge its conversations once more, all but one; the id of the new wording."""
    with writing(engine) as session:
        before = session.get_one(t.MetricVersion, old)
        new = t.MetricVersion(
            **before.model_dump(exclude={"id", "version", "definition", "content_hash"}),
            version=2,
            definition="Something else is done.",
            content_hash="reworded",
        )
        session.add(new)
        session.flush()
        for row in session.exec(select(t.Judgment).where(t.Judgment.metric_version_id == old)).all():
            if row.conversation_id != but_for:
                kept = row.model_dump(exclude={"id", "metric_version_id", "unit_key"})
                session.add(t.Judgment(**kept, metric_version_id=new.id, unit_key=f"again-{row.id}"))
        return new.id or 0


def test_no_line_joins_rates_across_another_wording_or_another_judge(sqlite_engine: Engine) -> None:
    judged(sqlite_engine)
    again(sqlite_engine, "second", days=1)
    again(sqlite_engine, "third", days=2, reworded=True)
    add_judge_of(sqlite_engine, "third", model="corvid-7")
    points = [
        p for p in over_time(read_public(sqlite_engine, "winter"), "kindness", "m01") if p.model == "tansy-2"
    ]
    assert [(p.run, p.version, p.judge, p.segment) for p in points] == [
        ("run-tansy-2", 1, "tansy-2", 0),
        ("second", 1, "tansy-2", 0),
        ("third", 2, "tansy-2", 1),
        ("third", 2, "corvid-7", 2),
    ]
    assert [p.changed for p in points] == [
        (),
        (),
        ("the wording: version 1 became 2",),
        ("the judge",),
    ]
    assert all(p.rate.n > 0 and p.rate.low is not None for p in points)


def again(engine: Engine, run: str, *, days: int, reworded: bool = False) -> None:
    """tansy-2's conversations on m01 once more, judged present; under a new wording if reworded."""
    with writing(engine) as session:
        old = session.exec(select(t.Run).where(t.Run.slug == "run-tansy-2")).one()
        made = t.Run(study_id=old.study_id, slug=run, created_at=datetime.now(UTC) + timedelta(days=days))
        first = session.exec(select(t.MetricVersion).where(t.MetricVersion.name == "m01")).one()
        new = t.MetricVersion(
            metric_id=first.metric_id,
            version=2,
            name="m01 anew",
            polarity=first.polarity,
            definition="Something else.",
            content_hash="anew",
        )
        session.add_all([made, new] if reworded else [made])
        session.flush()
        version = (new if reworded else first).id or 0
        judge = session.exec(select(t.Judge)).one()
        for scenario in session.exec(
            select(t.Scenario).where(t.Scenario.metric_version_id == first.id)
        ).all():
            conversation = t.Conversation(
                run_id=made.id or 0,
                key=scenario.slug,
                scenario_id=scenario.id or 0,
                model_id=judge.model_id,
                content_hash=f"{run}{scenario.slug}",
            )
            session.add(conversation)
            session.flush()
            session.add(
                t.Judgment(
                    conversation_id=conversation.id or 0,
                    metric_version_id=version,
                    judge_id=judge.id or 0,
                    present=True,
                )
            )


def add_judge_of(engine: Engine, run: str, *, model: str) -> None:
    """Another judge on the conversations of a run."""
    with writing(engine) as session:
        of = session.exec(select(t.Model).where(t.Model.slug == model)).one()
        judge = t.Judge(model_id=of.id or 0, prompt_hash="q", parameters_hash="q")
        session.add(judge)
        session.flush()
        for row in session.exec(
            select(t.Judgment)
            .join(t.Conversation, t.Conversation.id == t.Judgment.conversation_id)  # type: ignore[arg-type]
            .join(t.Run, t.Run.id == t.Conversation.run_id)  # type: ignore[arg-type]
            .where(t.Run.slug == run)
        ).all():
            session.add(
                t.Judgment(
                    conversation_id=row.conversation_id,
                    metric_version_id=row.metric_version_id,
                    judge_id=judge.id or 0,
                    present=False,
                )
            )

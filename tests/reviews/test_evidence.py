"""From labels and judgments to the audit: what is counted, and what never is."""

import pytest
from sqlalchemy import Engine
from sqlmodel import select

from impactbench.domain import LabelVerdict, Polarity
from impactbench.store import tables as t
from impactbench.store.engine import reading, writing
from reviews import desk, evidence
from reviews.audit.items import foremost_judge, judges_of
from reviews.contested import contest
from reviews.labels import Answer
from reviews.rating import worklist
from tests.browser.desks import plain_turns, set_desks
from validation.contested import Status
from validation.mapping import Policy
from validation.metric_evidence import Domain

P, B, F = LabelVerdict.PASS, LabelVerdict.BORDERLINE, LabelVerdict.FAIL
TABLE = [(P, P, P), (P, P, F), (F, F, F), (P, B, F), (F, F, None), (P, None, None)]


@pytest.fixture
def rated(engine: Engine) -> Engine:
    """Six conversations, three raters, the labels of TABLE; the judge passes the even ones."""
    names = ("kestrel", "wren", "heron")
    set_desks(engine, [plain_turns(n) for n in range(1, 7)], *names, base_url="http://here")
    with reading(engine) as session:
        ids = {rater.pseudonym: rater.id or 0 for rater in session.exec(select(t.Rater)).all()}
    for column, name in enumerate(names):
        for code, row in zip(worklist.codes(engine, ids[name]), TABLE, strict=True):
            if (verdict := row[column]) is not None:
                desk.save(engine, ids[name], code, Answer(verdict=verdict), base_revision=0)
    return engine


def test_agreement_counts_pairable_items_and_submitted_labels_only(rated: Engine) -> None:
    (whole, alone) = evidence.agreement(evidence.read_tables(rated, "winter"))
    assert (whole.group, alone.group) == (evidence.ALL, "Asks before it advises")
    assert (whole.found.n_items, whole.found.n_pairable_items, whole.found.n_ratings) == (6, 5, 15)
    shares = [1, 1 / 3, 1, 0, 1]
    assert whole.found.agreement.value == pytest.approx(sum(shares) / 5)


def test_no_verdict_and_judgments_leave_agreement_as_it_is(rated: Engine) -> None:
    before = evidence.agreement(evidence.read_tables(rated, "winter"))[0].found.alpha_ordinal
    with reading(rated) as session:
        heron = session.exec(select(t.Rater).where(t.Rater.pseudonym == "heron")).one().id or 0
    last = worklist.codes(rated, heron)[-1]
    desk.save(rated, heron, last, Answer(no_verdict_because="outside_my_field"), base_revision=0)
    with writing(rated) as session:
        session.add(t.Judgment(conversation_id=1, metric_version_id=1, judge_id=1, repeat=1, present=True))
    tables = evidence.read_tables(rated, "winter")
    assert evidence.agreement(tables)[0].found.alpha_ordinal == before
    assert evidence.coverage(tables)[0].cannot_judge == 1


def test_the_newest_revision_counts_and_the_earlier_stays(rated: Engine) -> None:
    with reading(rated) as session:
        kestrel = session.exec(select(t.Rater).where(t.Rater.pseudonym == "kestrel")).one().id or 0
    first = worklist.codes(rated, kestrel)[0]
    desk.save(rated, kestrel, first, Answer(verdict=F), base_revision=1)
    ratings = evidence.expert_ratings(evidence.read_tables(rated, "winter").assignments)
    assert ratings.n_ratings == 15
    assert ratings.counts[0].tolist() == [1, 0, 2]
    assert [label.verdict for label in desk.history(rated, kestrel, first)] == [P, F]


def test_coverage_tells_one_rater_from_none(rated: Engine) -> None:
    whole = evidence.coverage(evidence.read_tables(rated, "winter"))[0]
    assert whole.items == 6
    assert whole.by_raters == (0, 1, 1, 4)
    assert (whole.labels, whole.not_yet_rated, whole.raters, whole.components) == (15, 3, 3, 1)


def test_the_judge_is_compared_under_the_named_policy(rated: Engine) -> None:
    tables = evidence.read_tables(rated, "winter")
    whole = evidence.judges_against_experts(tables)[0]
    # The experts: pass, pass, fail, undecided, fail, pass; the judge: fail, pass, fail, pass, fail, pass.
    assert whole.found.accuracy.value == pytest.approx((0 + 1 + 1 + 0.5 + 1 + 1) / 6)
    assert whole.three_way.tolist() == [[2, 0], [0, 1], [1, 2]]
    assert whole.found.accuracy.policy == "map_then_agg|b=half|majority|tie=half|singles=include"
    without = evidence.judges_against_experts(tables, Policy(singles="exclude"))[0]
    assert without.found.accuracy.n == 5


def test_polarity_is_applied_once_to_the_judge_and_never_to_the_experts(rated: Engine) -> None:
    before = evidence.judges_against_experts(evidence.read_tables(rated, "winter"))[0]
    with writing(rated) as session:
        session.get_one(t.MetricVersion, 1).polarity = Polarity.NEGATIVE
    after = evidence.judges_against_experts(evidence.read_tables(rated, "winter"))[0]
    assert after.found.accuracy.value == pytest.approx(1 - (before.found.accuracy.value or 0))


def test_too_little_data_is_never_fine_and_says_what_is_missing(rated: Engine) -> None:
    (one,) = contest.metric_statuses(evidence.read_tables(rated, "winter"))
    assert one.status is not Status.NO_CONCERN_FOUND
    assert not one.evidence.of(Domain.EXPERT_DISAGREEMENT).assessed
    assert "9 items" in (one.evidence.of(Domain.EXPERT_DISAGREEMENT).missing or "")


def test_a_status_is_about_one_judge_the_one_with_most_verdicts_unless_another_is_named(
    rated: Engine,
) -> None:
    """A second judge contradicts the first wherever it says anything, which it does not once."""
    with writing(rated) as session:
        first = session.exec(select(t.Judgment)).all()
        other = t.Judge(model_id=session.get_one(t.Judge, 1).model_id, prompt_hash="q", parameters_hash="q")
        session.add(other)
        session.flush()
        for one in first[1:]:
            session.add(
                t.Judgment(
                    conversation_id=one.conversation_id,
                    metric_version_id=one.metric_version_id,
                    judge_id=other.id,
                    present=not one.present,
                )
            )
    tables = evidence.read_tables(rated, "winter")
    judges = {one.judge_id: one for one in judges_of(tables)}
    assert foremost_judge(tables) == judges[1]

    def accuracy(judge: int | None) -> tuple[float | None, int]:
        (one,) = contest.metric_statuses(tables, judge=judges[judge] if judge else None)
        found = one.evidence.of(Domain.JUDGE_AGAINST_EXPERTS)
        return found.estimate.value, found.n

    assert accuracy(None) == accuracy(1) != accuracy(2)
    assert (accuracy(1)[1], accuracy(2)[1]) == (6, 5)


def test_a_study_nobody_rates_has_an_audit_without_numbers(engine: Engine) -> None:
    set_desks(engine, [plain_turns(1)], base_url="http://here")
    tables = evidence.read_tables(engine, "winter")
    assert evidence.coverage(tables)[0].items == 0
    assert evidence.agreement(tables)[0].found.alpha_nominal.undefined_because == "no_pairable_items"
    assert [row.found.accuracy.value for row in evidence.judges_against_experts(tables)] == [None, None]
    assert [one.status for one in contest.metric_statuses(tables)] == [Status.NOT_ASSESSED]


def test_split_items_come_most_divided_first(rated: Engine) -> None:
    split = evidence.split_items(evidence.read_tables(rated, "winter").assignments)
    assert split[["fail", "borderline", "pass"]].to_numpy().tolist() == [[1, 1, 1], [1, 0, 2]]

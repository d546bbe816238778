"""Suggested metrics before reviewers: who may say what, what is decided once, and what enters the suite."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import Engine
from sqlmodel import select

from impactbench.domain import SubmissionDecision
from impactbench.metrics import Suite, load_suite
from impactbench.store import tables as t
from impactbench.store.engine import reading
from impactbench.suite.importing import import_suite
from impactbench.suite.submission_store import (
    Revision,
    State,
    begin,
    keep_draft,
    keep_trial,
    send,
    suggestion,
)
from impactbench.suite.submissions import SubmissionRefused
from reviews.submission_review import Marks, decide, metrics_of_suite, review, submitter, to_review
from tests.suggestions import add_people, whole

GOOD = Marks(4, 3, 4, SubmissionDecision.ACCEPT, "One can point at it.")
People = dict[str, t.Rater]


@pytest.fixture
def people(engine: Engine) -> People:
    return add_people(engine)


def sent(engine: Engine, people: People) -> tuple[str, Revision]:
    author = people["author"].id or 0
    code = begin(engine, author)
    send(engine, code, author, whole())
    return code, newest(engine, code)


def newest(engine: Engine, code: str) -> Revision:
    found = suggestion(engine, code).newest
    assert found is not None
    return found


def tried(engine: Engine, revision: Revision, *, tells: bool) -> None:
    outcomes = [{"side": "present", "example": "x", "present": tells, "justification": "y", "because": ""}]
    keep_trial(engine, revision.id, model="scripted/judge", prompt_hash="p", outcomes=outcomes)


def accept(engine: Engine, revision: Revision, looking: t.Rater, **more: Any) -> str:
    words: dict[str, Any] = {"decision": SubmissionDecision.ACCEPT, "because": "As reviewed."}
    return decide(engine, revision.id, looking, **words | more)


def test_an_accepted_suggestion_becomes_a_version_of_a_metric_in_its_place(
    engine: Engine, people: People
) -> None:
    code, revision = sent(engine, people)
    review(engine, revision.id, people["inner"], GOOD)
    tried(engine, revision, tells=True)
    assert accept(engine, revision, people["keeper"]) == "rest-and-sleep/suggests-going-to-bed"
    assert suggestion(engine, code).state is State.ACCEPTED
    with reading(engine) as session:
        version = session.exec(select(t.MetricVersion)).one()
        outcome = session.exec(select(t.SubmissionOutcome)).one()
        place = session.exec(select(t.Subarea.slug).join(t.Placement)).one()
    assert (version.version, version.name, version.author) == (
        1,
        "Suggests going to bed",
        f"submission {code}",
    )
    assert version.examples_absent == ["Here are ten more wrecks of the Baltic.", "Good night!"]
    assert (outcome.metric_version_id, outcome.trial_id, place) == (version.id, 1, "physical-health")


def test_opinions_are_added_and_never_replaced(engine: Engine, people: People) -> None:
    code, revision = sent(engine, people)
    other = Marks(2, 2, 2, SubmissionDecision.REVISE, "On second reading, unclear.")
    for marks in (GOOD, GOOD, other):
        review(engine, revision.id, people["inner"], marks)
    review(engine, revision.id, people["keeper"], GOOD)
    said = [(one.reviewer, one.clarity, one.advice) for one in newest(engine, code).reviews]
    assert said == [("inner", 3, "accept"), ("inner", 2, "revise"), ("keeper", 3, "accept")]


def test_what_is_sent_back_is_revised_and_both_revisions_keep_their_history(
    engine: Engine, people: People
) -> None:
    code, first = sent(engine, people)
    review(engine, first.id, people["inner"], GOOD)
    decide(
        engine,
        first.id,
        people["keeper"],
        decision=SubmissionDecision.REVISE,
        because="Name the hour.",
    )
    author = people["author"].id or 0
    assert suggestion(engine, code).state is State.TO_REVISE
    keep_draft(engine, code, author, whole(name="Suggests going to bed after midnight"))
    assert send(engine, code, author, whole(name="Suggests going to bed after midnight")) == 2
    kept = suggestion(engine, code)
    assert (kept.state, [len(one.reviews) for one in kept.revisions]) == (State.WAITING, [1, 0])
    assert kept.revisions[0].outcome is not None
    with pytest.raises(SubmissionRefused, match="there is a newer revision, 2"):
        review(engine, first.id, people["inner"], GOOD)


def test_merging_names_a_metric_that_is_there(engine: Engine, people: People) -> None:
    import_suite(engine, Suite(benchmarks=load_suite().benchmarks[:1]))
    code, revision = sent(engine, people)
    words: dict[str, Any] = {"decision": SubmissionDecision.MERGE, "because": "Same act."}
    with pytest.raises(SubmissionRefused, match="there is no metric 'rest/none' to merge it into"):
        decide(engine, revision.id, people["keeper"], merged_into="rest/none", **words)
    into = metrics_of_suite(engine)[0]
    decide(engine, revision.id, people["keeper"], merged_into=into, **words)
    outcome = newest(engine, code).outcome
    assert (suggestion(engine, code).state, outcome and outcome.merged_into) == (State.MERGED, into)
    with pytest.raises(SubmissionRefused, match="has been decided; begin another"):
        send(engine, code, people["author"].id or 0, whole(name="Again"))


def test_acceptance_needs_a_review_and_a_trial_that_tells_or_a_word_that_there_is_none(
    engine: Engine, people: People
) -> None:
    code, revision = sent(engine, people)
    with pytest.raises(SubmissionRefused, match="nobody has reviewed it yet"):
        accept(engine, revision, people["keeper"], without_trial=True)
    review(engine, revision.id, people["inner"], GOOD)
    for tells in (None, False):
        if tells is not None:
            tried(engine, revision, tells=tells)
        with pytest.raises(SubmissionRefused, match="no trial of the judge has told"):
            accept(engine, revision, people["keeper"])
    assert metrics_of_suite(engine) == []
    accept(engine, revision, people["keeper"], without_trial=True)
    with pytest.raises(SubmissionRefused, match="this revision has been decided"):
        accept(engine, revision, people["second keeper"], without_trial=True)
    assert suggestion(engine, code).state is State.ACCEPTED


def test_two_maintainers_at_once_make_one_decision(engine: Engine, people: People) -> None:
    code, revision = sent(engine, people)
    review(engine, revision.id, people["inner"], GOOD)

    def by(name: str) -> str:
        try:
            return accept(engine, revision, people[name], without_trial=True)
        except SubmissionRefused as refused:
            return str(refused)

    with ThreadPoolExecutor(2) as threads:
        said = sorted(threads.map(by, ("keeper", "second keeper")))
    assert (
        said[0] == "rest-and-sleep/suggests-going-to-bed" or said[1] == "rest-and-sleep/suggests-going-to-bed"
    )
    assert any("decided" in one for one in said)
    assert newest(engine, code).outcome is not None


REFUSED: dict[str, tuple[str, Callable[[Engine, Revision, t.Rater], object], str]] = {
    "an external expert reviews": (
        "outer",
        lambda e, r, p: review(e, r.id, p, GOOD),
        "by internal experts and",
    ),
    "a methodologist reviews": (
        "reader",
        lambda e, r, p: review(e, r.id, p, GOOD),
        "by internal experts and",
    ),
    "the author reviews": ("author", lambda e, r, p: review(e, r.id, p, GOOD), "by internal experts and"),
    "a reviewer decides": ("inner", accept, "only a maintainer decides"),
    "a mark is out of range": (
        "inner",
        lambda e, r, p: review(e, r.id, p, Marks(5, 1, 1, SubmissionDecision.REJECT, "x")),
        "fidelity is 5, it must be from 1 to 4",
    ),
    "there is no reason": (
        "inner",
        lambda e, r, p: review(e, r.id, p, Marks(1, 1, 1, SubmissionDecision.REJECT, " ")),
        "a reason is missing",
    ),
}


@pytest.mark.parametrize("which", REFUSED)
def test_what_may_not_be_said_is_refused_and_not_kept(sqlite_engine: Engine, which: str) -> None:
    people = add_people(sqlite_engine)
    code, revision = sent(sqlite_engine, people)
    who, act, said = REFUSED[which]
    with pytest.raises(SubmissionRefused, match=said):
        act(sqlite_engine, revision, people[who])
    assert newest(sqlite_engine, code) == revision


def test_nobody_reviews_or_decides_about_their_own(sqlite_engine: Engine) -> None:
    people = add_people(sqlite_engine)
    for who in ("inner", "keeper"):
        me = people[who].id or 0
        code = begin(sqlite_engine, me)
        send(sqlite_engine, code, me, whole(name=f"Of {who}"))
        assert code not in [one.code for one in to_review(sqlite_engine, people[who])]
        with pytest.raises(SubmissionRefused, match="of their own"):
            review(sqlite_engine, newest(sqlite_engine, code).id, people[who], GOOD)


def test_experts_and_maintainers_suggest(sqlite_engine: Engine) -> None:
    people = add_people(sqlite_engine)
    assert submitter(sqlite_engine, "keeper") == people["keeper"].id
    for name, said in (
        ("reader", "is no expert or maintainer"),
        ("nobody", "there is nobody called 'nobody'"),
    ):
        with pytest.raises(SubmissionRefused, match=said):
            submitter(sqlite_engine, name)

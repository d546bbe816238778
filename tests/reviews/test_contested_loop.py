"""The contested loop from the flag to the change log: decide, revise, judge and review again, compare, adopt, publish."""

from dataclasses import dataclass

import pandas as pd
import pytest
from sqlalchemy import Engine
from sqlmodel import select

from impactbench.domain import DispositionKind, LabelVerdict, Role
from impactbench.store import frames
from impactbench.store import tables as t
from impactbench.store.engine import reading, writing
from reviews import evidence
from reviews.assignment import PlanRefused
from reviews.audit.groups import Kind, groups
from reviews.contested import change_log, dispositions, revisions
from reviews.contested.before_after import before_and_after
from reviews.contested.contest import metric_statuses
from reviews.contested.dispositions import Disposal, DispositionRefused, StaleDisposition, decide
from reviews.contested.revisions import (
    definition_of,
    differences,
    draft_second_review,
    new_version,
    revision_states,
)
from reviews.design.extension import draft_extension
from reviews.design.review_sets import save
from reviews.rating import worklist
from reviews.report.reasons import in_a_sentence
from tests.reviews.invented_study import add_judge, add_raters, add_study, answer
from tests.reviews.test_extension import MIXED, open_set
from validation.contested import Status, statuses
from validation.metric_evidence import Domain, DomainEvidence, MetricEvidence
from validation.results import Estimate

P, F = LabelVerdict.PASS, LabelVerdict.FAIL


@dataclass(frozen=True)
class Loop:
    """A study whose metric m01 divides the experts, and a maintainer."""

    engine: Engine
    old: int
    maintainer: int

    def decide(self, disposal: Disposal, *, base: int = 0, version: int | None = None) -> t.Disposition:
        found = metric_statuses(self.tables)[0]
        at = self.old if version is None else version
        return decide(self.engine, "winter", self.maintainer, at, disposal, base_revision=base, found=found)

    def revise(self) -> int:
        """The definition made narrower; the new version's id."""
        wording = definition_of(self.engine, self.old)
        narrower = wording.model_copy(update={"definition": "Something is done, in so many words."})
        new = new_version(self.engine, self.old, narrower, because="Two readings.", author="Max")
        self.decide(Disposal(decision=DispositionKind.REVISE, because="Two readings.", becomes=(new,)))
        return new

    @property
    def tables(self) -> evidence.StudyTables:
        return evidence.read_tables(self.engine, "winter")

    def waiting(self, version: int) -> pd.DataFrame:
        asked = frames.assignments(self.engine, "winter")
        return asked[(asked["metric_version_id"] == version) & (asked["status"] == "not_yet_rated")]


@pytest.fixture
def loop(engine: Engine) -> Loop:
    return loop_of(engine)


def loop_of(engine: Engine) -> Loop:
    """The study in a database that is empty."""
    add_study(engine)
    add_judge(engine)
    open_set(engine, raters=MIXED)
    add_raters(engine, "Max", role=Role.MAINTAINER)
    asked = frames.assignments(engine, "winter")
    for _, rows in asked.groupby("conversation_id"):
        for place, assignment in enumerate(rows["assignment_id"]):
            answer(engine, assignment, P if place == 0 else F)
    with reading(engine) as session:
        old = session.exec(select(t.MetricVersion.id).join(t.Metric).where(t.Metric.slug == "m01")).one()
        maintainer = session.exec(select(t.Rater.id).where(t.Rater.pseudonym == "Max")).one()
    return Loop(engine, old or 0, maintainer or 0)


def judge_again(loop: Loop, version: int) -> None:
    """The judge passes everything under a version."""
    said = frames.judgments(loop.engine, "winter")
    with writing(loop.engine) as session:
        for conversation in said.loc[said["metric_version_id"] == loop.old, "conversation_id"]:
            session.add(
                t.Judgment(
                    conversation_id=conversation,
                    metric_version_id=version,
                    judge_id=int(said["judge_id"].iloc[0]),
                    present=True,
                )
            )


def test_a_revision_goes_all_the_way_from_the_flag_to_the_change_log(loop: Loop) -> None:
    new = loop.revise()
    decided = dispositions.dispositions(loop.engine, "winter")
    (state,) = revision_states(loop.engine, "winter", decided)
    assert state.sentence == (
        "waiting for the judge: 8 conversations; to be put before experts again: 8 items"
    )
    judge_again(loop, new)
    draft = draft_second_review(loop.engine, "winter", old=loop.old, new=new, overlap=2, seed=1, raters=MIXED)
    save(loop.engine, draft)
    (state,) = revision_states(loop.engine, "winter", decided)
    assert state.sentence == "waiting for experts: 16 answers"
    again = loop.waiting(new)
    assert set(again["conversation_id"]) == set(
        frames.judgments(loop.engine, "winter").query("metric_version_id == @loop.old")["conversation_id"]
    )
    # Half of the items pass now and half fail, and the experts are of one mind.
    passes = sorted(set(again["conversation_id"]))[::2]
    for assignment, conversation in zip(again["assignment_id"], again["conversation_id"], strict=True):
        answer(loop.engine, assignment, P if conversation in passes else F)
    found = before_and_after(loop.tables, old=loop.old, new=new)
    assert found.items == 8
    assert found.alpha.before.value is not None
    assert found.alpha.before.value < 0
    assert found.alpha.after.value == pytest.approx(1)
    assert found.agreement.change.value == pytest.approx(1)
    assert found.sentence == "Experts agree better under the new version."
    (judge,) = found.judges.values()
    assert judge.after.value == pytest.approx(0.5)

    kept = loop.decide(
        Disposal(
            decision=DispositionKind.ADOPT,
            because="It works.",
            dissent=("Too narrow <b>now</b>.", ""),
            becomes=(new,),
        ),
        base=1,
    )
    assert change_log.publish(
        loop.engine, "winter", kept.id or 0, published_by=loop.maintainer, figures=found.record
    )
    assert not change_log.publish(loop.engine, "winter", kept.id or 0, published_by=loop.maintainer)
    (entry,) = change_log.change_log(loop.engine, "winter")
    assert entry.dissent == ("Too narrow <b>now</b>.",)
    text = change_log.as_markdown("winter", [entry])
    assert "    Too narrow <b>now</b>." in text
    assert "Something is[- done.-]{+ done, in so many words.+}" in text
    assert "8 items were rated under both versions" in text


def test_a_replaced_version_is_pooled_with_nothing_and_keeps_its_own_row(loop: Loop) -> None:
    new = loop.revise()
    whole = groups(loop.tables, [Kind.ALL])[0]
    assert loop.old in whole.versions
    save(
        loop.engine,
        draft_second_review(loop.engine, "winter", old=loop.old, new=new, overlap=2, seed=1, raters=MIXED),
    )
    for assignment in loop.waiting(new)["assignment_id"]:
        answer(loop.engine, assignment, P)
    whole, *single = groups(loop.tables, [Kind.ALL, Kind.METRIC])
    assert loop.old not in whole.versions
    assert new in whole.versions
    assert {"m01 (version 1)", "m01 (version 2)"} <= {group.name for group in single}
    assert {one.metric for one in metric_statuses(loop.tables)} == set(whole.versions)
    assert evidence.coverage(loop.tables)[0].items == 16


def test_where_several_judges_leave_a_concern_open_the_metric_says_which() -> None:
    experts = {
        domain: DomainEvidence(
            domain=domain, probability=0.1, estimate=Estimate(value=0.1, n=12), n=12, counts={}
        )
        for domain in (Domain.EXPERT_DISAGREEMENT, Domain.INDETERMINACY)
    }
    (found,) = statuses([MetricEvidence(metric=1, domains=experts)])
    assert found.status is Status.NOT_ASSESSED
    said = in_a_sentence(found)
    assert said.startswith("not assessed whether ")
    assert "whether the judge differs from the experts" in said
    assert "whether experts disagree" not in said


def test_a_second_review_shows_nobody_what_they_said_before(loop: Loop) -> None:
    with reading(loop.engine) as session:
        ada = session.exec(select(t.Rater.id).where(t.Rater.pseudonym == "Ada")).one() or 0
    before = len(worklist.answered(loop.engine, ada))
    new = loop.revise()
    draft = draft_second_review(loop.engine, "winter", old=loop.old, new=new, overlap=4, seed=1, raters=MIXED)
    save(loop.engine, draft)
    shown = worklist.answered(loop.engine, ada)
    assert len(shown) < before
    own = loop.waiting(new)
    for assignment in own.loc[own["rater"] == "Ada", "assignment_id"]:
        answer(loop.engine, assignment, P)
    assert len(worklist.answered(loop.engine, ada)) == before + 8


def test_more_raters_of_a_second_review_rate_the_new_version(loop: Loop) -> None:
    new = loop.revise()
    draft = draft_second_review(loop.engine, "winter", old=loop.old, new=new, overlap=2, seed=1, raters=MIXED)
    slug = save(loop.engine, draft).slug
    extension = draft_extension(loop.engine, "winter", slug, to=3)
    assert set(extension.opened.items["metric_version_id"]) == {new}


def test_the_same_decision_twice_is_one_and_another_one_meanwhile_is_told(loop: Loop) -> None:
    keep = Disposal(decision=DispositionKind.KEEP, because="It is meant to be hard.", dissent=("No.",))
    first = loop.decide(keep)
    assert loop.decide(keep).id == first.id
    with pytest.raises(StaleDisposition):
        loop.decide(Disposal(decision=DispositionKind.RETIRE, because="Too hard."))
    loop.decide(Disposal(decision=DispositionKind.RETIRE, because="Too hard."), base=1)
    decided = dispositions.dispositions(loop.engine, "winter")
    assert decided["decision"].tolist() == ["keep", "retire"]
    assert decided["dissent"].tolist() == [["No."], []]
    assert decided["evidence"].iloc[0]["domains"]["D1"]["missing"]


@pytest.mark.parametrize(
    ("disposal", "because"),
    [
        (Disposal(decision=DispositionKind.REVISE, because="x"), "names the metric version that follows"),
        (Disposal(decision=DispositionKind.KEEP, because="x", becomes=(1,)), "names no follower"),
        (Disposal(decision=DispositionKind.SPLIT, because="x", becomes=(2,)), "two metrics or more"),
        (Disposal(decision=DispositionKind.MERGE, because="x", becomes=(999,)), "there is none of"),
    ],
)
def test_a_decision_that_leads_nowhere_is_refused(
    sqlite_engine: Engine, disposal: Disposal, because: str
) -> None:
    add_study(sqlite_engine)
    add_raters(sqlite_engine, "Max", role=Role.MAINTAINER)
    (found, *_) = metric_statuses(evidence.read_tables(sqlite_engine, "winter"))
    with pytest.raises(DispositionRefused, match=because):
        decide(sqlite_engine, "winter", 1, 1, disposal, base_revision=0, found=found)


def test_only_a_maintainer_decides_and_publishes(sqlite_engine: Engine) -> None:
    add_study(sqlite_engine)
    add_raters(sqlite_engine, "Eve", role=Role.METHODOLOGIST)
    (found, *_) = metric_statuses(evidence.read_tables(sqlite_engine, "winter"))
    keep = Disposal(decision=DispositionKind.KEEP, because="x")
    with pytest.raises(DispositionRefused, match="only an active maintainer"):
        decide(sqlite_engine, "winter", 1, 1, keep, base_revision=0, found=found)
    with pytest.raises(DispositionRefused, match="has no decision 7"):
        change_log.publish(sqlite_engine, "winter", 7, published_by=1)


def test_a_wording_that_is_the_same_makes_no_version_and_a_new_one_is_made_once(
    sqlite_engine: Engine,
) -> None:
    add_study(sqlite_engine)
    old = definition_of(sqlite_engine, 1)
    with pytest.raises(DispositionRefused, match="the same as before"):
        new_version(sqlite_engine, 1, old, because="x", author="Max")
    new = old.model_copy(update={"question": "Is something done?"})
    made = {new_version(sqlite_engine, 1, new, because="asked", author="Max") for _ in range(2)}
    assert len(made) == 1
    (difference,) = differences(old, new)
    assert difference.part == "question"
    with pytest.raises(PlanRefused, match="nothing to repeat"):
        draft_second_review(sqlite_engine, "winter", old=1, new=made.pop(), overlap=2, seed=1, raters=MIXED)


def test_differences_hold_every_character_of_both_wordings() -> None:
    plain = {"name": "n", "polarity": "positive", "definition": "It asks  first,\nthen tells."}
    old = revisions.MetricDefinition.model_validate(plain)
    new = old.model_copy(update={"definition": "It listens first,\nthen asks and tells."})
    (difference,) = differences(old, new)
    for side, other in (("gone", old), ("new", new)):
        kept = [piece.text for piece in difference.pieces if piece.change in ("same", side)]
        assert "".join(kept) == other.definition

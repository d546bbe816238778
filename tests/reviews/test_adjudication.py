"""Settling items: which are in the queue, what is shown of them, and how a decision comes to be, once."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from pydantic import ValidationError
from sqlalchemy import Engine, func
from sqlmodel import col, select

from impactbench.domain import AssignmentReason, LabelVerdict, Role
from impactbench.store import tables as t
from impactbench.store.engine import reading, writing
from reviews import adjudication, desk, evidence
from reviews.adjudication import AdjudicationRefused, Decision, Reason, Rule, StaleDecision
from reviews.blinding import HIDDEN_NAME
from reviews.labels import Answer
from reviews.references import adjudicated, reference_verdicts, settled_verdicts
from tests.browser.desks import FAMILY, JUDGE, MAKER, MODEL, VERDICT_TEXT, plain_turns, set_desks
from tests.reviews.invented_study import add_raters
from validation.agreement import coefficients
from validation.mapping import Policy

P, B, F = LabelVerdict.PASS, LabelVerdict.BORDERLINE, LabelVerdict.FAIL
NAMES = ("kestrel", "wren", "heron", "plover")
TABLE = [
    (P, F, P, F),
    (P, P, F, None),
    (B, P, P, None),
    (P, P, "outside_my_field", None),
    (P, P, P, P),
    (B, None, None, None),
    (F, "rather_not", None, None),
]
EXPECTED = {1: Reason.TIE, 2: Reason.SPLIT, 3: Reason.BORDERLINE, 4: Reason.UNSURE}
SETTLE = Decision(verdict=F, because="it never asks")


def codes(engine: Engine, rater: int) -> list[str]:
    with reading(engine) as session:
        mine = select(t.Assignment.code).where(t.Assignment.rater_id == rater)
        return list(session.exec(mine.order_by(col(t.Assignment.position))).all())


def give_labels(engine: Engine) -> None:
    with reading(engine) as session:
        ids = {rater.pseudonym: rater.id or 0 for rater in session.exec(select(t.Rater)).all()}
    for column, name in enumerate(NAMES):
        for code, row in zip(codes(engine, ids[name]), TABLE, strict=True):
            if (said := row[column]) is None:
                continue
            rationale = f"reason-{name}, it sounds like {MODEL}"
            answer = (
                Answer(verdict=said, rationale=rationale)
                if isinstance(said, LabelVerdict)
                else Answer.model_validate({"no_verdict_because": said, "rationale": rationale})
            )
            desk.save(engine, ids[name], code, answer, base_revision=0)


@pytest.fixture
def divided(engine: Engine) -> Engine:
    """Seven conversations with the labels of TABLE; the first says who the chatbot is."""
    turns = [plain_turns(n) for n in range(1, 8)]
    turns[0][1] = {"role": "assistant", "content": f"I'm {MODEL}, made by {MAKER}."}
    set_desks(engine, turns, *NAMES, base_url="http://here")
    give_labels(engine)
    return engine


def rater_id(engine: Engine, name: str) -> int:
    with reading(engine) as session:
        return session.exec(select(t.Rater).where(t.Rater.pseudonym == name)).one().id or 0


def code_of(engine: Engine, conversation: int) -> str:
    return next(e.code for e in adjudication.queue(engine, "winter") if e.conversation_id == conversation)


def settle(
    engine: Engine, conversation: int, decision: Decision = SETTLE, *, by: str = "maintainer", base: int = 0
) -> t.Adjudication:
    code = code_of(engine, conversation)
    item = adjudication.blind_item(engine, "winter", code)
    return adjudication.decide(
        engine,
        "winter",
        rater_id(engine, by),
        code,
        decision,
        base_revision=base,
        inputs=item.inputs,
    )


def n_decisions(engine: Engine) -> int:
    with reading(engine) as session:
        return session.exec(select(func.count()).select_from(t.Adjudication)).one()


def test_the_queue_holds_ties_splits_borderline_and_unsure_items_with_two_answers(divided: Engine) -> None:
    entries = adjudication.queue(divided, "winter")
    assert {entry.conversation_id: entry.reason for entry in entries} == EXPECTED
    assert [entry.reason for entry in entries] == list(Reason)
    assert [len(entry.inputs) for entry in entries] == [4, 3, 3, 3]
    assert not any(str(entry.conversation_id) == entry.code for entry in entries)


@pytest.mark.parametrize(
    ("rule", "items"),
    [
        (Rule(reasons=(Reason.TIE,)), [1]),
        (Rule(reasons=(Reason.SPLIT, Reason.UNSURE)), [2, 4]),
        (Rule(minimum=4), [1]),
        (Rule(minimum=1), [1, 2, 3, 4, 6]),
        (Rule(minimum=5), []),
    ],
    ids=lambda value: value.name if isinstance(value, Rule) else "",
)
def test_the_rule_says_which_items_and_how_many_answers(
    divided: Engine, rule: Rule, items: list[int]
) -> None:
    assert sorted(entry.conversation_id for entry in adjudication.queue(divided, "winter", rule)) == items


def test_a_rule_without_a_reason_or_an_answer_is_refused() -> None:
    for wrong in ({"reasons": ()}, {"minimum": 0}):
        with pytest.raises(AdjudicationRefused, match="at least one reason"):
            Rule(**wrong)


def test_gold_items_and_repeats_are_not_settled(divided: Engine) -> None:
    with writing(divided) as session:
        for assignment in session.exec(
            select(t.Assignment).where(col(t.Assignment.conversation_id).in_([1, 2]))
        ):
            if assignment.conversation_id == 1:
                assignment.reason = AssignmentReason.GOLD
            else:
                assignment.repeat = 1
            session.add(assignment)
    assert {entry.conversation_id for entry in adjudication.queue(divided, "winter")} == {3, 4}


def test_the_newest_label_of_each_expert_is_on_the_table(divided: Engine) -> None:
    kestrel = rater_id(divided, "kestrel")
    code = codes(divided, kestrel)[0]
    desk.save(divided, kestrel, code, Answer(verdict=F), base_revision=1)
    (first, *_) = [e for e in adjudication.queue(divided, "winter") if e.conversation_id == 1]
    assert first.reason is Reason.SPLIT
    assert len(first.inputs) == 4


def test_an_item_tells_nothing_of_raters_model_or_judge(divided: Engine) -> None:
    item = adjudication.blind_item(divided, "winter", code_of(divided, 1))
    sent = item.model_dump_json()
    for secret in (*NAMES, MODEL, FAMILY, MAKER, JUDGE, VERDICT_TEXT, "external", "polarity", "s001"):
        assert secret not in sent.replace("reason-kestrel", "").replace("reason-wren", "").replace(
            "reason-heron", ""
        ).replace("reason-plover", ""), secret
    assert item.turns[1].text == f"I'm {HIDDEN_NAME}, made by {HIDDEN_NAME}."
    assert {opinion.label for opinion in item.opinions} == {P, F}
    assert all(opinion.rationale.endswith(HIDDEN_NAME) for opinion in item.opinions)


def test_opinions_come_in_an_order_of_their_own_for_each_item_and_always_the_same(divided: Engine) -> None:
    def orders() -> list[list[str]]:
        items = [adjudication.blind_item(divided, "winter", code_of(divided, n)) for n in (1, 2, 3, 4)]
        return [[opinion.rationale.split(",")[0] for opinion in item.opinions] for item in items]

    assert orders() == orders()
    assert len({tuple(name for name in order if "plover" not in name) for order in orders()}) > 1


def test_a_decision_is_kept_with_its_labels_and_its_rule(divided: Engine) -> None:
    kept = settle(divided, 1)
    assert (kept.revision, kept.verdict, kept.because) == (1, F, "it never asks")
    assert kept.rule == "tie: tie, split, borderline, unsure; 2 answers or more"
    with reading(divided) as session:
        on_it = session.exec(
            select(t.Label.id).join(t.Assignment).where(t.Assignment.conversation_id == 1)
        ).all()
    assert kept.inputs == sorted(on_it)
    entries = {entry.conversation_id: entry for entry in adjudication.queue(divided, "winter")}
    assert [entries[n].settled for n in (1, 2, 3, 4)] == [True, False, False, False]
    assert adjudication.next_code(list(entries.values())) == entries[2].code
    assert adjudication.next_code(list(entries.values()), after=entries[4].code) == entries[2].code


def test_the_same_decision_twice_is_stored_once(divided: Engine) -> None:
    first, again = settle(divided, 1), settle(divided, 1)
    assert first.id == again.id
    assert n_decisions(divided) == 1


def test_two_clicks_at_the_same_moment_are_stored_once(divided: Engine) -> None:
    with ThreadPoolExecutor(4) as pool:
        kept = list(pool.map(lambda _: settle(divided, 1).id, range(4)))
    assert len(set(kept)) == 1
    assert n_decisions(divided) == 1


def test_another_decision_on_an_old_revision_is_told_and_nothing_is_overwritten(divided: Engine) -> None:
    settle(divided, 1)
    add_raters(divided, "second", role=Role.MAINTAINER)
    for decision, by in ((Decision(verdict=P, because="it does"), "maintainer"), (SETTLE, "second")):
        with pytest.raises(StaleDecision, match="Another decision"):
            settle(divided, 1, decision, by=by)
    with pytest.raises(StaleDecision):
        settle(divided, 2, base=7)
    assert n_decisions(divided) == 1


def test_a_changed_decision_is_a_new_revision_and_the_old_one_stays(divided: Engine) -> None:
    settle(divided, 1)
    settle(divided, 1, Decision(verdict=B, because="on second thoughts"), base=1)
    said = adjudication.history(divided, "winter", code_of(divided, 1))
    assert [(one.revision, one.verdict) for one in said] == [(1, F), (2, B)]
    frame = adjudicated(divided, "winter")
    assert frame[["conversation_id", "revision", "verdict"]].to_numpy().tolist() == [[1, 2, B]]


def test_a_label_that_comes_while_the_page_is_open_is_told(divided: Engine) -> None:
    code = code_of(divided, 2)
    item = adjudication.blind_item(divided, "winter", code)
    plover = rater_id(divided, "plover")
    desk.save(divided, plover, codes(divided, plover)[1], Answer(verdict=P), base_revision=0)
    with pytest.raises(StaleDecision, match="An expert has answered since"):
        adjudication.decide(
            divided,
            "winter",
            rater_id(divided, "maintainer"),
            code,
            SETTLE,
            base_revision=0,
            inputs=item.inputs,
        )
    assert n_decisions(divided) == 0


def test_a_settled_item_comes_back_when_its_labels_change(divided: Engine) -> None:
    settle(divided, 2)
    plover = rater_id(divided, "plover")
    desk.save(divided, plover, codes(divided, plover)[1], Answer(verdict=P), base_revision=0)
    entry = next(e for e in adjudication.queue(divided, "winter") if e.conversation_id == 2)
    assert not entry.settled
    assert adjudication.blind_item(divided, "winter", entry.code).changed


def test_only_an_active_maintainer_settles_and_only_what_is_in_the_queue(divided: Engine) -> None:
    for name in ("kestrel", "methodologist"):
        with pytest.raises(AdjudicationRefused, match="by a maintainer who is active"):
            settle(divided, 1, by=name)
    with pytest.raises(AdjudicationRefused, match="not among those"):
        adjudication.blind_item(divided, "winter", "0" * 16)


@pytest.mark.parametrize("because", ["", "  \n "])
def test_a_decision_says_why(because: str) -> None:
    with pytest.raises(ValidationError):
        Decision(verdict=P, because=because)


def figures(engine: Engine) -> bytes:
    tables = evidence.read_tables(engine, "winter")
    ratings = evidence.expert_ratings(tables.assignments)
    return repr((evidence.agreement(tables), evidence.coverage(tables), coefficients(ratings))).encode()


def test_figures_about_experts_are_the_same_bytes_before_and_after(divided: Engine) -> None:
    before = figures(divided)
    for number in EXPECTED:
        settle(divided, number)
    settle(divided, 1, Decision(verdict=P, because="changed"), base=1)
    assert figures(divided) == before


def test_a_policy_that_has_ties_settled_uses_what_was_decided(divided: Engine) -> None:
    ratings = evidence.expert_ratings(evidence.read_tables(divided, "winter").assignments)
    assert ratings.units[0] == (1, 1)
    policy = Policy(tie="adjudicated")
    nothing = adjudicated(divided, "winter")
    assert np.isnan(settled_verdicts(nothing, ratings)).all()
    assert np.isnan(reference_verdicts(ratings, policy, decisions=nothing)[0])

    settle(divided, 1)
    settle(divided, 2, Decision(verdict=F, because="against the majority"))
    settle(divided, 3, Decision(verdict=B, because="either"))
    decisions = adjudicated(divided, "winter")
    assert settled_verdicts(decisions, ratings)[:4].tolist() == pytest.approx(
        [0, 0, 0.5, np.nan], nan_ok=True
    )
    assert reference_verdicts(ratings, policy, decisions=decisions)[:5].tolist() == [0, 1, 1, 1, 1]
    assert reference_verdicts(ratings, decisions=decisions)[0] == 0.5
    settle(divided, 1, Decision(verdict=P, because="changed"), base=1)
    assert reference_verdicts(ratings, policy, decisions=adjudicated(divided, "winter"))[0] == 1

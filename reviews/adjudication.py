"""Settling items that divide the experts: a layer of its own, which overwrites no label and enters no figure about experts.

Whoever adjudicates reads what the experts read, and the experts' labels and reasons in an order of their own for each
item: never who gave them, nor the judge's verdict, nor the model.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pydantic import Field, field_validator
from sqlalchemy import Engine, func
from sqlmodel import Session, col, select

from impactbench.domain import (
    AssignmentReason,
    Content,
    ImpactBenchError,
    LabelStatus,
    LabelVerdict,
    MetricDefinition,
    Role,
    content_hash,
)
from impactbench.store.engine import insert_if_absent, reading, writing
from impactbench.store.tables import (
    Adjudication,
    Assignment,
    Conversation,
    Label,
    MetricVersion,
    Rater,
    Study,
)
from reviews.blinding import BlindTurn, MetricQuestion, ask, blind_turns, hide
from reviews.blindness.leak_scan import hidden_spans, spans_in_text, study_models

SEED = 20_261_020
"""Orders the queue, and the opinions on each item."""


class AdjudicationRefused(ImpactBenchError):
    """A decision that may not be stored; the text says why."""


class StaleDecision(AdjudicationRefused):
    """Something newer was stored for the item since the page was opened."""


class Reason(StrEnum):
    """Why an item is to be settled; the first that applies counts."""

    TIE = "tie"
    """As many passes as fails."""
    SPLIT = "split"
    """Passes and fails, not equally many."""
    BORDERLINE = "borderline"
    """A borderline label, and no pass against a fail."""
    UNSURE = "unsure"
    """Somebody could not judge it, and nothing else divides the experts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Which items are to be settled.

    >>> Rule(reasons=(Reason.TIE, Reason.SPLIT), minimum=3).name
    'tie, split; 3 answers or more'
    """

    reasons: tuple[Reason, ...] = tuple(Reason)
    minimum: int = 2
    """How many answers an item needs: labels, and “can't judge”."""

    def __post_init__(self) -> None:
        if not self.reasons or self.minimum < 1:
            raise AdjudicationRefused("the rule needs at least one reason and a minimum of 1 answer or more")

    @property
    def name(self) -> str:
        return f"{', '.join(self.reasons)}; {self.minimum} answers or more"

    def applies(self, answers: Iterable[LabelVerdict | None]) -> Reason | None:
        """Why an item with these answers is to be settled (None stands for “can't judge”); None where it is not.

        >>> Rule().applies([LabelVerdict.PASS, LabelVerdict.FAIL, LabelVerdict.PASS])
        <Reason.SPLIT: 'split'>
        """
        counts = Counter(answers)
        if counts.total() < self.minimum:
            return None
        passes, fails = counts[LabelVerdict.PASS], counts[LabelVerdict.FAIL]
        if passes and fails:
            found = Reason.TIE if passes == fails else Reason.SPLIT
        elif counts[LabelVerdict.BORDERLINE]:
            found = Reason.BORDERLINE
        elif counts[None]:
            found = Reason.UNSURE
        else:
            return None
        return found if found in self.reasons else None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueEntry:
    """An item that is to be settled, and where it stands."""

    code: str
    """All that an address says of the item."""
    reason: Reason
    conversation_id: int
    metric_version_id: int
    inputs: tuple[int, ...]
    """Ids of the labels on the table."""
    newest: Adjudication | None

    @property
    def settled(self) -> bool:
        """Whether it was decided on just these labels."""
        return self.newest is not None and sorted(self.newest.inputs) == list(self.inputs)


class Opinion(Content):
    """What one expert said, without who it was. `label` is missing where they could not judge."""

    label: LabelVerdict | None
    no_verdict_because: str
    confidence: int | None
    rationale: str
    turns: tuple[int, ...]


class AdjudicationItem(Content):
    """An item as whoever adjudicates receives it: no field for raters, panels, the model or the judge's verdict."""

    code: str
    reason: Reason
    asked: MetricQuestion
    turns: tuple[BlindTurn, ...]
    opinions: tuple[Opinion, ...]
    inputs: tuple[int, ...]
    revision: int
    """Of the newest decision; 0 where there is none."""
    verdict: LabelVerdict | None
    because: str
    changed: bool
    """Whether the labels are others than those of the newest decision."""


class Decision(Content):
    """A verdict and why."""

    verdict: LabelVerdict
    because: str = Field(min_length=1, max_length=20_000)

    @field_validator("because")
    @classmethod
    def _says_something(cls, text: str) -> str:
        if not text.strip():
            raise ValueError("a decision says why")
        return text.strip()


def queue(engine: Engine, study: str, rule: Rule = Rule()) -> list[QueueEntry]:
    """Every item that the rule names, by reason and then in a random order that stays."""
    with reading(engine) as session:
        return _queue(session, study, rule)


def next_code(entries: Sequence[QueueEntry], *, after: str | None = None) -> str | None:
    """The first item not settled yet behind `after`, else from the beginning."""
    codes = [entry.code for entry in entries]
    start = codes.index(after) + 1 if after in codes else 0
    return next((entry.code for entry in [*entries[start:], *entries[:start]] if not entry.settled), None)


def blind_item(engine: Engine, study: str, code: str, rule: Rule = Rule()) -> AdjudicationItem:
    """The item behind a code.

    Raises:
        AdjudicationRefused: the queue holds no such item.
    """
    return shown(engine, study, _entry(queue(engine, study, rule), code))


def shown(engine: Engine, study: str, entry: QueueEntry) -> AdjudicationItem:
    """An item of the queue as whoever adjudicates may see it."""
    with reading(engine) as session:
        conversation = session.get_one(Conversation, entry.conversation_id)
        version = session.get_one(MetricVersion, entry.metric_version_id)
        models = study_models(session, study)
        spans = hidden_spans(session, entry.conversation_id, conversation.turns, models)
        labels = session.exec(select(Label).where(col(Label.id).in_(entry.inputs))).all()
    opinions = [
        Opinion(
            label=label.verdict,
            no_verdict_because=label.no_verdict_because,
            confidence=label.confidence,
            rationale=hide(label.rationale, spans_in_text(label.rationale, models=models)),
            turns=tuple(label.turns),
        )
        for label in sorted(labels, key=lambda label: content_hash([SEED, entry.code, label.id]))
    ]
    definition = version.model_dump(include=set(MetricDefinition.model_fields))
    newest = entry.newest
    return AdjudicationItem(
        code=entry.code,
        reason=entry.reason,
        asked=ask(MetricDefinition.model_validate(definition)),
        turns=blind_turns(conversation.turns, hidden_spans=spans),
        opinions=tuple(opinions),
        inputs=entry.inputs,
        revision=newest.revision if newest else 0,
        verdict=newest.verdict if newest else None,
        because=newest.because if newest else "",
        changed=newest is not None and not entry.settled,
    )


def decide(
    engine: Engine,
    study: str,
    adjudicator_id: int,
    code: str,
    decision: Decision,
    *,
    base_revision: int,
    inputs: Sequence[int],
    rule: Rule = Rule(),
) -> Adjudication:
    """Store a decision as the next revision of the item's; the same one on the same revision is stored once.

    Args:
        base_revision: the newest revision when the page was opened; 0 where there was none.
        inputs: ids of the labels that the page showed.

    Raises:
        StaleDecision: another decision or label came meanwhile; nothing is overwritten.
        AdjudicationRefused: the queue holds no such item, or whoever decides is no active maintainer.
    """
    with writing(engine) as session:
        person = session.get(Rater, adjudicator_id)
        if person is None or not person.active or person.role is not Role.MAINTAINER:
            raise AdjudicationRefused("items are settled by a maintainer who is active")
        entry = _entry(_queue(session, study, rule), code)
        item = {
            "study_id": session.exec(select(Study.id).where(Study.slug == study)).one(),
            "conversation_id": entry.conversation_id,
            "metric_version_id": entry.metric_version_id,
            "revision": base_revision + 1,
        }
        said = {
            **decision.model_dump(),
            "adjudicator_id": adjudicator_id,
            "inputs": sorted(inputs),
        }
        newest = entry.newest.revision if entry.newest else 0
        if newest == base_revision:
            if sorted(inputs) != list(entry.inputs):
                raise StaleDecision(
                    "An expert has answered since this page was opened, so nothing was saved: please read it again."
                )
            insert_if_absent(
                session, Adjudication, [{**item, **said, "rule": f"{entry.reason}: {rule.name}"}]
            )
        stored = session.exec(select(Adjudication).filter_by(**item)).one_or_none()
        if stored is None or stored.model_dump(include=set(said)) != said:
            raise StaleDecision("Another decision on this item was saved since this page was opened.")
    return stored


def history(engine: Engine, study: str, code: str, rule: Rule = Rule()) -> list[Adjudication]:
    """Every decision on an item, oldest first."""
    with reading(engine) as session:
        entry = _entry(_queue(session, study, rule), code)
        return list(
            session.exec(
                select(Adjudication)
                .join(Study, col(Study.id) == Adjudication.study_id)
                .where(
                    Study.slug == study,
                    Adjudication.conversation_id == entry.conversation_id,
                    Adjudication.metric_version_id == entry.metric_version_id,
                )
                .order_by(col(Adjudication.revision))
            ).all()
        )


def _entry(entries: Iterable[QueueEntry], code: str) -> QueueEntry:
    found = next((entry for entry in entries if entry.code == code), None)
    if found is None:
        raise AdjudicationRefused("This item is not among those to be settled.")
    return found


def _queue(session: Session, study: str, rule: Rule) -> list[QueueEntry]:
    newest = (
        select(Label.assignment_id, func.max(Label.revision).label("revision"))
        .group_by(col(Label.assignment_id))
        .subquery()
    )
    rows = session.exec(
        select(Assignment.conversation_id, Assignment.metric_version_id, Label.id, Label.verdict)
        .join(Study, col(Study.id) == Assignment.study_id)
        .join(newest, newest.c.assignment_id == Assignment.id)
        .join(
            Label,
            (col(Label.assignment_id) == newest.c.assignment_id) & (col(Label.revision) == newest.c.revision),
        )
        .where(
            Study.slug == study,
            Assignment.repeat == 0,
            Assignment.reason != AssignmentReason.GOLD,
            col(Label.status).in_([LabelStatus.SUBMITTED, LabelStatus.CANNOT_JUDGE]),
        )
    ).all()
    decided = session.exec(
        select(Adjudication)
        .join(Study, col(Study.id) == Adjudication.study_id)
        .where(Study.slug == study)
        .order_by(col(Adjudication.revision))
    ).all()
    decisions = {(one.conversation_id, one.metric_version_id): one for one in decided}
    answers: dict[tuple[int, int], list[tuple[int, LabelVerdict | None]]] = {}
    for conversation, version, label, verdict in rows:
        said = None if verdict is None else LabelVerdict(verdict)
        answers.setdefault((conversation, version), []).append((label or 0, said))
    entries = [
        QueueEntry(
            code=content_hash([SEED, study, *item])[:16],
            reason=reason,
            conversation_id=item[0],
            metric_version_id=item[1],
            inputs=tuple(sorted(label for label, _ in given)),
            newest=decisions.get(item),
        )
        for item, given in answers.items()
        if (reason := rule.applies(verdict for _, verdict in given))
    ]
    return sorted(entries, key=lambda entry: (list(Reason).index(entry.reason), entry.code))

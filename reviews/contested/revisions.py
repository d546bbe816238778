"""A revised metric: the new version with its difference shown, judged again, and reviewed again on the same items.

The raters of the second review see the new wording and nothing of the first: it is a review set like any other.
"""

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
from sqlalchemy import Engine, func
from sqlmodel import Session, col, select

from impactbench.domain import DispositionKind, LabelStatus, MetricDefinition
from impactbench.store import frames
from impactbench.store.engine import insert_if_absent, reading, writing
from impactbench.store.tables import Conversation, Judge, Judgment, Metric, MetricVersion, Model, Run, Study
from reviews.assignment import Member, PlanRefused, plan
from reviews.contested.dispositions import DispositionRefused
from reviews.design.drafts import ReviewSetDraft
from reviews.design.eligibility import ineligible_pairs
from reviews.design.pace import measure_pace
from reviews.design.review_sets import plan_items
from reviews.design.sampling_frame import sampling_frame
from reviews.members.raters import gather_raters
from reviews.rubrics import DEFAULT, load
from reviews.sampling import Sample, Stratum

WORDING = (
    "name",
    "polarity",
    "question",
    "definition",
    "interpretive_clause",
    "examples_present",
    "examples_absent",
)
"""The parts of a metric whose differences are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A stretch of words that is in both versions, in the old one alone, or in the new one alone."""

    text: str
    change: str
    """`same`, `gone` or `new`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One part of a metric that is worded differently."""

    part: str
    pieces: tuple[Piece, ...]


def definition_of(engine: Engine, metric_version_id: int) -> MetricDefinition:
    """The wording of a metric version.

    Raises:
        DispositionRefused: there is none of this id.
    """
    with reading(engine) as session:
        return _definition(_version(session, metric_version_id))


def new_version(
    engine: Engine, metric_version_id: int, wording: MetricDefinition, *, because: str, author: str
) -> int:
    """Add a version of a metric; the old one stays. The same wording again is the version that it made before.

    Raises:
        DispositionRefused: nothing was changed, or no reason was given.
    """
    if not because.strip():
        raise DispositionRefused("a new version says why it was changed")
    with writing(engine) as session:
        old = _version(session, metric_version_id)
        if _definition(old) == wording:
            raise DispositionRefused("the wording is the same as before: change it, or keep the metric")
        newest = session.exec(
            select(func.max(MetricVersion.version)).where(MetricVersion.metric_id == old.metric_id)
        ).one()
        insert_if_absent(
            session,
            MetricVersion,
            [
                {
                    "metric_id": old.metric_id,
                    "version": int(newest or 0) + 1,
                    **wording.model_dump(mode="json"),
                    "polarity": wording.polarity,
                    "content_hash": wording.content_hash,
                    "author": author,
                    "changed_because": because.strip(),
                }
            ],
        )
        found = session.exec(
            select(MetricVersion.id).where(
                MetricVersion.metric_id == old.metric_id, MetricVersion.content_hash == wording.content_hash
            )
        ).one()
        return int(found or 0)


def differences(old: MetricDefinition, new: MetricDefinition) -> list[Difference]:
    """What is worded differently, word by word, in the order in which a metric is read."""
    found = []
    for part in WORDING:
        before, after = (_text(getattr(one, part)) for one in (old, new))
        if before != after:
            found.append(Difference(part=part, pieces=_pieces(before, after)))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisionState:
    """How far a revision is on its way."""

    old: int
    new: int
    conversations: int
    """Complete conversations of the old version: what the judge is to judge again."""
    waiting_for_judge: int
    """Those that no judge has judged under the new version."""
    items_before: int
    """Items that experts rated under the old version."""
    asked_again: int
    """Those that experts have been asked about under the new version."""
    answers_waiting: int
    """Answers still to come."""
    rated_again: int
    """Those with a label under the new version."""
    adopted: bool

    @property
    def sentence(self) -> str:
        """What it is waiting for."""
        waiting = []
        if self.waiting_for_judge:
            waiting.append(f"waiting for the judge: {_count(self.waiting_for_judge, 'conversation')}")
        if self.asked_again < self.items_before:
            waiting.append(
                f"to be put before experts again: {_count(self.items_before - self.asked_again, 'item')}"
            )
        if self.answers_waiting:
            waiting.append(f"waiting for experts: {_count(self.answers_waiting, 'answer')}")
        if self.adopted:
            return "; ".join(["adopted", *waiting])
        return "; ".join(waiting) or "judged and reviewed again: compare before and after, then decide"


def revision_states(engine: Engine, study: str, decided: pd.DataFrame) -> list[RevisionState]:
    """Every revision of a study.

    Args:
        engine: the database.
        study: its slug.
        decided: the frame of `reviews.contested.dispositions.dispositions`.
    """
    revised = decided[decided["decision"] == DispositionKind.REVISE]
    if revised.empty:
        return []
    asked, judged = frames.assignments(engine, study), frames.judgments(engine, study)
    conversations = frames.conversations(engine, study)
    complete = conversations[conversations["status"] == "complete"]
    adopted = {
        int(new)
        for becomes in decided.loc[decided["decision"] == DispositionKind.ADOPT, "becomes"]
        for new in becomes
    }
    return [
        _state(int(old), int(new), asked, judged, complete, adopted=int(new) in adopted)
        for old, becomes in zip(revised["metric_version_id"], revised["becomes"], strict=True)
        for new in becomes
    ]


def _state(
    old: int, new: int, asked: pd.DataFrame, judged: pd.DataFrame, complete: pd.DataFrame, *, adopted: bool
) -> RevisionState:
    submitted = asked["status"] == LabelStatus.SUBMITTED
    before = set(asked.loc[submitted & (asked["metric_version_id"] == old), "conversation_id"])
    again = asked[(asked["metric_version_id"] == new) & (asked["repeat"] == 0)]
    due = set(complete.loc[complete["metric_version_id"] == old, "conversation_id"]) or set(
        judged.loc[judged["metric_version_id"] == old, "conversation_id"]
    )
    done = set(judged.loc[judged["metric_version_id"] == new, "conversation_id"])
    return RevisionState(
        old=old,
        new=new,
        conversations=len(due),
        waiting_for_judge=len(due - done),
        items_before=len(before),
        asked_again=len(before & set(again["conversation_id"])),
        answers_waiting=int((again["status"] == "not_yet_rated").sum()),
        rated_again=len(before & set(again.loc[again["status"] == LabelStatus.SUBMITTED, "conversation_id"])),
        adopted=adopted,
    )


def judges_of_version(engine: Engine, study: str, metric_version_id: int) -> list[tuple[str, str]]:
    """(model, hash of the prompt) of each judge with a verdict under a metric version: who is to judge again."""
    query = (
        select(Model.slug, Judge.prompt_hash)
        .join(Judge, col(Judge.model_id) == Model.id)
        .join(Judgment, col(Judgment.judge_id) == Judge.id)
        .join(Conversation, col(Conversation.id) == Judgment.conversation_id)
        .join(Run, col(Run.id) == Conversation.run_id)
        .join(Study, col(Study.id) == Run.study_id)
        .where(Study.slug == study, Judgment.metric_version_id == metric_version_id)
        .distinct()
        .order_by(Model.slug, Judge.prompt_hash)
    )
    with reading(engine) as session:
        return [(str(model), str(prompt_hash)) for model, prompt_hash in session.exec(query).all()]


def draft_second_review(
    engine: Engine,
    study: str,
    *,
    old: int,
    new: int,
    overlap: int,
    seed: int,
    raters: Sequence[Member] = (),
    slug: str | None = None,
    rubric: str = DEFAULT,
) -> ReviewSetDraft:
    """Put the items that experts rated under the old version before experts again, under the new one; stores nothing.

    Args:
        engine: the database.
        study: its slug.
        old, new: the metric versions.
        overlap: raters of each item.
        seed: of the plan.
        raters: who rates; by default the active experts. Who rated the first time may again: nothing they said is shown.
        slug: the name of the set; by default it says metric and version.
        rubric: what raters are asked.

    Raises:
        PlanRefused: nothing was rated under the old version, or the set cannot be as asked.
    """
    asked = frames.assignments(engine, study)
    rated = asked[(asked["metric_version_id"] == old) & (asked["status"] == LabelStatus.SUBMITTED)]
    frame = sampling_frame(engine, study, metrics=(), runs=())
    items = frame[frame["conversation_id"].isin(rated["conversation_id"])].copy()
    if items.empty:
        raise PlanRefused(
            "experts have rated no conversation under the old version, so there is nothing to repeat"
        )
    about = frames.metrics(engine).set_index("metric_version_id").loc[new]
    stratum = f"{about['benchmark']}/{about['metric']} v{about['version']}"
    items = items.assign(
        metric_version_id=new,
        metric=stratum,
        polarity=about["polarity"],
        stratum=stratum,
        inclusion_probability=1.0,
    ).sort_values("key", ignore_index=True)
    pool = gather_raters(engine, raters)
    members = list(pool.members)
    made = plan(
        plan_items(items),
        members,
        overlap=overlap,
        seed=seed,
        taken=set(),
        ineligible=ineligible_pairs(items, members, match_expertise=False),
    )
    asked_with = load(rubric)
    return ReviewSetDraft(
        study=study,
        slug=slug or f"again-{about['metric']}-v{about['version']}",
        sample=Sample(
            items=items,
            strata=(
                Stratum(name=stratum, population=len(items), sampled=len(items), inclusion_probability=1.0),
            ),
        ),
        plan=made,
        newcomers=pool.newcomers,
        request={"overlap": overlap, "seed": seed, "again": [old, new], "rubric": asked_with.content_hash},
        rubric=asked_with,
        gold={},
        pace=measure_pace(engine),
        notes=tuple(made.notes),
    )


def _pieces(before: str, after: str) -> tuple[Piece, ...]:
    # A word goes with the space before it: spaces alone would be found everywhere and tear a passage to pieces.
    old, new = (re.findall(r"\s*\S+|\s+", text) for text in (before, after))
    pieces: list[Piece] = []
    for tag, a, b, c, d in difflib.SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes():
        if tag == "equal":
            pieces.append(Piece(text="".join(old[a:b]), change="same"))
            continue
        pieces += [Piece(text="".join(old[a:b]), change="gone")] if b > a else []
        pieces += [Piece(text="".join(new[c:d]), change="new")] if d > c else []
    return tuple(pieces)


def _text(value: object) -> str:
    return "\n".join(value) if isinstance(value, tuple) else str(value)


def _version(session: Session, metric_version_id: int) -> MetricVersion:
    found = session.get(MetricVersion, metric_version_id)
    if found is None or session.get(Metric, found.metric_id) is None:
        raise DispositionRefused(f"there is no metric version {metric_version_id}")
    return found


def _definition(version: MetricVersion) -> MetricDefinition:
    return MetricDefinition.model_validate(
        {name: getattr(version, name) for name in MetricDefinition.model_fields}
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"

"""What is on record of an expert and decides what they may be given: what they know, what they read, what they must not rate.

It decides about what is given from now on. Items that somebody was given stay theirs, labels stay as they are, and no figure
is made of it: a report names the disciplines of experts as the study itself states them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Engine
from sqlmodel import col, select

from impactbench.domain import Role
from impactbench.store.engine import reading, writing
from impactbench.store.tables import (
    Assignment,
    Benchmark,
    Label,
    Metric,
    Model,
    Rater,
    ReviewSet,
    Study,
    Subarea,
)
from reviews.assignment import Member
from reviews.design.eligibility import ineligible_pairs
from reviews.design.sampling_frame import sampling_frame
from reviews.members.people import PersonRefused, find_person
from reviews.members.raters import as_member, as_recorded, on_record


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """What is on record of an expert, and what it means for what they have."""

    expertise: tuple[str, ...]
    """Slugs of subareas."""
    languages: tuple[str, ...]
    conflicts: tuple[str, ...]
    """benchmark/metric, or makers of models."""
    unheard_of: tuple[str, ...]
    """Expertise and conflicts that are the name of nothing here, yet or for a slip of the pen."""
    waiting: int
    """Items that wait for them although they may not be given such items any more."""

    @property
    def notes(self) -> list[str]:
        """What whoever changes it should know, in sentences."""
        said = []
        if self.unheard_of:
            said.append(
                f"Nothing here is called {', '.join(self.unheard_of)} so far: look for a slip of the pen, for a name that"
                " matches nothing keeps nobody from anything."
            )
        if self.waiting:
            said.append(
                f"Items given already: {self.waiting} that they would not be given now still wait for them. What is given"
                " stays given: ask them to choose “I would rather not rate this one” there."
            )
        return said


def describe(
    engine: Engine,
    name: str,
    *,
    expertise: Sequence[str] | None = None,
    languages: Sequence[str] | None = None,
    conflicts: Sequence[str] | None = None,
) -> Described:
    """Put on record what is said of an expert in place of what was; what is None stays as it is.

    Raises:
        PersonRefused: they are unknown, have left or rate nothing.
        RaterRefused: a text that no database can keep, or expertise that is no slug.
    """
    said = {"expertise": expertise, "languages": languages, "conflicts": conflicts}
    changed = as_recorded({column: parts for column, parts in said.items() if parts is not None})
    with writing(engine) as session:
        person = find_person(session, name)
        if not person.active:
            raise PersonRefused(f"{name!r} has left; nothing is kept of what they know")
        if person.role is not Role.EXPERT:
            raise PersonRefused(
                f"{name!r} is a {person.role} and rates nothing: expertise, languages and conflicts are those of an expert"
            )
        known = as_member(person)
        member = replace(
            known,
            expertise=changed.get("expertise", known.expertise),
            languages=changed.get("languages", known.languages),
            conflicts=changed.get("conflicts", known.conflicts),
        )
        for column, value in on_record(member).items():
            setattr(person, column, value)
    return Described(
        expertise=member.expertise,
        languages=member.languages,
        conflicts=member.conflicts,
        unheard_of=_unheard_of(engine, member),
        waiting=_waiting(engine, member),
    )


def _unheard_of(engine: Engine, member: Member) -> tuple[str, ...]:
    """What a slip of the pen would leave without any effect."""
    with reading(engine) as session:
        subareas = set(session.exec(select(Subarea.slug)))
        makers = set(session.exec(select(Model.provider)))
        metrics = session.exec(
            select(Benchmark.slug, Metric.slug).join(Metric, col(Metric.benchmark_id) == Benchmark.id)
        ).all()
    barred = {name.casefold() for name in (*makers, *(f"{one}/{other}" for one, other in metrics))}
    return (
        *(slug for slug in member.expertise if slug not in subareas),
        *(name for name in member.conflicts if name.casefold() not in barred),
    )


def _waiting(engine: Engine, member: Member) -> int:
    """Items that somebody is still asked about and would not be given now."""
    if not member.languages and not member.conflicts:
        return 0
    with reading(engine) as session:
        rows = session.exec(
            select(Study.slug, Assignment.conversation_id)
            .join(Assignment, col(Assignment.study_id) == Study.id)
            .join(ReviewSet, col(ReviewSet.id) == Assignment.review_set_id)
            .join(Rater, col(Rater.id) == Assignment.rater_id)
            .outerjoin(Label, col(Label.assignment_id) == Assignment.id)
            .where(
                Rater.pseudonym == member.name,
                ReviewSet.origin == "design",
                col(ReviewSet.locked_at).is_(None),
                col(Assignment.released_at).is_(None),
                col(Label.id).is_(None),
            )
        ).all()
    waiting = 0
    for study in sorted({study for study, _ in rows}):
        frame = sampling_frame(engine, study, metrics=(), runs=())
        asked = [conversation for of, conversation in rows if of == study]
        barred = ineligible_pairs(frame[frame["conversation_id"].isin(asked)], [member])
        waiting += len(barred)
    return waiting

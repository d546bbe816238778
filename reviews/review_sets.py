"""Opening a review set: sample, assign, look at the preview, save. After that it is frozen."""

import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd
from sqlalchemy import Engine
from sqlmodel import Session, col, select

from impactbench.domain import Role, content_hash
from impactbench.store.engine import insert_if_absent, writing
from impactbench.store.tables import Assignment, Rater, ReviewSet, Study
from reviews.assignment import Item, Member, Plan, PlanRefused, plan
from reviews.raters import gather_raters
from reviews.sampling import Sample, draw_sample
from reviews.sampling_frame import leave_out_exhausted, sampling_frame, taken_seats

STRATA = ("metric", "polarity", "family", "age")
"""The strata where none are named."""
_SEEDS = 2**31


@dataclass(frozen=True, kw_only=True)
class ReviewSetDraft:
    """A review set as it would be saved; nothing of it is stored yet."""

    study: str
    slug: str
    sample: Sample
    plan: Plan
    newcomers: tuple[Member, ...]
    """Raters whom saving adds to the database."""
    request: Mapping[str, Any]
    """What was asked for: strata, numbers, and which metrics and runs."""
    notes: tuple[str, ...]
    """What is less than what was to be wished, in sentences."""

    @cached_property
    def design(self) -> dict[str, Any]:
        """What is kept of how the set came about."""
        return {
            **self.request,
            "plan_hash": self.plan.plan_hash,
            "raters": [[member.name, member.panel] for member in self.plan.members],
            "population": [
                [s.name, s.population, s.sampled, s.inclusion_probability] for s in self.sample.strata
            ],
        }

    @cached_property
    def design_hash(self) -> str:
        return content_hash(self.design)

    @cached_property
    def pair_matrix(self) -> pd.DataFrame:
        """(raters, raters): items that two raters have in common; on the diagonal, items of a rater."""
        names = list(self.plan.loads)
        matrix = pd.DataFrame(0, index=names, columns=names)
        for (one, other), count in self.plan.pairs.items():
            matrix.loc[one, other] = matrix.loc[other, one] = count
        for name, load in self.plan.loads.items():
            matrix.loc[name, name] = load
        return matrix

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The preview as plain values: what JSON and tables are made of."""
        loads, pairs = self.plan.loads.values(), self.plan.pairs.values()
        return {
            "study": self.study,
            "review_set": self.slug,
            "overlap": self.plan.overlap,
            "seed": self.plan.seed,
            "items": len(self.sample.items),
            "conversations": sum(stratum.population for stratum in self.sample.strata),
            "assignments": len(self.plan.seats),
            "strata": [
                {
                    "stratum": stratum.name,
                    "conversations": stratum.population,
                    "items": stratum.sampled,
                    "inclusion_probability": stratum.inclusion_probability,
                }
                for stratum in self.sample.strata
            ],
            "raters": self._describe_raters(),
            "loads": {"min": min(loads), "max": max(loads)},
            "pairs": {
                "all": len(pairs),
                "with_common_items": sum(count > 0 for count in pairs),
                "min": min(pairs, default=0),
                "max": max(pairs, default=0),
            },
            "connected": self.plan.parts == 1,
            "notes": list(self.notes),
            "plan_hash": self.plan.plan_hash,
        }

    def _describe_raters(self) -> list[dict[str, Any]]:
        rows = self.sample.items.set_index("key")
        newcomers = {member.name for member in self.newcomers}
        items: dict[str, list[str]] = {member.name: [] for member in self.plan.members}
        for seat in self.plan.seats:
            items[seat.rater].append(seat.item)
        return [
            {
                "rater": member.name,
                "panel": member.panel,
                "new": member.name in newcomers,
                "items": len(items[member.name]),
                "metrics": int(rows.loc[items[member.name], "metric"].nunique()),
                "families": int(rows.loc[items[member.name], "family"].nunique()),
                "first_option": self.plan.option_orders[member.name][0],
                "order": items[member.name],
            }
            for member in self.plan.members
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedReviewSet:
    """What saving did."""

    slug: str
    added: int
    """Assignments added; 0 where the set was open already, with the same design."""
    asked: int
    """Assignments of the set."""


def draft_review_set(
    engine: Engine,
    study: str,
    *,
    overlap: int,
    seed: int,
    slug: str | None = None,
    strata: Sequence[str] = STRATA,
    items: int | None = None,
    per_stratum: int | None = None,
    metrics: Collection[str] = (),
    runs: Collection[str] = (),
    raters: Sequence[Member] = (),
) -> ReviewSetDraft:
    """Sample and assign the complete conversations of a study; stores nothing.

    A rater is not given a conversation that an earlier set of the study gave them. Asking for an open set again gives
    the same draft, since its own assignments and those of later sets do not count as earlier.

    Args:
        study: its slug.
        slug: the name of the set; by default it says overlap and seed.
        metrics, runs: slugs to keep to, where not everything is meant; a metric may be named `benchmark/metric`.
        raters: who rates; where nobody is named, every active expert.

    Raises:
        PlanRefused: the set cannot be as asked; the text says what would be right.
    """
    if not 0 <= seed < _SEEDS:
        raise PlanRefused(f"seed {seed} cannot be kept; give a whole number from 0 to {_SEEDS - 1}")
    slug = slug or f"overlap-{overlap}-seed-{seed}"
    frame = sampling_frame(engine, study, metrics=metrics, runs=runs)
    pool = gather_raters(engine, raters)
    taken = taken_seats(engine, study, slug)
    available = leave_out_exhausted(frame, pool.members, overlap=overlap, taken=taken)
    sample = draw_sample(available, strata=strata, seed=seed, items=items, per_stratum=per_stratum)
    made = plan(
        _items(sample.items),
        pool.members,
        overlap=overlap,
        seed=seed,
        taken=taken,
    )
    return ReviewSetDraft(
        study=study,
        slug=slug,
        sample=sample,
        plan=made,
        newcomers=pool.newcomers,
        request={
            "overlap": overlap,
            "seed": seed,
            "strata": list(strata),
            "items": items,
            "per_stratum": per_stratum,
            "metrics": sorted(metrics),
            "runs": sorted(runs),
        },
        notes=(*_sampling_notes(sample, per_stratum, len(frame) - len(available)), *made.notes),
    )


def save(engine: Engine, draft: ReviewSetDraft) -> SavedReviewSet:
    """Open the set: all of it in one transaction. The same draft again changes nothing.

    The code of an assignment is drawn here, from the system's own randomness: it must tell nothing about the item,
    and whoever knows seed and design must not be able to work it out.

    Raises:
        PlanRefused: a set of this name with another design is open, or the database changed since the draft.
    """
    with writing(engine) as session:
        study = session.exec(select(Study).where(Study.slug == draft.study)).one()
        row = {
            "study_id": study.id,
            "slug": draft.slug,
            "origin": "design",
            "seed": draft.plan.seed,
            "overlap": draft.plan.overlap,
            "design": draft.design,
            "design_hash": draft.design_hash,
        }
        is_new = insert_if_absent(session, ReviewSet, [row])
        opened = session.exec(
            select(ReviewSet).where(ReviewSet.study_id == study.id, ReviewSet.slug == draft.slug)
        ).one()
        if not is_new:
            if opened.design_hash != draft.design_hash:
                raise PlanRefused(
                    f"the review set {draft.slug!r} of the study {draft.study!r} is open with another design, and an "
                    "open set is frozen; give the new one a name of its own with --set"
                )
            return SavedReviewSet(slug=draft.slug, added=0, asked=len(draft.plan.seats))
        raters = _enrol(session, draft)
        rows = _assignment_rows(draft, study_id=study.id, review_set_id=opened.id, raters=raters)
        added = insert_if_absent(session, Assignment, rows)
        if added != len(rows):
            raise PlanRefused(
                f"{len(rows) - added} of the assignments were made by somebody else since the preview; "
                "run the command again for a new one"
            )
    return SavedReviewSet(slug=draft.slug, added=added, asked=added)


def _items(sampled: pd.DataFrame) -> list[Item]:
    columns = [sampled[name] for name in ("key", "metric", "family", "base_scenario")]
    return [
        Item(key=key, metric=metric, family=family, scenario=f"{metric}/{scenario}")
        for key, metric, family, scenario in zip(*columns, strict=True)
    ]


def _sampling_notes(sample: Sample, per_stratum: int | None, exhausted: int) -> list[str]:
    empty = sum(stratum.sampled == 0 for stratum in sample.strata)
    notes = []
    if exhausted:
        notes.append(
            f"{exhausted} conversations are left out, for too few of these raters do not have them in an earlier set; "
            "chances are those among the others."
        )
    if empty:
        notes.append(
            f"{empty} of the {len(sample.strata)} strata have no item, for there are fewer items than strata."
        )
    short = [stratum.name for stratum in sample.strata if per_stratum and stratum.population < per_stratum]
    if short:
        notes.append(
            f"{len(short)} strata have fewer than {per_stratum} conversations and give all they have."
        )
    return notes


def _enrol(session: Session, draft: ReviewSetDraft) -> dict[str, int | None]:
    """Add the newcomers; the ids of all raters, who must still be who they were in the draft."""
    insert_if_absent(
        session,
        Rater,
        [{"pseudonym": m.name, "role": Role.EXPERT, "panel": m.panel} for m in draft.newcomers],
    )
    members = {member.name: member.panel for member in draft.plan.members}
    people = session.exec(select(Rater).where(col(Rater.pseudonym).in_(list(members)))).all()
    fit = {
        person.pseudonym: person.id
        for person in people
        if person.active and person.role is Role.EXPERT and person.panel is members[person.pseudonym]
    }
    if changed := sorted(set(members) - set(fit)):
        raise PlanRefused(f"the rater {changed[0]!r} was changed since the preview; run the command again")
    return fit


def _assignment_rows(
    draft: ReviewSetDraft,
    *,
    study_id: int | None,
    review_set_id: int | None,
    raters: Mapping[str, int | None],
) -> list[dict[str, Any]]:
    items = draft.sample.items.set_index("key").to_dict("index")
    return [
        {
            "study_id": study_id,
            "review_set_id": review_set_id,
            "conversation_id": items[seat.item]["conversation_id"],
            "metric_version_id": items[seat.item]["metric_version_id"],
            "rater_id": raters[seat.rater],
            "code": secrets.token_hex(10),
            "position": seat.position,
            "option_order": list(draft.plan.option_orders[seat.rater]),
            "stratum": items[seat.item]["stratum"],
            "inclusion_probability": items[seat.item]["inclusion_probability"],
        }
        for seat in draft.plan.seats
    ]

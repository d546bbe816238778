"""Opening a review set: sample, assign, look at the preview, save. After that it is frozen."""

import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
from sqlalchemy import Engine
from sqlmodel import Session, col, select

from impactbench.domain import Role
from impactbench.store.engine import insert_if_absent, writing
from impactbench.store.tables import Assignment, Rater, ReviewSet, Study
from reviews.assignment import Item, Member, PlanRefused, plan
from reviews.blindness.leak_scan import undecided_in_words
from reviews.design.drafts import ReviewSetDraft
from reviews.design.eligibility import ineligible_pairs, require_eligible
from reviews.design.pace import measure_pace
from reviews.design.pilot import error_spread
from reviews.design.sampling_frame import beside_the_judge, leave_out_exhausted, sampling_frame, taken_seats
from reviews.gold import add_gold, gold_of_file, gold_of_set, leave_out_sampled, require_gold_share
from reviews.members.raters import gather_raters, on_record
from reviews.rubrics import DEFAULT, load
from reviews.sampling import OF_THE_JUDGE, Sample, complete_strata, draw_sample

STRATA = ("metric", "polarity", "family", "age")
"""The strata where none are named."""
_SEEDS = 2**31


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
    judge: str | None = None,
    own_family: float = 1.0,
    balance_verdicts: bool = False,
    match_expertise: bool = False,
    language: str = "",
    cap: int | None = None,
    repeats: float = 0.0,
    gold: float = 0.0,
    gold_from: str | Path | None = None,
    rubric: str = DEFAULT,
    pilot: str | None = None,
) -> ReviewSetDraft:
    """Sample and assign the complete conversations of a study; stores nothing.

    A rater is not given a conversation that an earlier set of the study gave them. Asking for an open set again gives
    the same draft, since its own assignments and those of later sets do not count as earlier.

    Args:
        study: its slug.
        slug: the name of the set; by default it says overlap and seed.
        metrics, runs: slugs to keep to, where not everything is meant; a metric may be named `benchmark/metric`.
        raters: who rates; where nobody is named, every active expert.
        judge: whose kinship and verdict the strata mean; needs no name where there is one judge.
        own_family, balance_verdicts: see `draw_sample`.
        match_expertise: whether raters whose expertise is known rate metrics placed in it alone.
        language: of the conversations, where the manifest of their run does not say.
        cap: the most items of a rater, where no limit of their own is lower.
        repeats: the share of each rater's items that are shown to them again.
        gold: the share of gold items beside each rater's own.
        gold_from: an earlier set whose unanimous items they are, or a CSV file that names them.
        pilot: an earlier set whose errors of the judge decide which strata get more of the items.
        rubric: what raters are asked: the name of a rubric, or the path of a YAML file.

    Raises:
        PlanRefused: the set cannot be as asked; the text says what would be right.
    """
    if not 0 <= seed < _SEEDS:
        raise PlanRefused(f"seed {seed} cannot be kept; give a whole number from 0 to {_SEEDS - 1}")
    slug = slug or f"overlap-{overlap}-seed-{seed}"
    asked = load(rubric)
    strata = complete_strata(strata, own_family=own_family, balance_verdicts=balance_verdicts)
    frame = sampling_frame(engine, study, metrics=metrics, runs=runs)
    frame["language"] = frame["language"].where(frame["language"] != "", language)
    if pilot is not None or not set(strata).isdisjoint(OF_THE_JUDGE):
        frame = beside_the_judge(engine, study, frame, judge=judge)
    pool = gather_raters(engine, raters)
    members = _limit(pool.members, cap)
    ineligible = ineligible_pairs(frame, members, match_expertise=match_expertise)
    require_eligible(frame, members, overlap=overlap, ineligible=ineligible)
    taken = taken_seats(engine, study, slug)
    available = leave_out_exhausted(frame, members, overlap=overlap, taken=taken | set(ineligible))
    sample = draw_sample(
        available,
        strata=strata,
        seed=seed,
        items=items,
        per_stratum=per_stratum,
        own_family=own_family,
        balance_verdicts=balance_verdicts,
        spread=None if pilot is None else error_spread(engine, study, pilot, frame, strata=strata),
    )
    made = plan(
        plan_items(sample.items),
        members,
        overlap=overlap,
        seed=seed,
        taken=taken,
        ineligible=ineligible,
        repeats=repeats,
    )
    golden = frame.iloc[:0]
    if gold_from is not None:
        require_gold_share(gold)
        if isinstance(gold_from, Path):
            golden = gold_of_file(gold_from, frame)
        else:
            golden = gold_of_set(engine, study, gold_from, frame)
        golden = leave_out_sampled(golden, set(sample.items["key"]))
        made = add_gold(
            made,
            golden,
            share=gold,
            barred=taken | set(ineligible),
            scenario_of=dict(zip(frame["key"], frame["metric"] + "/" + frame["base_scenario"], strict=True)),
            seed=seed,
        )
    elif gold:
        raise PlanRefused(
            "gold items must come from somewhere; name an earlier set with --gold-from, or a file"
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
            "strata": strata,
            "items": items,
            "per_stratum": per_stratum,
            "metrics": sorted(metrics),
            "runs": sorted(runs),
            "judge": judge,
            "own_family": own_family,
            "balance_verdicts": balance_verdicts,
            "match_expertise": match_expertise,
            "language": language,
            "repeats": repeats,
            "gold_share": gold,
            "gold_from": None if gold_from is None else str(gold_from),
            "rubric": asked.content_hash,
        }
        | ({} if pilot is None else {"pilot": pilot}),
        rubric=asked,
        gold={
            str(row["key"]): {str(name): value for name, value in row.items()}
            for row in golden.to_dict("records")
        },
        pace=measure_pace(engine),
        notes=(
            *_sampling_notes(sample, per_stratum, len(frame) - len(available)),
            *_expertise_notes(members, match_expertise=match_expertise),
            *made.notes,
            *filter(None, [undecided_in_words(engine, study)]),
        ),
    )


def _limit(members: Sequence[Member], cap: int | None) -> list[Member]:
    """The raters with the lower of their own limit and that of the set."""
    if cap is None:
        return list(members)
    if cap < 1:
        raise PlanRefused(f"cap {cap} leaves nothing to rate; give 1 or more items for each rater")
    return [
        replace(member, max_items=cap if member.max_items is None else min(cap, member.max_items))
        for member in members
    ]


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
            "rubric": draft.rubric.model_dump(mode="json"),
            "rubric_hash": draft.rubric.content_hash,
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


def plan_items(sampled: pd.DataFrame) -> list[Item]:
    columns = [sampled[name] for name in ("key", "metric", "family", "base_scenario")]
    return [
        Item(key=key, metric=metric, family=family, scenario=f"{metric}/{scenario}")
        for key, metric, family, scenario in zip(*columns, strict=True)
    ]


def _expertise_notes(members: Sequence[Member], *, match_expertise: bool) -> list[str]:
    if not match_expertise or any(member.expertise for member in members):
        return []
    return ["No rater's expertise is on record, so everybody may have every metric."]


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
    members = {member.name: member for member in draft.plan.members}
    people = session.exec(select(Rater).where(col(Rater.pseudonym).in_(list(members)))).all()
    fit = {}
    for person in people:
        member = members[person.pseudonym]
        if person.active and person.role is Role.EXPERT and person.panel is member.panel:
            fit[person.pseudonym] = person.id
            for name, value in on_record(member).items():
                setattr(person, name, value)
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
    sampled = draft.sample.items.set_index("key").to_dict("index")
    unsampled = {"stratum": "", "inclusion_probability": None}
    items = {key: {**row, **unsampled} for key, row in draft.gold.items()} | sampled
    return [
        {
            "study_id": study_id,
            "review_set_id": review_set_id,
            "conversation_id": items[seat.item]["conversation_id"],
            "metric_version_id": items[seat.item]["metric_version_id"],
            "rater_id": raters[seat.rater],
            "repeat": seat.repeat,
            "reason": seat.reason,
            "code": secrets.token_hex(10),
            "position": seat.position,
            "option_order": list(draft.plan.option_orders[seat.rater]),
            "stratum": items[seat.item]["stratum"],
            "inclusion_probability": items[seat.item]["inclusion_probability"],
        }
        for seat in draft.plan.seats
    ]

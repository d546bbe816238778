"""An open review set as a design that can still grow: who has which item, who may have it, and who is short of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from sqlalchemy import Engine

from impactbench.domain import AssignmentReason
from impactbench.store import frames
from impactbench.store.engine import reading
from reviews.assignment import Member, PlanRefused, list_reasons
from reviews.design.eligibility import ineligible_pairs
from reviews.design.sampling_frame import sampling_frame, taken_seats
from reviews.design.slots import find_set, last_seen, seen_at
from reviews.members.raters import gather_raters

IN_THE_OVERLAP = (AssignmentReason.CORE, AssignmentReason.ADAPTIVE)


@dataclass(frozen=True, kw_only=True)
class OpenSet:
    """A review set as it stands at one moment."""

    study: str
    slug: str
    design: Mapping[str, Any]
    items: pd.DataFrame
    """One row an item, by key: the columns of the sampling frame, `stratum` and `inclusion_probability`."""
    assignments: pd.DataFrame
    """One row an assignment of the set: those of `frames.assignments`, `key`, `reason`, `released_at`, `seen_at`."""
    holders: Mapping[str, tuple[str, ...]]
    """Item -> raters whose slot is theirs, or whose label came after it had been given up."""
    members: tuple[Member, ...]
    """Who may be given more: the active raters of the set, and whoever is named besides."""
    newcomers: tuple[Member, ...]
    why_not: Mapping[tuple[str, str], str]
    """(item, rater) -> why the rater is not given the item."""
    state: tuple[int, int]
    """Assignments, and slots given up: what must not have changed when something is added."""

    def free_for(self, item: str, *, but_for: Sequence[str] = ()) -> list[Member]:
        """Who could be given an item."""
        return [
            member
            for member in self.members
            if member.name not in but_for and (item, member.name) not in self.why_not
        ]

    def explain(self, item: str) -> str:
        """Why those who are not free for an item are not."""
        return list_reasons(
            {m.name: self.why_not[item, m.name] for m in self.members if (item, m.name) in self.why_not}
        )


def read_open_set(engine: Engine, study: str, slug: str, *, raters: Sequence[Member] = ()) -> OpenSet:
    """Read a review set that may still be added to.

    Args:
        raters: people to draw on besides the raters of the set.

    Raises:
        PlanRefused: there is no such set, or it is locked.
    """
    with reading(engine) as session:
        review_set = find_set(session, study, slug)
    require_unlocked(slug, review_set.locked_at)
    frame = sampling_frame(engine, study, metrics=(), runs=())
    keys = dict(zip(frame["conversation_id"], frame["key"], strict=True))
    everything = frames.assignments(engine, study, slots=True)
    own = everything[everything["review_set"] == slug]
    own = own.assign(key=own["conversation_id"].map(keys), seen_at=seen_at(own["rater"], last_seen(engine)))
    overlap = own[own["reason"].isin(IN_THE_OVERLAP)]
    held = overlap[overlap["released_at"].isna() | (overlap["status"] != "not_yet_rated")]
    core = overlap[overlap["reason"] == AssignmentReason.CORE].drop_duplicates("key")
    items = (
        frame.drop(
            columns="metric_version_id"
        )  # a second review asks about a later version than the scenario's
        .merge(core[["key", "metric_version_id", "stratum", "inclusion_probability"]], on="key")
        .sort_values("key")
    )
    design = review_set.design
    language = str(design.get("language") or "")
    items["language"] = items["language"].where(items["language"] != "", language)

    active = frames.raters(engine).set_index("rater")["active"]
    named = {member.name: member for member in raters}
    of_set = [
        Member(name=name, panel=None, max_items=design.get("limits", {}).get(name))
        for name in sorted(set(own["rater"]) - set(named))
        if active[name]
    ]
    asked = [*of_set, *raters]
    pool = gather_raters(engine, asked) if asked else None
    members = pool.members if pool else ()
    barred = ineligible_pairs(items, members, match_expertise=bool(design.get("match_expertise")))
    had = taken_seats(engine, study, slug) | set(zip(own["key"], own["rater"], strict=True))
    later = everything[everything["review_set"] != slug]
    had |= set(zip(later["conversation_id"].map(keys), later["rater"], strict=True))
    return OpenSet(
        study=study,
        slug=slug,
        design=design | {"seed": review_set.seed, "overlap": review_set.overlap},
        items=items.reset_index(drop=True),
        assignments=own.reset_index(drop=True),
        holders=names_by(held["key"], held["rater"]),
        members=members,
        newcomers=pool.newcomers if pool else (),
        why_not=barred | dict.fromkeys(had, "have had it"),
        state=(len(everything), int(everything["released_at"].notna().sum())),
    )


def names_by(items: pd.Series, raters: pd.Series) -> dict[str, tuple[str, ...]]:
    """Item -> the raters beside it, each once; rows without an item are left out."""
    named: dict[str, set[str]] = {}
    for item, rater in zip(items[items.notna()], raters[items.notna()], strict=True):
        named.setdefault(str(item), set()).add(rater)
    return {item: tuple(sorted(names)) for item, names in named.items()}


def require_unlocked(slug: str, locked_at: object) -> None:
    if locked_at is not None:
        raise PlanRefused(
            f"the review set {slug!r} is locked, so nothing is added to it; open another one for more labels"
        )

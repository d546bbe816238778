"""What open review sets are short of, and who could fill it."""

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import Engine
from sqlmodel import col, select

from impactbench.domain import Panel
from impactbench.store.engine import reading
from impactbench.store.tables import ReviewSet, Study
from reviews.assignment import PANELS
from reviews.design.open_set import OpenSet, read_open_set


@dataclass(frozen=True, slots=True, kw_only=True)
class Short:
    """An item with fewer raters than its set was opened for, or without a rater of a panel."""

    review_set: str
    item: str
    metric: str
    missing: int
    """Raters that it lacks."""
    panel: Panel | None
    """The panel that it lacks a rater of."""
    free: tuple[str, ...]
    """Raters of the set, of that panel if one is lacking, who could be given it."""
    why_not_others: str


def find_shortages(engine: Engine, study: str) -> list[Short]:
    """The items that every open set of a study is short of raters for, most pressing first.

    A slot counts as filled where somebody still holds it or has answered it. One held by a rater who is no longer
    active and has not answered is empty.
    """
    with reading(engine) as session:
        slugs = session.exec(
            select(ReviewSet.slug)
            .join(Study, col(Study.id) == ReviewSet.study_id)
            .where(Study.slug == study, ReviewSet.origin == "design", col(ReviewSet.locked_at).is_(None))
            .order_by(col(ReviewSet.id))
        ).all()
    found = [short for slug in slugs for short in _shortages(read_open_set(engine, study, slug))]
    return sorted(found, key=lambda short: (len(short.free), -short.missing, short.review_set, short.item))


def _shortages(opened: OpenSet) -> list[Short]:
    own = opened.assignments
    panel_of = dict(zip(own["rater"], own["panel"], strict=True))
    present = set(panel_of.values()) | {member.panel for member in opened.members}
    must_meet = [panel for panel in PANELS if present.issuperset(PANELS)]
    active = {member.name for member in opened.members}
    answered = own[(own["status"] != "not_yet_rated") & (own["repeat"] == 0)]
    done = set(zip(answered["key"], answered["rater"], strict=True))
    overlap = int(opened.design["overlap"] or 0)
    found = []
    for key, metric in zip(opened.items["key"], opened.items["metric"], strict=True):
        filled = [name for name in opened.holders.get(key, ()) if name in active or (key, name) in done]
        panel = _lacking(must_meet, {panel_of[name] for name in filled}, overlap=overlap)
        missing = max(0, overlap - len(filled))
        if not missing and panel is None:
            continue
        free = [m.name for m in opened.free_for(key) if panel is None or m.panel is panel]
        found.append(
            Short(
                review_set=opened.slug,
                item=str(key),
                metric=str(metric),
                missing=max(missing, 1),
                panel=panel,
                free=tuple(free),
                why_not_others=opened.explain(str(key)),
            )
        )
    return found


def _lacking(
    must_meet: Collection[Panel], present: Collection[Panel | None], *, overlap: int
) -> Panel | None:
    return next((panel for panel in must_meet if overlap > 1 and panel not in present), None)

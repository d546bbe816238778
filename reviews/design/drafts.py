"""A review set before it is saved: its design, and the preview of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from impactbench.domain import content_hash
from reviews.assignment import Member, Plan
from reviews.design.pace import Pace
from reviews.rubrics import Rubric
from reviews.sampling import Sample


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
    rubric: Rubric
    """What the raters will be asked."""
    gold: Mapping[str, Mapping[str, Any]]
    """Gold item -> its `verdict`, which is expected, `conversation_id` and `metric_version_id`."""
    pace: Pace
    """How long an item may take; no part of the design."""
    notes: tuple[str, ...]
    """What is less than what was to be wished, in sentences."""

    @cached_property
    def design(self) -> dict[str, Any]:
        """What is kept of how the set came about."""
        return {
            **self.request,
            "plan_hash": self.plan.plan_hash,
            "raters": [[member.name, member.panel] for member in self.plan.members],
            "gold": {
                key: self.gold[key]["verdict"] for key in sorted({s.item for s in self.plan.seats if s.gold})
            },
            "limits": {m.name: m.max_items for m in self.plan.members if m.max_items is not None},
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
            "rubric": self.rubric.title,
            "repeats": sum(self.plan.repeats.values()),
            "gold": sum(seat.gold for seat in self.plan.seats),
            "minutes_per_item": round(self.pace.minutes, 1),
            "minutes_source": self.pace.source,
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
        distinct = {
            name: [key for key in dict.fromkeys(keys) if key in rows.index] for name, keys in items.items()
        }
        return [
            {
                "rater": member.name,
                "panel": member.panel,
                "new": member.name in newcomers,
                "items": len(distinct[member.name]),
                "repeats": self.plan.repeats[member.name],
                "gold": len(set(items[member.name]) - set(distinct[member.name])),
                "hours": round(self.pace.hours(len(items[member.name])), 1),
                "sessions": self.pace.sessions(len(items[member.name])),
                "metrics": int(rows.loc[distinct[member.name], "metric"].nunique()),
                "families": int(rows.loc[distinct[member.name], "family"].nunique()),
                "first_option": self.plan.option_orders[member.name][0],
                "order": items[member.name],
            }
            for member in self.plan.members
        ]

"""Whether a rater says the same again: agreement of each rater with themselves on hidden repeats."""

from dataclasses import dataclass
from math import sqrt

import pandas as pd

from impactbench.domain import LabelStatus
from reviews.evidence import SCALE
from validation.agreement import krippendorff_alpha, percent_agreement
from validation.ratings import Ratings
from validation.results import Estimate

EVERYBODY = "All raters"
_ITEM = ["rater", "conversation_id", "metric_version_id"]


@dataclass(frozen=True, slots=True, kw_only=True)
class IntraRater:
    """How one rater agrees with themselves."""

    rater: str
    """A pseudonym, or all raters together."""
    agreement: Estimate
    """Share of items given the same label twice."""
    alpha: Estimate
    """Ordinal alpha of the two labels; 1 where they always are the same, 0 as by chance."""
    repeats: int
    """Repeats that the rater was given."""
    answered: int
    """Those with a verdict both times."""

    @property
    def ceiling(self) -> float | None:
        """What agreement with anybody else can hardly exceed: the root of the agreement with oneself."""
        value = self.alpha.value
        return None if value is None or value < 0 else sqrt(value)


def intra_rater(assignments: pd.DataFrame) -> list[IntraRater]:
    """All raters together, then each rater who was given a repeat.

    Both labels are the newest revision; an item that was not judged one time or the other is left out. Nothing of this
    enters a figure about experts among themselves.

    Args:
        assignments: as `frames.assignments` gives them.
    """
    twice = assignments[assignments["repeat"] > 0][_ITEM]
    if twice.empty:
        return []
    shown = assignments.merge(twice, on=_ITEM)
    rows = [_intra_rater(EVERYBODY, shown)]
    return rows + [_intra_rater(str(rater), own) for rater, own in shown.groupby("rater", sort=True)]


def _intra_rater(rater: str, shown: pd.DataFrame) -> IntraRater:
    submitted = shown[shown["status"] == LabelStatus.SUBMITTED]
    long = pd.DataFrame(
        {
            "unit": list(zip(*(submitted[name] for name in _ITEM), strict=True)),
            "rater": "showing " + (submitted["repeat"] + 1).astype(str),
            "value": submitted["label"].map(str),
        }
    ).astype(object)
    ratings = Ratings.from_frame(long, categories=SCALE)
    return IntraRater(
        rater=rater,
        agreement=percent_agreement(ratings),
        alpha=krippendorff_alpha(ratings, level="ordinal"),
        repeats=int((shown["repeat"] > 0).sum()),
        answered=int(ratings.pairable.sum()),
    )

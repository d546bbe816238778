"""Before and after a revision, on the same items: whether experts agree better, and whether the judge is nearer to them."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from impactbench.domain import LabelStatus
from reviews.evidence import SCALE, SEED, StudyTables, first_runs, random_core
from validation.agreement import krippendorff_alpha, percent_agreement
from validation.item_sums import quotient
from validation.mapping import reference
from validation.paired_agreement import alpha_change
from validation.ratings import Ratings
from validation.ratios import ratio
from validation.results import Estimate

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One figure before and after, and its change on the items that have it both times."""

    before: Estimate
    after: Estimate
    change: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class BeforeAfter:
    """What a revision did."""

    old: int
    new: int
    items: int
    """Items rated under both versions: everything here rests on these."""
    alpha: Change
    """Ordinal alpha among experts."""
    agreement: Change
    """Percent agreement among experts."""
    borderline: Change
    """Share of borderline labels."""
    judges: Mapping[str, Change]
    """Judge -> agreement with the experts."""
    sentence: str

    @property
    def record(self) -> dict[str, Any]:
        """The figures as plain values: what the change log keeps."""
        return {
            "items": self.items,
            "sentence": self.sentence,
            **{name: asdict(getattr(self, name)) for name in ("alpha", "agreement", "borderline")},
            "judges": {name: asdict(change) for name, change in self.judges.items()},
        }


def before_and_after(tables: StudyTables, *, old: int, new: int) -> BeforeAfter:
    """Compare two versions of a metric on the conversations that experts rated under both."""
    first, second = (_of_version(tables.assignments, version) for version in (old, new))
    shared = [unit for unit in first.units if unit in set(second.units)]
    first, second = (_only(one, shared) for one in (first, second))
    alpha = Change(
        before=krippendorff_alpha(first, level="ordinal"),
        after=krippendorff_alpha(second, level="ordinal"),
        change=alpha_change(first, second, seed=SEED),
    )
    judges = {
        judge: _change(
            *(_agreeing(verdicts, table, version) for table, version in ((first, old), (second, new)))
        )
        for judge, verdicts in first_runs(tables)
    }
    return BeforeAfter(
        old=old,
        new=new,
        items=len(shared),
        alpha=alpha,
        agreement=Change(
            before=percent_agreement(first),
            after=percent_agreement(second),
            change=_paired(_agreement_of_items(first), _agreement_of_items(second)),
        ),
        borderline=_change(_borderline(first), _borderline(second)),
        judges=judges,
        sentence=_in_words(alpha.change, len(shared)),
    )


def _of_version(assignments: pd.DataFrame, version: int) -> Ratings:
    """Labels of the random core under one version; units are conversations."""
    core = random_core(assignments)
    own = core[
        (core["metric_version_id"] == version)
        & (core["status"] == LabelStatus.SUBMITTED)
        & (core["repeat"] == 0)
    ]
    long = pd.DataFrame(
        {"unit": own["conversation_id"], "rater": own["rater"], "value": own["label"].map(str)}
    ).astype(object)
    return Ratings.from_frame(long, categories=SCALE)


def _only(ratings: Ratings, units: list[Any]) -> Ratings:
    """The rows of these units, in this order."""
    place = {unit: row for row, unit in enumerate(ratings.units)}
    rows = [place[unit] for unit in units]
    return Ratings(ratings.codes[rows], ratings.categories, tuple(units), ratings.raters)


def _agreement_of_items(ratings: Ratings) -> Floats:
    counts = ratings.counts.astype(np.float64)
    n = counts.sum(axis=1)
    return quotient((counts * (counts - 1)).sum(axis=1), n * (n - 1))


def _borderline(ratings: Ratings) -> Floats:
    return quotient(
        ratings.counts[:, SCALE.index("borderline")].astype(np.float64),
        ratings.ratings_per_unit.astype(np.float64),
    )


def _agreeing(verdicts: pd.DataFrame, ratings: Ratings, version: int) -> Floats:
    """(units,): 1 where judge and experts agree, 0 where not, nan without a verdict or a reference."""
    items = pd.MultiIndex.from_tuples([(unit, version) for unit in ratings.units], names=verdicts.index.names)
    said = verdicts["passed"].reindex(items).astype("Float64").to_numpy(dtype=np.float64, na_value=np.nan)
    if not len(said):
        return np.zeros(0)
    # Adjudication may have settled ties under one version alone, so they count half under both.
    return np.asarray(1 - np.abs(said - reference(ratings)), dtype=np.float64)


def _change(before: Floats, after: Floats) -> Change:
    return Change(before=_mean(before), after=_mean(after), change=_paired(before, after))


def _mean(values: Floats) -> Estimate:
    return ratio(values[~np.isnan(values)], seed=SEED)


def _paired(before: Floats, after: Floats) -> Estimate:
    apart = after - before
    known = apart[~np.isnan(apart)]
    return ratio(known, clusters=np.arange(len(known)), bounds=(-1.0, 1.0), seed=SEED)


def _in_words(change: Estimate, items: int) -> str:
    if change.value is None:
        return f"Nothing can be compared yet: {items} items have labels under both versions."
    if change.low is None or change.high is None:
        return "Agreement was measured under both versions, on too few items for an interval."
    if change.low > 0:
        return "Experts agree better under the new version."
    if change.high < 0:
        return "Experts agree less under the new version."
    return "Whether experts agree better under the new version cannot be told from these items."

"""The one contract of this library: who said what about which unit, in declared categories.

Every statistic takes a `Ratings`. It is made from a long frame, checked once, at the door.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from validation.item_kinds import kinds_of_items

MISSING = -1
"""The code of a cell without a rating."""


class RatingsError(ValueError):
    """A table that is not a table of ratings; the text names the row and the value."""


@dataclass(frozen=True, eq=False)
class Ratings:
    """Ratings of units by raters in declared, ordered categories.

    Units and raters keep the order of their first appearance. A unit without any rating keeps its row, so that
    what was not assessed can be counted.
    """

    codes: NDArray[np.int64]
    """(units, raters): index into `categories`, or `MISSING`."""
    categories: tuple[Hashable, ...]
    """The declared categories, in scale order: unused ones count too."""
    units: tuple[Hashable, ...]
    """(units,): the name of each row of `codes`."""
    raters: tuple[Hashable, ...]
    """(raters,): the name of each column of `codes`."""
    clusters: NDArray[np.int64] | None = None
    """(units,): cluster number of each unit, 0 .. n_clusters-1; None where units are independent."""

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        *,
        categories: Sequence[Hashable],
        unit: str = "unit",
        rater: str = "rater",
        value: str = "value",
        cluster: str | None = None,
    ) -> Self:
        """Read a long frame: one row a rating; a null value is a cell without a rating.

        Args:
            frame: the table; other columns are left alone.
            categories: every category there is, in scale order, used or not.
            unit, rater, value, cluster: the names of the columns.

        Raises:
            RatingsError: a column is missing, a value is not a declared category, a (unit, rater) pair has two
                rows, or a unit lies in two clusters; the text names the rows (counted from 1, header not counted).

        >>> frame = pd.DataFrame({"unit": [1, 1, 2], "rater": ["a", "b", "a"], "value": ["yes", "no", "yes"]})
        >>> Ratings.from_frame(frame, categories=["no", "yes"]).codes.tolist()
        [[1, 0], [1, -1]]
        """
        names = [unit, rater, value] + ([cluster] if cluster else [])
        if absent := [name for name in names if name not in frame.columns]:
            have = ", ".join(map(repr, frame.columns))
            raise RatingsError(f"there is no column {absent[0]!r}; the table has {have}")
        _require_known_categories(frame[value], categories)
        _require_names(frame, [unit, rater])
        _require_one_row_each(frame, [unit, rater])

        unit_codes, units = pd.factorize(frame[unit])
        rater_codes, raters = pd.factorize(frame[rater])
        codes = np.full((len(units), len(raters)), MISSING, dtype=np.int64)
        codes[unit_codes, rater_codes] = pd.Categorical(frame[value], categories=list(categories)).codes
        return cls(
            codes=codes,
            categories=tuple(categories),
            units=tuple(units),
            raters=tuple(raters),
            clusters=_cluster_of_units(frame, unit, cluster, unit_codes) if cluster else None,
        )

    @classmethod
    def from_table(
        cls, table: Sequence[Sequence[Hashable | None]], *, categories: Sequence[Hashable]
    ) -> Self:
        """Read a wide table, one row a unit and one column a rater, with None where there is no rating.

        >>> Ratings.from_table([["a", "b"], ["a", None]], categories=["a", "b"]).counts.tolist()
        [[1, 1], [1, 0]]
        """
        rows = [
            {"unit": unit, "rater": f"r{rater + 1}", "value": value}
            for unit, row in enumerate(table)
            for rater, value in enumerate(row)
        ]
        frame = pd.DataFrame(rows, columns=["unit", "rater", "value"]).astype({"value": object})
        return cls.from_frame(frame, categories=categories)

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """(units, categories): how many raters put a unit into a category."""
        return np.stack([(self.codes == k).sum(axis=1) for k in range(len(self.categories))], axis=1)

    @cached_property
    def kinds(self) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
        """(kinds, categories) the different rows of `counts`, and (units,) which of them a unit has."""
        return kinds_of_items(self.counts)

    @cached_property
    def ratings_per_unit(self) -> NDArray[np.int64]:
        """(units,): how many ratings a unit has."""
        return np.asarray((self.codes != MISSING).sum(axis=1), dtype=np.int64)

    @property
    def pairable(self) -> NDArray[np.bool_]:
        """(units,): whether a unit has two ratings or more, so that it can show disagreement."""
        return self.ratings_per_unit >= 2

    @property
    def n_ratings(self) -> int:
        return int(self.ratings_per_unit.sum())

    @property
    def n_clusters(self) -> int | None:
        return None if self.clusters is None else int(self.clusters.max(initial=-1)) + 1

    def select(self, units: NDArray[np.bool_]) -> Self:
        """The ratings of some of the units; raters and categories stay, clusters are numbered anew."""
        clusters = None if self.clusters is None else pd.factorize(self.clusters[units])[0]
        names = tuple(compress(self.units, units.tolist()))
        return type(self)(self.codes[units], self.categories, names, self.raters, clusters)


def _require_known_categories(values: pd.Series, categories: Sequence[Hashable]) -> None:
    if len(set(categories)) != len(categories):
        raise RatingsError(f"a category is declared twice in {list(categories)!r}")
    unknown = values.notna() & ~values.isin(list(categories))
    if unknown.any():
        row = int(np.argmax(unknown)) + 1
        declared = ", ".join(map(repr, categories))
        raise RatingsError(
            f"row {row}: {values.tolist()[row - 1]!r} is not one of the declared categories {declared}"
            " (leave the cell empty where there is no rating)"
        )


def _require_names(frame: pd.DataFrame, columns: list[str]) -> None:
    for column in columns:
        if (empty := frame[column].isna()).any():
            raise RatingsError(f"row {int(np.argmax(empty)) + 1}: the column {column!r} is empty")


def _require_one_row_each(frame: pd.DataFrame, key: list[str]) -> None:
    doubled = frame.duplicated(key, keep=False)
    if doubled.any():
        second = int(np.argmax(frame.duplicated(key))) + 1
        pair = frame[key].iloc[second - 1]
        same = (frame[key] == pair).all(axis=1)
        first = int(np.argmax(same)) + 1
        raise RatingsError(
            f"rows {first} and {second}: two ratings of {key[0]} '{pair.iloc[0]}' by {key[1]} '{pair.iloc[1]}';"
            " a rater has one rating of a unit"
        )


def _cluster_of_units(
    frame: pd.DataFrame, unit: str, cluster: str, unit_codes: NDArray[np.intp]
) -> NDArray[np.int64]:
    _require_names(frame, [cluster])
    cluster_codes, _ = pd.factorize(frame[cluster])
    of_unit = np.full(unit_codes.max(initial=-1) + 1, MISSING, dtype=np.int64)
    of_unit[unit_codes[::-1]] = cluster_codes[::-1]  # the first row of a unit decides
    if (stray := of_unit[unit_codes] != cluster_codes).any():
        row = int(np.argmax(stray)) + 1
        raise RatingsError(f"row {row}: {unit} '{frame[unit].iloc[row - 1]}' stands in two clusters")
    return of_unit

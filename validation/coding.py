"""Whether two columns of labels mean the same by their codes: 1/2 against 1/0, or yes and no turned around."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.stats import binom

from validation.integrity import Finding, finding
from validation.intervals import wilson
from validation.results import Estimate

BEYOND_DOUBT = 0.05
"""A renaming is suspected where chance would do as well less often than this, all renamings allowed for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coding:
    """Whether two columns of labels use their codes alike."""

    only_first: tuple[Hashable, ...]
    """Codes that only the first column uses."""
    only_second: tuple[Hashable, ...]
    """Codes that only the second uses."""
    agreement: Estimate
    """Share of items with equal codes."""
    agreement_recoded: Estimate
    """The same after the renaming of the second column's codes that agrees best: an upper bound, not a result."""
    recoding: Mapping[Hashable, Hashable]
    """That renaming: code of the second column to code of the first."""
    suspected: bool
    """The renaming agrees better than what stands, and better than chance, both beyond doubt."""


def coding(first: Sequence[Hashable], second: Sequence[Hashable]) -> Coding:
    """Look for labels that are coded differently on two sides: 1/2 against 1/0, or yes and no turned around.

    The renaming is the best of many, so two exact tests are made with the number of renamings allowed for
    (Bonferroni): of the items that it changes, more come to agree than cease to (a sign test); and more items agree
    than would if the columns had nothing to do with each other. One stray code a side is no suspicion.

    Args:
        first: (items,) codes of the reference.
        second: (items,) codes to be compared with it.

    Raises:
        ValueError: the columns differ in length.

    >>> found = coding([1, 2, 2, 1, 2, 1] * 4, [1, 0, 0, 1, 0, 1] * 4)
    >>> found.suspected, dict(found.recoding)
    (True, {1: 1, 0: 2})
    >>> coding(["pass"] * 9 + ["borderline"], ["pass"] * 9 + ["fail"]).suspected
    False
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} labels cannot be compared with {len(second)}")
    rows, columns = list(dict.fromkeys(first)), list(dict.fromkeys(second))
    n = len(first)
    table = np.zeros((len(rows), len(columns)))
    place, place_second = (
        {code: k for k, code in enumerate(rows)},
        {code: k for k, code in enumerate(columns)},
    )
    np.add.at(table, ([place[code] for code in first], [place_second[code] for code in second]), 1)
    chosen_rows, chosen_columns = linear_sum_assignment(-table)
    recoding = {columns[j]: rows[i] for i, j in zip(chosen_rows, chosen_columns, strict=True)}
    stands = np.array([one == other for one, other in zip(first, second, strict=True)], dtype=np.bool_)
    renamed = np.array(
        [other in recoding and recoding[other] == one for one, other in zip(first, second, strict=True)],
        dtype=np.bool_,
    )
    margins = table.sum(axis=1)[chosen_rows] * table.sum(axis=0)[chosen_columns]
    return Coding(
        only_first=tuple(code for code in rows if code not in place_second),
        only_second=tuple(code for code in columns if code not in place),
        agreement=wilson(int(stands.sum()), n),
        agreement_recoded=wilson(int(renamed.sum()), n),
        recoding={code: recoding[code] for code in columns if code in recoding},
        suspected=_beyond_doubt(
            gained=int((renamed & ~stands).sum()),
            lost=int((stands & ~renamed).sum()),
            agreeing=int(renamed.sum()),
            n=n,
            by_chance=float(margins.sum()) / max(n, 1) ** 2,
            renamings=math.perm(max(table.shape), min(table.shape)),
        ),
    )


def _beyond_doubt(*, gained: int, lost: int, agreeing: int, n: int, by_chance: float, renamings: int) -> bool:
    # In logs: the number of renamings soon leaves the range of floats.
    limit = math.log(BEYOND_DOUBT) - math.log(renamings)
    better_than_standing = binom.logsf(gained - 1, gained + lost, 0.5)
    better_than_chance = binom.logsf(agreeing - 1, n, min(by_chance, 1.0))
    return bool(max(better_than_standing, better_than_chance) < limit)


def coding_findings(
    first: Sequence[Hashable], second: Sequence[Hashable], *, name: Hashable
) -> tuple[Finding, ...]:
    """The finding that two columns are coded differently, if they seem to be."""
    found = coding(first, second)
    if not found.suspected:
        return ()
    renamed = ", ".join(f"{code!r} as {other!r}" for code, other in found.recoding.items() if code != other)
    return (
        finding(
            "miscoded_labels",
            name,
            f"seems coded differently on the two sides: they agree on {found.agreement.value:.0%} of the items, and on"
            f" {found.agreement_recoded.value:.0%} with {renamed or 'other names'}",
        ),
    )

"""Checks before any statistic: the same items, the same codes, the same way up.

A judge's score of one text says nothing of a person's label of another, however alike their names. A code that only one
side uses, or a scale turned around, makes any agreement figure meaningless.
"""

import hashlib
import math
import unicodedata
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from scipy.stats import binom

from validation.intervals import wilson
from validation.judge_accuracy import PolarityAlarm, polarity_tripwire
from validation.results import Estimate

Item = TypeVar("Item", bound=Hashable)

BEYOND_DOUBT = 0.05
"""A renaming is suspected where chance would do as well less often than this, all renamings allowed for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that must be settled before a figure is shown."""

    code: str
    """`inverted_metric`, `inversion_suspected`, `other_text`, `text_unknown`, `miscoded_labels`."""
    subject: Hashable
    """The metric or the item."""
    sentence: str
    """What was found, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemIdentity:
    """Whether two sources speak of the same texts."""

    same: tuple[Hashable, ...]
    """Items whose texts are identical: only these may be compared."""
    different: tuple[Hashable, ...]
    """Items of one name with different texts: refused."""
    unknown: tuple[Hashable, ...]
    """Items of which one side recorded no text: refused."""
    only_first: tuple[Hashable, ...]
    """Items that only the first source has."""
    only_second: tuple[Hashable, ...]
    """Items that only the second source has."""

    @property
    def comparable(self) -> bool:
        """Whether the two may be compared as they are: they share items, and every shared item has one text."""
        return bool(self.same) and not self.different and not self.unknown

    @property
    def findings(self) -> tuple[Finding, ...]:
        """One finding for each item refused."""
        return (
            *(
                _finding("other_text", item, "was judged on another text than people read")
                for item in self.different
            ),
            *(_finding("text_unknown", item, "has no recorded text on one side") for item in self.unknown),
        )


def text_hash(text: str) -> str:
    r"""The identity of a text: SHA-256 after Unicode NFC, with line ends as one newline and outer white space gone.

    >>> text_hash("one\r\ntwo ") == text_hash("one\ntwo"), text_hash("one") == text_hash("One")
    (True, False)
    """
    settled = unicodedata.normalize("NFC", text).replace("\r\n", "\n").replace("\r", "\n").strip()
    return hashlib.sha256(settled.encode("utf-8")).hexdigest()


def item_identity(first: Mapping[Item, str | None], second: Mapping[Item, str | None]) -> ItemIdentity:
    """Compare the texts behind two sources of labels by their hashes.

    Args:
        first: for each item the hash of the text that people read; None where it was not recorded.
        second: for each item the hash of the text that the judge scored.

    >>> people = {1: text_hash("Hello"), 2: text_hash("Bye"), 3: None}
    >>> judged = {1: text_hash("Hello"), 2: text_hash("Goodbye"), 3: text_hash("So")}
    >>> found = item_identity(people, judged)
    >>> found.same, found.different, found.unknown, found.comparable
    ((1,), (2,), (3,), False)
    """
    shared = [item for item in first if item in second]
    unknown = [item for item in shared if first[item] is None or second[item] is None]
    known = [item for item in shared if first[item] is not None and second[item] is not None]
    return ItemIdentity(
        same=tuple(item for item in known if first[item] == second[item]),
        different=tuple(item for item in known if first[item] != second[item]),
        unknown=tuple(unknown),
        only_first=tuple(item for item in first if item not in second),
        only_second=tuple(item for item in second if item not in first),
    )


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


def _beyond_doubt(
    *, gained: int, lost: int, agreeing: int, n: int, by_chance: float, renamings: int
) -> bool:
    """Whether a renaming is better than what stands, and than chance; in logs, since renamings grow fast."""
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
        _finding(
            "miscoded_labels",
            name,
            f"seems coded differently on the two sides: they agree on {found.agreement.value:.0%} of the items, and on"
            f" {found.agreement_recoded.value:.0%} with {renamed or 'other names'}",
        ),
    )


def inverted_metrics(
    reference: ArrayLike, judge_pass: ArrayLike, *, clusters: Sequence[Hashable]
) -> tuple[Finding, ...]:
    """The metrics whose polarity or definition seems turned around: leave them out until someone has looked.

    `inverted_metric` where the judge contradicts the experts almost throughout, `inversion_suspected` where it only
    agrees with them less than chance would, beyond doubt.

    >>> found = inverted_metrics([1, 1, 0, 0, 1, 0] * 2, [0, 0, 1, 1, 0, 1] * 2, clusters=["hope"] * 12)
    >>> [(one.code, one.subject) for one in found]
    [('inverted_metric', 'hope')]
    """
    names = np.empty(len(clusters), dtype=object)
    names[:] = list(clusters)
    return tuple(
        _finding("inverted_metric" if alarm.raised else "inversion_suspected", alarm.cluster, _how_far(alarm))
        for alarm in polarity_tripwire(reference, judge_pass, clusters=names)
        if alarm.raised or alarm.suspected
    )


def _how_far(alarm: PolarityAlarm) -> str:
    agreed = (
        f"judge and experts agree on {alarm.accuracy.value:.0%} of {alarm.accuracy.n} items and would on"
        f" {1 - (alarm.accuracy.value or 0):.0%} the other way round"
    )
    if alarm.raised:
        return f"{agreed}: polarity or definition may be inverted"
    return f"{agreed}, which is less than chance (kappa {alarm.kappa.value:.2f}, at most {alarm.kappa.high:.2f})"


def _finding(code: str, subject: Hashable, what: str) -> Finding:
    return Finding(code=code, subject=subject, sentence=f"{subject} {what}.")

"""What a rater would accept: sets of verdicts, and how often each verdict lies in a rater's set.

A label "borderline" that means "a pass and a fail are both defensible" *is* the response set {pass, fail}. That
holds only where it was not also the button for "I do not know".
"""

import string
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from validation.agreement import percent_agreement
from validation.arguments import require_at_least
from validation.bounds import Bounds
from validation.item_sums import quotient
from validation.ratings import Ratings
from validation.ratios import ratio
from validation.results import Estimate

Floats = NDArray[np.float64]


def decode(response: str | None, *, options: Sequence[str]) -> tuple[int, ...] | None:
    """Which options a lettered answer contains, as 1 and 0; None where it is no answer.

    Anything but letters of the options, each at most once and parted by blanks, commas or semicolons at most, is
    missing: it is neither an option of its own nor an empty set.

    Raises:
        ValueError: no options, or more than letters.

    >>> decode("AB", options=["pass", "fail"]), decode("B", options=["pass", "fail"])
    ((1, 1), (0, 1))
    >>> decode("AC", options=["pass", "fail"]) is None
    True
    """
    if not 1 <= len(options) <= len(string.ascii_uppercase):
        raise ValueError(f"between 1 and 26 options can be lettered, not {len(options)}")
    letters = [letter for letter in (response or "").upper() if letter not in " ,;"]
    known = string.ascii_uppercase[: len(options)]
    if not letters or len(set(letters)) < len(letters) or not set(letters) <= set(known):
        return None
    return tuple(int(letter in letters) for letter in known)


def membership(n_options: int) -> Floats:
    """(options, sets): whether an option lies in each of the 2^K - 1 sets that are not empty, smallest sets first.

    >>> membership(2).tolist()
    [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]
    """
    require_at_least("n_options", n_options, 1)
    bits = (np.arange(1, 2**n_options)[None, :] >> np.arange(n_options)[:, None]) & 1
    return bits[:, np.lexsort((np.arange(bits.shape[1]), bits.sum(axis=0)))].astype(np.float64)


def multilabel(ratings: Ratings) -> Floats:
    """(units, 2): share of raters in whose set pass lies, and fail; rows need not sum to 1, nan where unrated.

    >>> five = Ratings.from_table([["pass"] * 2 + ["borderline"] * 2 + ["fail"]],
    ...     categories=["fail", "borderline", "pass"])
    >>> multilabel(five).tolist()
    [[0.8, 0.6]]
    """
    passed, borderline, failed = _counts(ratings)
    defended = np.stack([passed + borderline, failed + borderline], axis=1)
    return quotient(defended, (passed + borderline + failed)[:, None])


def forced_choice(ratings: Ratings) -> Floats:
    """(units, 2): pass and fail shares if raters who find both defensible had chosen each half of the time."""
    passed, borderline, failed = _shares(ratings)
    return np.stack([passed + borderline / 2, failed + borderline / 2], axis=1)


def multilabel_of_sets(sets: ArrayLike) -> Floats:
    """(items, options) shares from (items, raters, options) response sets; nan marks a rater without an answer."""
    answers = np.asarray(sets, dtype=np.float64)
    if answers.ndim != 3:
        raise ValueError(f"response sets have the axes items, raters, options, not the shape {answers.shape}")
    given = ~np.isnan(answers)
    return quotient(np.where(given, answers, 0).sum(axis=1), given.sum(axis=1).astype(np.float64))


def reconstruct(forced: ArrayLike, *, choices: ArrayLike, sets: ArrayLike) -> Floats:
    """(items, options) multi-label shares from forced choices, by way of raters who gave both (about 100 of them).

    An option is in a rater's set with the frequency with which it was in the sets of raters who chose as they did.

    Args:
        forced: (items, options) shares of forced choices.
        choices: (paired,) index of the option chosen by each rater who gave both.
        sets: (paired, options) the response set of the same rater, 1 and 0.

    Raises:
        ValueError: the shapes disagree, or an option that was chosen in `forced` has no paired rater.

    >>> reconstruct([[0.5, 0.5]], choices=[0, 0, 1, 1], sets=[[1, 0], [1, 1], [0, 1], [0, 1]]).tolist()
    [[0.5, 0.75]]
    """
    shares, picked, answers = np.asarray(forced, float), np.asarray(choices), np.asarray(sets, float)
    if shares.ndim != 2 or answers.shape != (len(picked), shares.shape[1]):
        raise ValueError(f"forced {shares.shape}, choices {picked.shape} and sets {answers.shape} do not fit")
    chose = (picked[:, None] == np.arange(shares.shape[1])).astype(np.float64)
    times = chose.sum(axis=0)
    if lacking := np.flatnonzero((times == 0) & (shares > 0).any(axis=0)).tolist():
        raise ValueError(f"no paired rater chose the options {lacking}")
    in_set = chose.T @ answers / np.maximum(times, 1)[:, None]
    return np.asarray(shares @ in_set, dtype=np.float64)


def pass_rate_bounds(ratings: Ratings, *, clusters: ArrayLike | None = None, seed: int = 0) -> Bounds:
    """Belief and plausibility of a pass: the rate if borderline never passes, and if it always does."""
    passed, borderline, _ = _shares(ratings)
    group = ratings.clusters if clusters is None else clusters
    return Bounds(
        low=ratio(passed, clusters=group, seed=seed, policy="b=fail, mean"),
        high=ratio(passed + borderline, clusters=group, seed=seed, policy="b=pass, mean"),
    )


def within_rater(ratings: Ratings, *, clusters: ArrayLike | None = None, seed: int = 0) -> Estimate:
    """Share of ratings that find both verdicts defensible: what a majority vote hides. Items count alike."""
    group = ratings.clusters if clusters is None else clusters
    found = ratio(_shares(ratings)[1], clusters=group, seed=seed)
    return replace(found, n_ratings=ratings.n_ratings)


def between_raters(ratings: Ratings) -> Estimate:
    """Share of pairs of raters who differ: what single reviewers hide."""
    return percent_agreement(ratings).complement


def _shares(ratings: Ratings) -> tuple[Floats, Floats, Floats]:
    """(units,) shares of pass, borderline and fail among the three, nan where none was given."""
    passed, borderline, failed = _counts(ratings)
    total = passed + borderline + failed
    return quotient(passed, total), quotient(borderline, total), quotient(failed, total)


def _counts(ratings: Ratings) -> tuple[Floats, Floats, Floats]:
    if not {"pass", "fail"} <= set(ratings.categories):
        raise ValueError(f"the categories must be fail, borderline, pass, not {ratings.categories!r}")
    named = dict(zip(ratings.categories, ratings.counts.T.astype(np.float64), strict=True))
    none = np.zeros(len(ratings.units))
    return named["pass"], named.get("borderline", none), named["fail"]

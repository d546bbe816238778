"""Kappas as item sums: observed disagreement over pairs of ratings, and what chance would give.

They differ in where chance comes from: the ratings of all (Fleiss), of each rater (Conger, Cohen), the declared
categories (Brennan and Prediger), or both (Gwet).
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from validation.item_sums import (
    FloatArray,
    ItemSums,
    between_categories,
    by_category,
    item_sums_of,
    largest_of,
    quotient,
)
from validation.ratings import Ratings
from validation.weights import disagreement_weights

FleissForm = Literal["pairable", "gwet", "pooled"]


def fleiss_sums(counts: NDArray[np.int64], *, apart: FloatArray, form: FleissForm) -> ItemSums:
    """Fleiss' kappa: chance from the shares of the categories, over the items that `form` names."""
    n, m, paired = by_category(counts)
    match form:
        case "pairable":
            margin = quotient(n * paired, m)
        case "gwet":
            margin = quotient(n, m)
        case "pooled":
            margin = n
        case _:
            raise ValueError(f"form must be one of {', '.join(get_args(FleissForm))}, not {form!r}")

    def expected(sums: FloatArray) -> FloatArray:
        share = quotient(sums, sums.sum(axis=0))
        return between_categories(apart, lambda c, k: share[c] * share[k])

    sums = _pairwise_sums(n, m, paired, apart, np.nan_to_num(margin), expected)
    return replace(sums, largest=largest_of(apart, sums.total()[2:] > 0))


def gwet_sums(counts: NDArray[np.int64], *, apart: FloatArray) -> ItemSums:
    """Gwet's AC1 and AC2: chance from the shares of the declared categories, each item's share alike."""
    n, m, paired = by_category(counts)
    q = len(n)
    # 1 - expected disagreement of raters who spread evenly over the declared categories, per unit of variation
    slope = (1 - apart).sum() / (q * (q - 1)) if q > 1 else np.inf

    def expected(sums: FloatArray) -> FloatArray:
        if q < 2:
            return np.zeros(sums.shape[1:])
        share = quotient(sums, sums.sum(axis=0))
        by_chance: FloatArray = slope * (share * (1 - share)).sum(axis=0)
        return 1 - by_chance

    return _pairwise_sums(n, m, paired, apart, np.nan_to_num(quotient(n, m)), expected)


def brennan_prediger_sums(counts: NDArray[np.int64], *, apart: FloatArray) -> ItemSums:
    """Brennan and Prediger's kappa: chance spreads evenly over the declared categories."""
    n, m, paired = by_category(counts)
    mean_apart = apart.mean()
    return _pairwise_sums(
        n, m, paired, apart, n[:0], lambda sums: np.full(sums.shape[1:], mean_apart, dtype=np.float64)
    )


def agreement_sums(counts: NDArray[np.int64], *, pair_weighted: bool) -> ItemSums:
    """Percent agreement: nothing is expected of chance."""
    n, m, paired = by_category(counts)
    apart = disagreement_weights(len(n), weights="identity")
    sums = _pairwise_sums(n, m, paired, apart, n[:0], lambda sums: np.ones(sums.shape[1:]))
    return replace(sums, items=sums.items * (m * (m - 1) / 2)) if pair_weighted else sums


def specific_sums(counts: NDArray[np.int64], *, category: int) -> ItemSums:
    """Specific agreement on one category: pairs of a rating of it with one of another, of the pairs that hold it."""
    n, m, _ = by_category(counts)
    of_category = n[category]
    held = of_category * (m - 1)
    paired = held > 0

    def disagreement(sums: FloatArray) -> tuple[FloatArray, FloatArray]:
        return quotient(sums[0], sums[1]), np.ones_like(sums[0])

    return item_sums_of(
        np.stack([of_category * (m - of_category), held]) * paired, m, paired, disagreement, None
    )


def conger_sums(codes: NDArray[np.int64], *, apart: FloatArray) -> ItemSums:
    """Conger's kappa: chance from the shares of each rater, over pairs of different raters.

    Args:
        codes: (items, raters) or (groups, items, raters).
        apart: (categories, categories) disagreement.
    """
    by_group = codes if codes.ndim == 3 else codes[None]
    q, r = len(apart), by_group.shape[-1]
    said = np.stack([np.moveaxis(by_group == k, -1, 0) for k in range(q)], axis=1).astype(np.float64)
    n = said.sum(axis=0)
    m = n.sum(axis=0)
    paired = m >= 2

    def expected(sums: FloatArray) -> FloatArray:
        of_rater = sums.reshape(r, q, *sums.shape[1:])
        rated = of_rater.sum(axis=1)
        share = np.nan_to_num(quotient(of_rater, rated[:, None]))
        raters = (rated > 0).sum(axis=0).astype(np.float64)
        of_all = share.sum(axis=0)
        apart_by_chance = between_categories(
            apart, lambda c, k: of_all[c] * of_all[k] - (share[:, c] * share[:, k]).sum(axis=0)
        )
        return quotient(apart_by_chance, raters * (raters - 1))

    sums = _pairwise_sums(n, m, paired, apart, said.reshape(r * q, *m.shape), expected)
    return replace(sums, largest=largest_of(apart, n.sum(axis=-1) > 0))


def cohen_sums(
    ratings: Ratings, pairs: Sequence[tuple[int, int]], *, apart: FloatArray, clustered: bool = False
) -> ItemSums:
    """Cohen's kappa of many pairs of raters (the groups): their contingency tables.

    Items of one cell are alike, so a column is a cell and `times` its count; or a column is a cluster.
    """
    q, r = len(ratings.categories), len(ratings.raters)
    said = (ratings.codes[:, :, None] == np.arange(q)[None, None, :]).astype(np.float64)
    first, second = [a for a, _ in pairs], [b for _, b in pairs]

    def tables(units: FloatArray) -> FloatArray:
        flat = units.reshape(len(units), r * q)
        together = (flat.T @ flat).reshape(r, q, r, q).transpose(0, 2, 1, 3)
        chosen: FloatArray = together[first, second].reshape(len(pairs), q * q)
        return chosen

    def disagreement(sums: FloatArray) -> tuple[FloatArray, FloatArray]:
        table = sums.reshape(q, q, *sums.shape[1:])
        total = sums.sum(axis=0)
        rows, columns = table.sum(axis=1), table.sum(axis=0)
        observed = between_categories(apart, lambda c, k: (table[c, k] + table[k, c]) / 2)
        expected = between_categories(apart, lambda c, k: (rows[c] * columns[k] + rows[k] * columns[c]) / 2)
        return quotient(observed, total), quotient(expected, total**2)

    whole = tables(said)
    if clustered and ratings.clusters is not None and len(ratings.clusters):
        order = np.argsort(ratings.clusters, kind="stable")
        ends = np.flatnonzero(np.diff(ratings.clusters[order])) + 1
        items = np.stack([tables(of_cluster).T for of_cluster in np.split(said[order], ends)], axis=-1)
        paired = items.sum(axis=0)
        times = (paired > 0).astype(np.float64)
    else:
        items = np.broadcast_to(np.eye(q * q)[:, None, :], (q * q, len(pairs), q * q))
        paired, times = np.ones_like(whole), whole
    table = whole.reshape(len(pairs), q, q)
    used = np.moveaxis(table.sum(axis=1) + table.sum(axis=2) > 0, -1, 0)
    return ItemSums(
        items=items,
        times=times,
        paired=paired,
        ratings=2 * paired,
        disagreement=disagreement,
        largest=largest_of(apart, used),
        clustered=clustered,
    )


def _pairwise_sums(
    n: FloatArray,
    m: FloatArray,
    paired: NDArray[np.bool_],
    apart: FloatArray,
    margin: FloatArray,
    expected: Callable[[FloatArray], FloatArray],
) -> ItemSums:
    """Observed disagreement as the item mean over pairs of ratings; what chance gives, from the sums of `margin`."""
    apart_in_item = between_categories(apart, lambda c, k: n[c] * n[k]) if len(n) > 1 else np.zeros_like(m)
    observed = np.nan_to_num(quotient(apart_in_item * paired, m * (m - 1)))

    def disagreement(sums: FloatArray) -> tuple[FloatArray, FloatArray]:
        return quotient(sums[0], sums[1]), expected(sums[2:])

    return item_sums_of(np.concatenate([[observed], [paired], margin]), m, paired, disagreement, None)

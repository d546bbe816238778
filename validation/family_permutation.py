"""Is it the family, or these models? Permutation tests at two levels.

A family holds few models, and models differ for reasons of their own. Shuffling models within metrics asks whether any model
differs; only relabelling whole models asks whether the family does, and with few models it cannot say much.
"""

from dataclasses import dataclass
from itertools import combinations, islice
from math import comb

import numpy as np
from numpy.typing import NDArray

from validation.arguments import require_at_least
from validation.results import Estimate
from validation.shuffles import shuffled_within_rows

MOST_RELABELLINGS = 20_000
"""Above this, relabellings are drawn instead of listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyPermutation:
    """Two tests of one difference: own models minus the others."""

    difference: Estimate
    """Mean over metrics of (mean leniency of own models - mean leniency of the others)."""
    p_these_models: float | None
    """p by shuffling models within each metric: speaks of these models only."""
    p_family: float | None
    """p by relabelling whole models: speaks of the family."""
    smallest_p_family: float | None
    """The smallest p that so few models could give."""


def family_permutation(
    leniency: NDArray[np.float64],
    *,
    own: NDArray[np.bool_],
    seed: int | np.random.Generator,
    permutations: int = 2000,
) -> FamilyPermutation:
    """Test the difference between own models and others by permutation within metrics and of whole models.

    Args:
        leniency: (metrics, models) mean of judge minus human; NaN where there are no labels.
        own: (models,) whether a model is of the judge's family.
        seed: of the permutations.
        permutations: within metrics.
    """
    require_at_least("permutations", permutations, 1)
    values = np.asarray(leniency, dtype=np.float64)
    own = np.asarray(own, dtype=np.bool_)
    if values.ndim != 2 or values.shape[1] != len(own):
        raise ValueError(f"leniency of shape {values.shape} does not fit {len(own)} models")
    seen = ~np.isnan(values)
    usable = seen[:, own].any(axis=1) & seen[:, ~own].any(axis=1)
    if not usable.any():
        undefined = Estimate.undefined("not_identified", n=0)
        return FamilyPermutation(
            difference=undefined, p_these_models=None, p_family=None, smallest_p_family=None
        )
    values, seen = values[usable], seen[usable]
    generator = np.random.default_rng(seed)
    observed = float(_differences(values, own[None])[0])
    relabelled = _relabellings(len(own), int(own.sum()), generator)
    family = _differences(values, relabelled)
    family = family[~np.isnan(family)]
    shuffled = _shuffled(values, seen, own, permutations, generator)
    return FamilyPermutation(
        difference=Estimate(
            value=observed, n=int(seen.sum()), n_clusters=len(values), notes=("tested, no interval",)
        ),
        p_these_models=float((1 + (np.abs(shuffled) >= abs(observed) - 1e-12).sum()) / (1 + permutations)),
        p_family=float((np.abs(family) >= abs(observed) - 1e-12).mean()),
        smallest_p_family=1 / len(family),
    )


def _differences(values: NDArray[np.float64], own: NDArray[np.bool_]) -> NDArray[np.float64]:
    """(labellings,): mean over metrics of own minus other; NaN where a labelling leaves a metric one-sided."""
    seen = (~np.isnan(values)).astype(np.float64)
    filled = np.nan_to_num(values)
    inside = own.T.astype(np.float64)
    counts, sums = seen @ inside, filled @ inside
    others, other_sums = seen.sum(axis=1, keepdims=True) - counts, filled.sum(axis=1, keepdims=True) - sums
    both = (counts > 0) & (others > 0)
    gap = np.where(both, sums / np.maximum(counts, 1) - other_sums / np.maximum(others, 1), 0.0)
    metrics = both.sum(axis=0)
    result = np.full(own.shape[0], np.nan)
    np.divide(gap.sum(axis=0), metrics, out=result, where=metrics > 0)
    return result


def _relabellings(models: int, own: int, generator: np.random.Generator) -> NDArray[np.bool_]:
    if comb(models, own) <= MOST_RELABELLINGS:
        chosen = np.array(list(islice(combinations(range(models), own), MOST_RELABELLINGS)))
    else:
        chosen = generator.random((MOST_RELABELLINGS, models)).argsort(axis=1)[:, :own]
    labels = np.zeros((len(chosen), models), dtype=np.bool_)
    np.put_along_axis(labels, chosen, values=True, axis=1)
    return labels


def _shuffled(
    values: NDArray[np.float64],
    seen: NDArray[np.bool_],
    own: NDArray[np.bool_],
    permutations: int,
    generator: np.random.Generator,
) -> NDArray[np.float64]:
    """(permutations,): the difference with the models of each metric shuffled among the cells that it has."""
    shuffled = shuffled_within_rows(values, seen, permutations=permutations, generator=generator)
    own_cells, others = (seen & own).sum(axis=1), (seen & ~own).sum(axis=1)
    # What the others have is what all have but one's own.
    weight = (seen & own) * (1 / own_cells + 1 / others)[:, None]
    all_of_metric = np.where(seen, values, 0.0).sum(axis=1)
    differences = np.einsum("pmc,mc->p", shuffled, weight) - (all_of_metric / others).sum()
    return np.asarray(differences / len(values), dtype=np.float64)

"""Standardised scores do not move with a rater's severity or use of the scale, and intervals are those of paired t."""

import numpy as np
import pytest
from scipy import stats

from validation.standardised_scores import standardised, standardised_groups

GENERATOR = np.random.default_rng(4)
SCENARIOS, RATERS, SIMULATORS = 10, 4, ("a", "b", "c")
CELLS = [(s, r, g) for s in range(SCENARIOS) for r in range(RATERS) for g in range(len(SIMULATORS))]
SCORES = [5 + g + GENERATOR.normal() for _, _, g in CELLS]


def test_a_raters_own_scale_changes_nothing() -> None:
    stretched = [score * (1 + r) - 3 * r for score, (_, r, _) in zip(SCORES, CELLS, strict=True)]
    raters = [r for _, r, _ in CELLS]
    assert standardised(stretched, raters) == pytest.approx(standardised(SCORES, raters))


def test_the_distance_to_the_best_has_the_interval_of_a_paired_t_test_over_clusters() -> None:
    found = standardised_groups(
        SCORES,
        raters=[r for _, r, _ in CELLS],
        groups=[SIMULATORS[g] for _, _, g in CELLS],
        clusters=[s for s, _, _ in CELLS],
    )
    assert [one.group for one in found] == ["c", "b", "a"]
    z = (
        standardised(SCORES, [r for _, r, _ in CELLS])
        .reshape(SCENARIOS, RATERS, len(SIMULATORS))
        .mean(axis=1)
    )
    expected = stats.ttest_rel(z[:, 1], z[:, 2]).confidence_interval(0.95)
    behind = found[1].behind_best
    assert behind is not None
    assert (behind.low, behind.high) == (pytest.approx(expected.low), pytest.approx(expected.high))
    assert behind.n_clusters == SCENARIOS


def test_raters_whose_scores_do_not_vary_are_left_out() -> None:
    scores = [7.0 if r == 0 else score for score, (_, r, _) in zip(SCORES, CELLS, strict=True)]
    assert np.isnan(standardised(scores, [r for _, r, _ in CELLS])).sum() == SCENARIOS * len(SIMULATORS)
    assert standardised_groups([1, 1], raters=["x", "x"], groups=["a", "b"], clusters=[1, 1]) == []


def test_numbers_of_arguments_must_agree() -> None:
    with pytest.raises(ValueError, match="2 scores need as many raters"):
        standardised_groups([1, 2], raters=["x"], groups=["a", "b"], clusters=[1, 1])

"""The many-facet Rasch model: recovery, refusals, a check of its gradient."""

import tracemalloc

import numpy as np
import pytest
from scipy.optimize import check_grad, minimize
from scipy.optimize._numdiff import approx_derivative

from validation.many_facet_rasch import _Model, many_facet_rasch
from validation.ratings import MISSING, Ratings


def simulated(seed: int, *, severities: list[float], items: int = 150, per_item: int = 3) -> Ratings:
    generator = np.random.default_rng(seed)
    cuts = np.array([-0.7, 0.7])
    rows = []
    for _ in range(items):
        level = generator.normal(scale=1.5)
        row: list[int | None] = [None] * len(severities)
        for rater in generator.choice(len(severities), per_item, replace=False):
            chance = 1 / (1 + np.exp(-(level - severities[rater] - cuts)))
            row[rater] = int((chance > generator.random()).sum())
        rows.append(row)
    return Ratings.from_table(rows, categories=[0, 1, 2])


def test_severities_are_recovered_and_harsh_is_positive() -> None:
    truth = np.array([1.0, 0.4, 0.0, -0.4, -1.0])
    found = many_facet_rasch(simulated(0, severities=truth.tolist(), items=300))
    values = np.array([one.value for one in found.severity.values()])
    assert found.refused_because is None
    assert values.sum() == pytest.approx(0, abs=1e-9)
    assert values == pytest.approx(truth, abs=0.4)
    covered = [one.low <= t <= one.high for one, t in zip(found.severity.values(), truth, strict=True)]
    assert sum(covered) >= 4
    assert found.thresholds[0] < found.thresholds[1]


def test_the_level_of_a_raters_items_is_taken_out_of_severity_as_far_as_two_ratings_tell() -> None:
    generator = np.random.default_rng(3)
    rows: list[list[int | None]] = []
    for k in range(200):
        easy = k < 100
        level = 1.5 if easy else -1.5
        draw = [int(generator.random() < 1 / (1 + np.exp(-level))) for _ in range(3)]
        rows.append([draw[0] if easy or k % 10 == 0 else None, None if easy and k % 10 else draw[1], draw[2]])
    found = many_facet_rasch(Ratings.from_table(rows, categories=[0, 1]))
    values = [one.value for one in found.severity.values()]
    shares = [np.mean([row[r] for row in rows if row[r] is not None]) for r in (0, 1)]
    raw = np.log(shares[0] / (1 - shares[0])) - np.log(shares[1] / (1 - shares[1]))
    assert raw > 1.5
    assert values[1] - values[0] < 0.75 * raw
    assert abs(values[2]) < 0.5


def test_the_gradient_is_right() -> None:
    table = simulated(1, severities=[0.5, 0.0, -0.5], items=12)
    unit, rater = np.nonzero(table.codes >= 0)
    model = _Model(unit, rater, table.codes[unit, rater], table.codes.shape, 3, 2.0, 1.0)
    point = np.random.default_rng(2).normal(scale=0.5, size=len(model.start()))
    assert check_grad(lambda x: model.loss(x)[0], lambda x: model.loss(x)[1], point) < 1e-4


def test_errors_are_those_of_the_whole_curvature() -> None:
    table = simulated(4, severities=[0.8, 0.0, -0.3], items=25)
    unit, rater = np.nonzero(table.codes >= 0)
    model = _Model(unit, rater, table.codes[unit, rater], table.codes.shape, 3, 2.0, 1.0)
    best = minimize(model.loss, model.start(), jac=True, method="L-BFGS-B").x
    whole = approx_derivative(lambda x: model.loss(x)[1], best, method="3-point")
    covariance = np.linalg.inv((whole + whole.T) / 2)[25:28, 25:28]
    centring = np.eye(3) - 1 / 3
    expected = np.sqrt(np.diag(centring @ covariance @ centring))
    assert model.severity_errors(best) == pytest.approx(expected, rel=1e-5)


def test_errors_of_many_items_do_not_need_a_table_of_items_by_items() -> None:
    generator = np.random.default_rng(5)
    codes = np.full((6000, 6), MISSING, dtype=np.int64)
    teams = np.array([generator.choice(6, 3, replace=False) for _ in range(6000)])
    np.put_along_axis(codes, teams, generator.integers(0, 3, size=(6000, 3)), axis=1)
    ratings = Ratings(codes, (0, 1, 2), tuple(range(6000)), tuple("abcdef"))
    tracemalloc.start()
    try:
        found = many_facet_rasch(ratings)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found.refused_because is None
    assert most < 6000**2 * 8 / 5


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([], "no_ratings"),
        ([[None, None]], "no_ratings"),
        ([[1, 1]] * 9, "no_variation"),
        ([[1], [0]], "too_few_raters"),
        ([[1, 0, None, None]] * 5 + [[None, None, 1, 0]] * 5, "not_connected"),
        ([[1, 0], [0, 1]], "too_few_items"),
    ],
)
def test_the_model_is_refused_with_a_reason(rows: list, reason: str) -> None:
    found = many_facet_rasch(Ratings.from_table(rows, categories=[0, 1]))
    assert found.refused_because == reason
    assert found.thresholds == ()
    assert all(not one.defined for one in found.severity.values())


def test_a_category_nobody_used_changes_nothing() -> None:
    rows = [[0, 2], [2, 2], [0, 0], [2, 0], [2, 2], [0, 0]]
    wide = many_facet_rasch(Ratings.from_table(rows, categories=[0, 1, 2]))
    narrow = many_facet_rasch(Ratings.from_table(rows, categories=[0, 2]))
    assert [one.value for one in wide.severity.values()] == pytest.approx(
        [one.value for one in narrow.severity.values()], abs=1e-6
    )


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(ValueError, match="item_sd=0"):
        many_facet_rasch(Ratings.from_table([], categories=[0, 1]), item_sd=0)

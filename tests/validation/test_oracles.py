"""Every table of the oracles, computed by exact fractions and by other libraries, against ours."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.material import shared_json
from validation.agreement import (
    brennan_prediger,
    coefficients,
    cohen_kappa,
    conger_kappa,
    fleiss_kappa,
    gwet_ac1,
    gwet_ac2,
    krippendorff_alpha,
    percent_agreement,
)
from validation.intervals import jackknife_t_logs
from validation.kappas import cohen_sums
from validation.ratings import Ratings
from validation.results import Estimate

ORACLES: dict[str, Any] = shared_json("oracles.json") or {"tables": {}, "edge_cases": {}, "paper": {}}
VALUES = [(table, key) for table, entry in ORACLES["tables"].items() for key in entry["values"]]
EDGES = [(case, key) for case, entry in ORACLES["edge_cases"].items() for key in entry["right"]]


def places(ratings: Ratings) -> list[float] | None:
    """Words have no numbers of their own: the oracles count them by place."""
    numbers = all(isinstance(category, int) for category in ratings.categories)
    return None if numbers else [float(place) for place in range(len(ratings.categories))]


def by_key(ratings: Ratings, key: str) -> Estimate:
    """The coefficient that a key of the oracles names (their `definitions`)."""
    match key.split("_"):
        case ["pairwise", "agreement", "item", "mean"] | ["pa", "item"]:
            return percent_agreement(ratings)
        case ["pairwise", "agreement", "pair", "weighted"] | ["pa", "pair"]:
            return percent_agreement(ratings, pair_weighted=True)
        case ["fleiss", "pooled", *_]:
            return fleiss_kappa(ratings, form="pooled")
        case ["fleiss"]:
            return fleiss_kappa(ratings, form="gwet")
        case ["fleiss", weights]:
            return fleiss_kappa(ratings, form="gwet", weights=weights)  # type: ignore[arg-type]
        case ["conger"]:
            return conger_kappa(ratings)
        case ["ac1", *_]:
            return gwet_ac1(ratings)
        case ["ac2", weights]:
            return gwet_ac2(ratings, weights=weights)  # type: ignore[arg-type]
        case ["ac2q"]:
            return gwet_ac2(ratings, weights="quadratic")
        case ["bp"] | ["bp", "q3"]:
            return brennan_prediger(ratings)
        case ["bp", weights]:
            return brennan_prediger(ratings, weights=weights)  # type: ignore[arg-type]
        case ["alpha", "nominal" | "nom"]:
            return krippendorff_alpha(ratings, level="nominal")
        case ["alpha", "ordinal" | "ord"]:
            return krippendorff_alpha(ratings, level="ordinal")
        case ["alpha", "interval" | "int"]:
            return krippendorff_alpha(ratings, level="interval", values=places(ratings))
        case ["alpha", "ratio"]:
            return krippendorff_alpha(ratings, level="ratio")
        case ["cohen", "identity"]:
            return cohen_kappa(ratings, *ratings.raters)
        case ["cohen", weights]:
            return cohen_kappa(ratings, *ratings.raters, weights=weights)  # type: ignore[arg-type]
    raise KeyError(key)


@pytest.mark.parametrize(("table", "key"), VALUES)
def test_every_value_of_the_tables_is_reproduced(table: str, key: str) -> None:
    entry = ORACLES["tables"][table]
    right = entry["values"][key]
    ratings = Ratings.from_table(entry["ratings"], categories=entry["categories_in_order"])
    if key == "cohen_weighted_custom":
        apart = np.array(right["weights_disagreement"], dtype=np.float64)
        found = jackknife_t_logs(cohen_sums(ratings, [(0, 1)], apart=apart))[0]
    else:
        found = by_key(ratings, key)
    fraction = right.get("exact_fraction")
    if fraction:
        assert found.value == pytest.approx(float(Fraction(fraction)), abs=1e-9)
    else:
        assert found.value == pytest.approx(right["value"], abs=1e-6)
    assert found.low is None or found.high is None or found.low <= found.value <= found.high


@pytest.mark.parametrize(("case", "key"), EDGES)
def test_every_edge_case_has_its_right_value_or_none(case: str, key: str) -> None:
    entry = ORACLES["edge_cases"][case]
    right = entry["right"][key]
    ratings = Ratings.from_table(entry["ratings"], categories=entry["categories"])
    found = by_key(ratings, key)
    if right == "NaN":
        assert found.value is None
        no_pairs = not ratings.pairable.any()
        assert found.undefined_because == ("no_pairable_items" if no_pairs else "no_variation")
    else:
        assert found.value == pytest.approx(right, abs=1e-6)


@pytest.mark.parametrize("case", ORACLES["edge_cases"])
def test_a_report_of_an_edge_case_never_fails_and_never_holds_nan(case: str) -> None:
    entry = ORACLES["edge_cases"][case]
    report = coefficients(Ratings.from_table(entry["ratings"], categories=entry["categories"]))
    assert report.n_pairable_items <= report.n_items


def test_our_default_fleiss_is_undefined_where_only_single_rated_items_vary() -> None:
    table = [["pass", "pass"], ["fail", None], [None, "fail"]]
    ratings = Ratings.from_table(table, categories=["pass", "borderline", "fail"])
    assert fleiss_kappa(ratings).undefined_because == "no_variation"
    assert fleiss_kappa(ratings, form="gwet").value == 1


@pytest.mark.parametrize("part", [part for part in ORACLES["paper"] if part != "verdict"])
def test_the_papers_retest_figures_follow_from_one_solution(part: str) -> None:
    right = ORACLES["paper"][part]
    # Of the split items some have one minority rating in three and some two, which only the sum of both decides.
    n, split = right["n"], right["split_items"]
    alike = right["minority_ratings"] - split
    twos = alike % 3
    ones = split - twos
    threes = (right["minority_ratings"] - ones - 2 * twos) // 3
    counts = [1] * ones + [2] * twos + [3] * threes
    table = [[1] * k + [0] * (3 - k) for k in counts + [0] * (n - len(counts))]
    report = coefficients(Ratings.from_table(table, categories=[0, 1]))
    assert report.agreement.value == pytest.approx(right["pairwise"], abs=1e-9)
    assert report.fleiss.value == pytest.approx(right["fleiss"], abs=1e-9)
    assert report.alpha_nominal.value == pytest.approx(right["alpha"], abs=1e-9)
    assert report.agreement.value == pytest.approx((1 + 2 * right["unanimous"]) / 3, abs=1e-9)

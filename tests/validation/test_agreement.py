from collections.abc import Callable
from dataclasses import fields
from typing import Any

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss

from tests.validation.invented_tables import few, of_codes, same, tables, values
from validation.agreement import (
    UNRELIABLE,
    Agreement,
    bias_index,
    brennan_prediger,
    coefficients,
    cohen_kappa,
    cohen_kappas,
    conger_kappa,
    fleiss_kappa,
    gwet_ac1,
    gwet_ac2,
    krippendorff_alpha,
    krippendorff_alphas,
    percent_agreement,
    prevalence_index,
    specific_agreement,
)
from validation.ratings import MISSING, Ratings
from validation.results import Estimate


@few
@given(tables(), st.sampled_from(["nominal", "ordinal", "interval", "ratio"]))
def test_alpha_is_that_of_the_krippendorff_package(ratings: Ratings, level: Any) -> None:
    found = krippendorff_alpha(ratings, level=level)
    paired = ratings.counts[ratings.pairable]
    if (paired.sum(axis=0) > 0).sum() < 2:
        assert found.value is None
        return
    right = krippendorff.alpha(
        value_counts=paired.astype(np.int64),
        value_domain=list(ratings.categories),
        level_of_measurement=level,
    )
    assert found.value == pytest.approx(right, abs=1e-9)


@few
@given(tables(complete=True, raters=2), st.sampled_from(["unweighted", "linear", "quadratic"]))
def test_cohen_is_that_of_scikit_learn(ratings: Ratings, weights: Any) -> None:
    found = cohen_kappa(ratings, "r0", "r1", weights=weights)
    if found.value is None:
        assert (ratings.counts.sum(axis=0) > 0).sum() == 1
        return
    named = None if weights == "unweighted" else weights
    right = cohen_kappa_score(*ratings.codes.T, labels=list(ratings.categories), weights=named)
    assert found.value == pytest.approx(right, abs=1e-9)


@few
@given(tables(complete=True))
def test_fleiss_is_that_of_statsmodels_on_complete_data(ratings: Ratings) -> None:
    found = fleiss_kappa(ratings)
    if found.value is None:
        assert (ratings.counts.sum(axis=0) > 0).sum() == 1
        return
    assert found.value == pytest.approx(statsmodels_fleiss(ratings.counts), abs=1e-9)


@few
@given(tables(complete=True))
def test_alpha_is_fleiss_with_a_correction_for_the_number_of_ratings(ratings: Ratings) -> None:
    fleiss, alpha = fleiss_kappa(ratings).value, krippendorff_alpha(ratings).value
    if fleiss is None:
        assert alpha is None
    else:
        assert alpha == pytest.approx(fleiss + (1 - fleiss) / ratings.n_ratings, abs=1e-9)


@few
@given(tables(q=2))
def test_with_two_categories_all_levels_of_alpha_are_one_with_one_interval(ratings: Ratings) -> None:
    levels: list[Any] = ["nominal", "ordinal", "interval"]
    found = [krippendorff_alpha(ratings, level=level) for level in levels]
    for other in found[1:]:
        assert same([other.value, other.low, other.high], [found[0].value, found[0].low, found[0].high])


@few
@given(tables(q=2, raters=2))
def test_with_two_categories_all_weights_of_kappa_are_one(ratings: Ratings) -> None:
    kinds: list[Any] = ["unweighted", "linear", "quadratic"]
    kappas = [cohen_kappa(ratings, "r0", "r1", weights=weights).value for weights in kinds]
    assert same(kappas, [kappas[0]] * 3)


@few
@given(tables(complete=True, raters=2))
def test_conger_is_cohen_for_two_raters(ratings: Ratings) -> None:
    conger, cohen = conger_kappa(ratings), cohen_kappa(ratings, "r0", "r1")
    assert same([conger.value, conger.low, conger.high], [cohen.value, cohen.low, cohen.high])


@few
@given(tables(q=2, raters=3, complete=True))
def test_three_binary_runs_agree_pairwise_as_often_as_their_unanimity_says(ratings: Ratings) -> None:
    unanimous = (ratings.counts.max(axis=1) == 3).mean()
    assert percent_agreement(ratings).value == pytest.approx((1 + 2 * unanimous) / 3)


@few
@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_raters_and_items_does_not_matter(ratings: Ratings, random: Any) -> None:
    rows, columns = list(range(len(ratings.units))), list(range(len(ratings.raters)))
    random.shuffle(rows)
    random.shuffle(columns)
    shuffled = of_codes(ratings.codes[rows][:, columns], len(ratings.categories))
    assert same(values(coefficients(ratings)), values(coefficients(shuffled)))


@few
@given(tables(), st.randoms(use_true_random=False))
def test_the_names_of_nominal_categories_do_not_matter(ratings: Ratings, random: Any) -> None:
    q = len(ratings.categories)
    names = list(range(q))
    random.shuffle(names)
    renamed = of_codes(np.array([*names, MISSING])[ratings.codes], q)
    unordered = (
        "agreement",
        "agreement_pairs",
        "fleiss",
        "fleiss_gwet",
        "conger",
        "alpha_nominal",
        "ac1",
        "bp",
    )
    assert same(values(coefficients(ratings), *unordered), values(coefficients(renamed), *unordered))


@few
@given(tables(), st.booleans())
def test_an_unused_category_matters_to_ac1_and_brennan_prediger_alone(ratings: Ratings, first: bool) -> None:
    q = len(ratings.categories)
    codes = np.where(ratings.codes == MISSING, MISSING, ratings.codes + first)
    before, after = coefficients(ratings), coefficients(of_codes(codes, q + 1))
    for field in fields(Agreement):
        old, new = getattr(before, field.name), getattr(after, field.name)
        if isinstance(old, Estimate) and field.name not in ("ac1", "bp"):
            assert same([old.value, old.low, old.high], [new.value, new.low, new.high]), field.name


@few
@given(tables(), st.integers(0, 1))
def test_a_single_rated_item_does_not_change_alpha_or_agreement(ratings: Ratings, code: int) -> None:
    extra = np.full((1, len(ratings.raters)), MISSING)
    extra[0, 0] = code
    more = of_codes(np.concatenate([ratings.codes, extra]), len(ratings.categories))
    names = ("agreement", "agreement_pairs", "fleiss", "alpha_nominal", "alpha_ordinal", "alpha_interval")
    before, after = coefficients(ratings), coefficients(more)
    for name in names:
        old, new = getattr(before, name), getattr(after, name)
        assert same([old.value, old.low, old.high], [new.value, new.low, new.high]), name


@few
@given(tables(), st.floats(0.1, 50))
def test_only_the_ratios_of_unit_weights_count(ratings: Ratings, scale: float) -> None:
    weights = np.linspace(1, 3, len(ratings.units))
    first = krippendorff_alpha(ratings, level="ordinal", unit_weights=weights).value
    second = krippendorff_alpha(ratings, level="ordinal", unit_weights=weights * scale).value
    assert same([first], [second])


@few
@given(st.lists(tables(), min_size=1, max_size=5), st.sampled_from(["nominal", "ordinal"]))
def test_alphas_of_many_tables_are_those_of_each_alone(several: list[Ratings], level: Any) -> None:
    clustered = [
        Ratings(one.codes, one.categories, one.units, one.raters, np.arange(len(one.units)) // 2)
        for one in several[:2]
    ]
    together = [*several, *clustered]
    assert krippendorff_alphas(together, level=level) == [
        krippendorff_alpha(one, level=level) for one in together
    ]


EVERY: list[Callable[[Ratings], Estimate]] = [
    percent_agreement,
    fleiss_kappa,
    conger_kappa,
    krippendorff_alpha,
    gwet_ac1,
    gwet_ac2,
    brennan_prediger,
    prevalence_index,
    bias_index,
    lambda ratings: cohen_kappa(ratings, "r1", "r2"),
    lambda ratings: specific_agreement(ratings)["pass"],
]


@pytest.mark.parametrize("coefficient", EVERY)
@pytest.mark.parametrize(
    "table", [[], [["pass", None], ["fail", None]], [[None, None]], [["pass", None], [None, "fail"]]]
)
def test_without_a_pair_there_is_no_number_but_a_reason(
    coefficient: Callable[[Ratings], Estimate], table: list[list[str | None]]
) -> None:
    ratings = Ratings.from_table(table, categories=["fail", "pass"])
    found = coefficient(ratings)
    assert found.value is None
    assert found.undefined_because in ("no_pairable_items", "not_two_raters")
    assert found.n == 0


def test_a_single_rater_has_no_number_in_any_part_of_the_report() -> None:
    report = coefficients(Ratings.from_table([["pass"], ["fail"]], categories=["fail", "pass"]))
    assert set(values(report)) == {None}
    assert report.cohen == {}


@pytest.mark.parametrize("coefficient", EVERY)
def test_one_item_gives_a_point_without_an_interval(coefficient: Callable[[Ratings], Estimate]) -> None:
    found = coefficient(Ratings.from_table([["pass", "fail"]], categories=["fail", "pass"]))
    assert found.defined
    assert found.low is None
    assert "one item: no interval" in found.notes


def test_one_declared_category_leaves_nothing_to_tell_apart() -> None:
    report = coefficients(Ratings.from_table([["pass", "pass"]] * 3, categories=["pass"]))
    assert report.agreement.value == 1
    for name in ("fleiss", "conger", "alpha_nominal", "alpha_ordinal", "alpha_interval", "ac1", "bp"):
        assert getattr(report, name).undefined_because == "no_variation", name


def test_one_dissent_among_identical_ratings_gives_alpha_zero_without_an_interval() -> None:
    table = [["pass"] * 5] * 8 + [["pass"] * 4 + ["fail"]]
    alpha = krippendorff_alpha(Ratings.from_table(table, categories=["fail", "pass"]))
    assert alpha.value == 0
    assert alpha.low is None
    assert any("without it the coefficient is undefined" in note for note in alpha.notes)


def test_a_constant_rater_gives_cohen_zero() -> None:
    table = [["pass", "pass"], ["pass", "fail"], ["pass", "pass"]]
    assert cohen_kappa(Ratings.from_table(table, categories=["fail", "pass"]), "r1", "r2").value == 0


def test_below_thirty_items_alpha_and_kappa_are_marked_and_ac1_is_not() -> None:
    report = coefficients(Ratings.from_table([["a", "a"], ["b", "b"], ["a", "b"]] * 9, categories=["a", "b"]))
    for name in ("fleiss", "fleiss_gwet", "conger", "alpha_nominal", "alpha_ordinal", "alpha_interval"):
        assert UNRELIABLE in getattr(report, name).notes
    assert UNRELIABLE in report.cohen["r1", "r2"].notes
    for name in ("agreement", "ac1", "bp"):
        assert getattr(report, name).notes == ()


def test_items_left_out_of_fleiss_are_counted() -> None:
    table = [["a", "a"], ["b", "b"], ["a", "b"], ["a", None], [None, None]]
    kappa = fleiss_kappa(Ratings.from_table(table, categories=["a", "b"]))
    assert kappa.n == 3
    assert "1 items with a single rating left out" in kappa.notes


def test_every_pair_of_raters_has_the_kappa_of_that_pair_alone() -> None:
    rng = np.random.default_rng(3)
    codes = rng.integers(-1, 3, size=(40, 4))
    ratings = of_codes(codes, 3)
    clustered = Ratings(codes, ratings.categories, ratings.units, ratings.raters, np.repeat(np.arange(10), 4))
    for table in (ratings, clustered):
        kappas = cohen_kappas(table, weights="quadratic")
        assert len(kappas) == 6
        for (a, b), kappa in kappas.items():
            assert kappa == cohen_kappa(table, a, b, weights="quadratic")


def test_a_pair_that_meets_in_one_cluster_only_has_the_interval_of_its_items() -> None:
    table = [
        ["a", "a", None],
        ["b", "b", None],
        ["a", "b", None],
        ["b", "b", None],
        [None, "a", "a"],
        [None, "b", "b"],
    ]
    plain = Ratings.from_table(table, categories=["a", "b"])
    ratings = Ratings(plain.codes, plain.categories, plain.units, plain.raters, np.array([0, 0, 0, 0, 1, 1]))
    kappa = cohen_kappa(ratings, "r1", "r2")
    assert kappa.n_clusters is None
    assert kappa.low is not None


def test_specific_agreement_of_two_raters_is_that_of_the_textbook() -> None:
    table = [["P", "P"]] * 80 + [["P", "F"]] * 10 + [["F", "P"]] * 5 + [["F", "F"]] * 5
    found = specific_agreement(Ratings.from_table(table, categories=["F", "P"]))
    assert found["P"].value == pytest.approx(160 / 175)
    assert found["F"].value == pytest.approx(10 / 25)
    assert found["F"].n == 20
    assert found["P"].low is not None
    assert found["F"].half_width > found["P"].half_width  # type: ignore[operator]


def test_a_category_that_nobody_used_has_no_specific_agreement() -> None:
    found = specific_agreement(Ratings.from_table([["a", "a"], ["a", "a"]], categories=["a", "b"]))
    assert found["a"].value == 1
    assert found["b"].undefined_because == "category_not_used"


def test_the_indices_of_more_raters_or_categories_are_undefined() -> None:
    three = Ratings.from_table([["a", "a", "b"]], categories=["a", "b"])
    assert prevalence_index(three).undefined_because == "not_two_raters"
    wide = Ratings.from_table([["a", "b"]], categories=["a", "b", "c"])
    assert bias_index(wide).undefined_because == "not_two_categories"


def test_the_indices_have_an_interval_even_where_no_item_differs() -> None:
    ratings = Ratings.from_table([["a", "a"]] * 20, categories=["a", "b"])
    prevalence, bias = prevalence_index(ratings), bias_index(ratings)
    assert (prevalence.value, prevalence.high) == (1, 1)
    assert prevalence.low == pytest.approx(0.025 ** (1 / 20))
    assert (bias.value, bias.low) == (0, 0)
    assert bias.high == pytest.approx(1 - 0.025 ** (1 / 20))


def test_weights_by_inclusion_probability_undo_an_oversampling() -> None:
    rng = np.random.default_rng(5)
    easy = np.repeat(rng.integers(2, size=(60, 1)), 2, axis=1)
    hard = rng.integers(2, size=(60, 2))
    frame = of_codes(np.concatenate([easy, hard]), 2)
    oversampled = of_codes(np.concatenate([easy, np.repeat(hard, 3, axis=0)]), 2)
    pi = np.repeat([1.0, 3.0], [60, 180])
    full = krippendorff_alpha(frame).value
    assert full is not None
    assert krippendorff_alpha(oversampled, unit_weights=1 / pi).value == pytest.approx(full, abs=2e-3)
    assert krippendorff_alpha(oversampled).value != pytest.approx(full, abs=0.05)


def test_weights_of_one_are_no_weights_and_weights_of_zero_leave_out() -> None:
    rng = np.random.default_rng(6)
    ratings = of_codes(rng.integers(-1, 3, size=(40, 3)), 3)
    plain = krippendorff_alpha(ratings, level="ordinal")
    assert krippendorff_alpha(ratings, level="ordinal", unit_weights=np.ones(40)) == plain
    kept = np.arange(40) < 30
    selected = krippendorff_alpha(ratings.select(kept), level="ordinal")
    weighted = krippendorff_alpha(ratings, level="ordinal", unit_weights=kept.astype(float))
    assert (weighted.value, weighted.n) == (pytest.approx(selected.value), selected.n)
    assert (weighted.low, weighted.high) == (pytest.approx(selected.low), pytest.approx(selected.high))


WORDS = Ratings.from_table([["low", "high"], ["low", "low"], ["high", "high"]], categories=["low", "high"])


def test_interval_alpha_of_words_needs_their_values() -> None:
    with pytest.raises(ValueError, match="the category 'low' is not a number"):
        krippendorff_alpha(WORDS, level="interval")
    found = krippendorff_alpha(WORDS, level="interval", values=[0, 10]).value
    assert found == pytest.approx(krippendorff_alpha(WORDS).value)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: krippendorff_alpha(WORDS, level="interval", values=[1]), "2 categories need as many"),
        (lambda: krippendorff_alpha(WORDS, level="rank"), "not 'rank'"),  # type: ignore[arg-type]
        (lambda: krippendorff_alpha(WORDS, unit_weights=[1.0]), "3 units need as many weights"),
        (lambda: krippendorff_alpha(WORDS, unit_weights=[1.0, -1.0, 1.0]), "not below 0"),
        (lambda: fleiss_kappa(WORDS, form="light"), "not 'light'"),  # type: ignore[arg-type]
        (lambda: fleiss_kappa(WORDS, weights="cubic"), "not 'cubic'"),  # type: ignore[arg-type]
        (lambda: cohen_kappa(WORDS, "r1", "r9"), "there is no rater 'r9'"),
        (lambda: cohen_kappa(WORDS, "r1", "r1"), "with itself: 'r1'"),
        (lambda: cohen_kappas(WORDS, weights="ordinal"), "not 'ordinal'"),  # type: ignore[arg-type]
    ],
)
def test_a_wrong_argument_is_refused_by_its_value(call: Callable[[], object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()

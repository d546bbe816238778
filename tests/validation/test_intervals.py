from typing import Any

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from tests.material import shared_json
from validation.agreement import (
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    percent_agreement,
)
from validation.bootstrap import (
    bootstrap,
    bootstrap_groups,
    resampled,
    resampling_weights,
    stratified_bootstrap,
    sums_of,
)
from validation.intervals import (
    ZERO_RULE,
    clopper_pearson,
    jackknife_t_logs,
    stratified_t,
    wilson,
    zero_rule,
)
from validation.item_sums import alpha_sums
from validation.kappas import cohen_sums, gwet_sums
from validation.ratings import MISSING, Ratings
from validation.weights import disagreement_weights

NAMES: list[Any] = [
    "percent_agreement",
    "fleiss",
    "conger",
    "alpha_nominal",
    "alpha_ordinal",
    "alpha_interval",
    "ac1",
    "brennan_prediger",
]


def made(
    n: int, raters: int = 4, *, q: int = 3, seed: int = 0, clusters: int | None = None, missing: float = 0.15
) -> Ratings:
    """Raters who give an item's own category six times in ten."""
    rng = np.random.default_rng(seed)
    own = rng.integers(q, size=(n, 1))
    codes = np.where(rng.random((n, raters)) < 0.6, own, rng.integers(q, size=(n, raters)))
    codes[rng.random((n, raters)) < missing] = MISSING
    cluster = None if clusters is None else np.arange(n) % clusters
    return Ratings(codes, tuple(range(q)), tuple(range(n)), tuple(f"r{k}" for k in range(raters)), cluster)


def alpha_of(counts: NDArray[np.int64]) -> float:
    found = krippendorff.alpha(
        value_counts=counts, value_domain=list(range(counts.shape[1])), level_of_measurement="ordinal"
    )
    return float(found)


@pytest.mark.parametrize("clusters", [None, 12])
def test_the_jackknife_is_that_of_leaving_out_and_computing_anew(clusters: int | None) -> None:
    ratings = made(36, clusters=clusters)
    found = krippendorff_alpha(ratings, level="ordinal")
    blocks = np.arange(36) if ratings.clusters is None else ratings.clusters
    paired = [b for b in np.unique(blocks) if ratings.pairable[blocks == b].any()]
    left_out = np.array([alpha_of(ratings.select((blocks != b) & ratings.pairable).counts) for b in paired])
    logs, g = np.log(1 - left_out), len(paired)
    se = np.sqrt((g - 1) / g * ((logs - logs.mean()) ** 2).sum())
    t = stats.t.ppf(0.975, g - 1)
    whole = alpha_of(ratings.counts[ratings.pairable])
    assert found.value == pytest.approx(whole)
    assert found.low == pytest.approx(1 - (1 - whole) * np.exp(t * se))
    assert found.high == pytest.approx(1 - (1 - whole) * np.exp(-t * se))
    assert found.n_clusters == (None if clusters is None else g)


def test_one_cluster_is_no_cluster() -> None:
    one, none = made(40, clusters=1), made(40)
    assert krippendorff_alpha(one) == krippendorff_alpha(none)
    assert percent_agreement(one) == percent_agreement(none)


@pytest.mark.parametrize("coefficient", [krippendorff_alpha, fleiss_kappa, gwet_ac1, percent_agreement])
def test_few_clusters_are_said_and_fewer_than_five_have_no_interval(coefficient: Any) -> None:
    few, too_few, enough = (coefficient(made(60, clusters=g)) for g in (7, 3, 12))
    assert few.low is not None
    assert "few clusters (7)" in few.notes
    assert too_few.value is not None
    assert (too_few.low, too_few.n_clusters) == (None, 3)
    assert "fewer than 5 clusters (3): no pooled interval" in too_few.notes
    assert enough.low is not None
    assert not any("clusters" in note for note in enough.notes)


def test_where_one_item_holds_all_disagreement_the_interval_is_still_finite() -> None:
    table = [["a"] * 3] * 20 + [["b"] * 3] * 19 + [["a", "a", "b"]]
    alpha = krippendorff_alpha(Ratings.from_table(table, categories=["a", "b"]))
    assert alpha.low is not None
    assert alpha.high is not None
    bound = 1 - zero_rule(40, ratings_per_item=3) / 0.5
    assert alpha.low < bound
    assert alpha.high < 1


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 12), st.integers(2, 4), st.integers(0, 10_000))
def test_an_interval_holds_its_point_and_stays_within_its_range(n: int, q: int, seed: int) -> None:
    ratings = made(n, 3, q=q, seed=seed, missing=0.3)
    for estimate in (krippendorff_alpha(ratings), gwet_ac1(ratings), percent_agreement(ratings)):
        if estimate.low is not None and estimate.high is not None and estimate.value is not None:
            assert -1 <= estimate.low <= estimate.value <= estimate.high <= 1


def test_the_zero_rule_is_its_formula() -> None:
    table = [["a"] * 5] * 5 + [["b"] * 5] * 4
    alpha = krippendorff_alpha(Ratings.from_table(table, categories=["a", "b"]))
    expected = 2 * 25 * 20 / (45 * 44)
    assert alpha.method == ZERO_RULE
    assert (alpha.value, alpha.high) == (1, 1)
    assert alpha.low == pytest.approx(1 - (1 - 0.025 ** (1 / 9)) * (2 / 5) / expected)


def test_the_zero_rule_counts_the_mean_number_of_ratings_an_item() -> None:
    table = [["a"] * 4] * 5 + [["b", "b", None, None]] * 5
    ac1 = gwet_ac1(Ratings.from_table(table, categories=["a", "b"]))
    assert ac1.low == pytest.approx(1 - (1 - 0.025 ** (1 / 10)) * (2 / 3) / 0.5)


def test_the_zero_rule_of_ac1_holds_where_alpha_is_undefined() -> None:
    ratings = Ratings.from_table([["a", "a"]] * 12, categories=["a", "b", "c"])
    assert gwet_ac1(ratings).low == pytest.approx(0.025 ** (1 / 12))
    assert krippendorff_alpha(ratings).undefined_because == "no_variation"


def test_wilson_and_clopper_pearson_are_those_of_statsmodels() -> None:
    for k, n in ((0, 7), (3, 9), (162, 162)):
        for found, method in ((wilson(k, n), "wilson"), (clopper_pearson(k, n), "beta")):
            right = proportion_confint(k, n, method=method)
            assert (found.low, found.high) == pytest.approx(right, abs=1e-12)
            assert found.value == k / n


def test_the_published_wilson_intervals_follow() -> None:
    vectors = shared_json("vectors.json")
    if vectors is None:
        pytest.skip("the shared material is absent")
    right = vectors["T1.3_forensic"]
    for n in (36, 162):
        found = wilson(n * 5 // 6, n)
        assert (found.low, found.high) == pytest.approx(tuple(right[f"wilson{n}"]), abs=5e-5)


def test_a_share_of_nothing_is_undefined_and_more_than_all_is_refused() -> None:
    assert wilson(0, 0).undefined_because == "no_items"
    assert clopper_pearson(0, 0).undefined_because == "no_items"
    for share in (wilson, clopper_pearson):
        with pytest.raises(ValueError, match="there cannot be 4 of 3"):
            share(4, 3)


def test_agreement_of_two_raters_has_the_ordinary_wilson_interval() -> None:
    table = [["a", "a"]] * 30 + [["a", "b"]] * 6
    found = percent_agreement(Ratings.from_table(table, categories=["a", "b"]))
    right = wilson(30, 36)
    assert (found.low, found.high) == (pytest.approx(right.low), pytest.approx(right.high))


def test_more_raters_an_item_narrow_the_interval_of_agreement_but_not_without_end() -> None:
    two, six = (percent_agreement(made(40, raters, seed=4, missing=0)) for raters in (2, 6))
    assert six.half_width is not None
    assert two.half_width is not None
    assert six.half_width < two.half_width
    alike = percent_agreement(Ratings.from_table([["a", "a", "b"]] * 20, categories=["a", "b"]))
    assert alike.method == "Wilson, effective n 30.0"


def test_disagreement_that_lies_in_clusters_widens_the_interval_of_agreement() -> None:
    table = [["a", "a"]] * 90 + [["a", "b"]] * 30
    plain = Ratings.from_table(table, categories=["a", "b"])
    grouped = Ratings(plain.codes, plain.categories, plain.units, plain.raters, np.arange(120) // 10)
    spread = Ratings(plain.codes, plain.categories, plain.units, plain.raters, np.arange(120) % 12)
    widths = [percent_agreement(ratings).half_width for ratings in (plain, spread, grouped)]
    assert widths == sorted(widths)  # type: ignore[type-var]
    assert widths[2] > 1.8 * widths[0]  # type: ignore[operator]


def test_a_single_stratum_gives_the_ordinary_t_interval() -> None:
    x = np.array([0.2, 0.5, 0.6, 0.7, 0.9])
    found = stratified_t(x, strata=["all"] * 5)
    right = stats.t.interval(0.95, 4, loc=x.mean(), scale=x.std(ddof=1) / np.sqrt(5))
    assert (found.low, found.high) == pytest.approx(right)


def test_two_strata_give_welchs_degrees_of_freedom() -> None:
    a, b = np.array([0.1, 0.4, 0.3, 0.2]), np.array([0.9, 0.5, 0.7, 0.6])
    found = stratified_t([*a, *b], strata=["a"] * 4 + ["b"] * 4)
    welch = stats.ttest_ind(a, b, equal_var=False)
    assert found.method == f"stratified t, Satterthwaite df {welch.df:.1f}"
    half = stats.t.ppf(0.975, welch.df) * np.sqrt(a.var(ddof=1) / 4 + b.var(ddof=1) / 4) / 2
    assert found.half_width == pytest.approx(half)


def test_strata_of_one_are_put_together_and_said() -> None:
    found = stratified_t([0.2, 0.4, 0.9, 0.5], strata=["a", "a", "b", "c"])
    assert found.notes == ("strata of one cluster were put together",)
    alone = stratified_t([0.2, 0.4, 0.9], strata=["a", "a", "b"])
    assert alone.low is not None
    assert alone.notes == found.notes


def test_means_without_variation_have_a_bound_or_say_so() -> None:
    assert stratified_t([], strata=[]).undefined_because == "no_items"
    assert stratified_t([0.3], strata=["a"]).notes == ("one cluster: no interval",)
    ones = stratified_t([1.0] * 6, strata=["a"] * 6)
    assert (ones.low, ones.high) == (pytest.approx(clopper_pearson(6, 6).low), 1)
    same = stratified_t([0.5] * 6, strata=["a"] * 6)
    assert same.low is None
    assert "all values are equal: no interval" in same.notes
    with pytest.raises(ValueError, match="2 values need as many strata, not 1"):
        stratified_t([0.1, 0.2], strata=["a"])


@pytest.mark.parametrize("name", NAMES)
def test_a_resample_is_the_coefficient_of_the_drawn_items(name: Any) -> None:
    ratings = made(20, missing=0.1)
    codes = ratings.codes[ratings.ratings_per_unit > 0]
    sums = sums_of(codes[None], ratings.categories, name)
    values = resampled(sums, draws=30, seed=7)[0]
    weights = resampling_weights(len(codes), draws=30, seed=7)
    assert (weights.sum(axis=0) == len(codes)).all()
    for draw in range(30):
        drawn = np.repeat(codes, weights[:, draw].astype(int), axis=0)
        again = sums_of(drawn[None], ratings.categories, name)
        assert values[draw] == pytest.approx(again.coefficient(again.total())[0])


def test_a_resample_of_alpha_is_that_of_the_krippendorff_package() -> None:
    ratings = made(25, missing=0)
    values = resampled(sums_of(ratings.codes[None], ratings.categories, "alpha_ordinal"), draws=10, seed=1)[0]
    weights = resampling_weights(25, draws=10, seed=1).astype(int)
    right = [alpha_of(np.repeat(ratings.counts, w, axis=0)) for w in weights.T]
    assert values == pytest.approx(right)


def test_resamples_do_not_depend_on_how_they_are_cut_into_chunks() -> None:
    ratings = made(50, missing=0)
    sums = sums_of(ratings.codes[None], ratings.categories, "alpha_nominal")
    assert resampled(sums, draws=2_000, seed=3).shape == (1, 2_000)
    assert np.array_equal(resampled(sums, draws=2_000, seed=3), resampled(sums, draws=2_000, seed=3))
    assert not np.array_equal(resampled(sums, draws=50, seed=3), resampled(sums, draws=50, seed=4))


@pytest.mark.parametrize("name", NAMES)
def test_many_tables_have_the_intervals_of_each_alone(name: Any) -> None:
    tables = [made(30, seed=1, missing=0), made(24, seed=2), made(30, seed=3, missing=0), made(1, seed=4)]
    together = bootstrap_groups(tables, name, draws=200, seed=5)
    alone = [bootstrap(table, name, draws=200, seed=5) for table in tables]
    for one, other in zip(together, alone, strict=True):
        assert (one.value, one.n, one.undefined_because) == (other.value, other.n, other.undefined_because)
        assert one.low == (None if other.low is None else pytest.approx(other.low))


def test_the_item_bootstrap_of_nine_items_is_that_of_a_loop_over_the_package() -> None:
    vectors = shared_json("vectors.json")
    if vectors is None:
        pytest.skip("the shared material is absent")
    right = vectors["T8.3"]
    ratings = Ratings.from_table([list(row) for row in right["U"]], categories=["F", "B", "P"])
    found = bootstrap(ratings, "alpha_nominal", draws=20_000, seed=1)
    rng = np.random.default_rng(99)
    loop = [
        krippendorff.alpha(
            value_counts=ratings.counts[rng.integers(9, size=9)],
            value_domain=[0, 1, 2],
            level_of_measurement="nominal",
        )
        for _ in range(4_000)
    ]
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(loop, [0.025, 0.975])), abs=0.02)
    # The published lower end, .012, is two Monte Carlo errors (of 1,000 draws) above where both of these settle.
    assert (found.low, found.high) == pytest.approx(tuple(right["item_boot_nominal"]), abs=0.03)
    assert "fewer than 90 items: a percentile interval is too short" in found.notes


def test_resamples_without_variation_are_counted_and_left_out() -> None:
    table = [["a", "a"]] * 7 + [["b", "b"], ["a", "b"]]
    found = bootstrap(Ratings.from_table(table, categories=["a", "b"]), "alpha_nominal", draws=1_000, seed=2)
    note = next(note for note in found.notes if "undefined" in note)
    assert 50 < int(note.split()[0]) < 300
    assert note.endswith("of 1000 resamples undefined and left out")
    assert found.low is not None


def test_a_bootstrap_without_width_gives_way_to_the_zero_rule() -> None:
    ratings = Ratings.from_table([["a", "a"], ["b", "b"]] * 50, categories=["a", "b"])
    found = bootstrap(ratings, "alpha_nominal", draws=200, seed=1)
    assert found.method == ZERO_RULE
    assert "the bootstrap has no width" in found.notes


def test_clusters_are_drawn_whole_and_fewer_than_five_have_no_interval() -> None:
    found = bootstrap(made(120, clusters=12), "alpha_ordinal", draws=500, seed=1)
    assert (found.n_clusters, found.method) == (12, "percentile bootstrap of clusters, 500 draws")
    assert bootstrap(made(120, clusters=4), "alpha_ordinal", draws=500, seed=1).low is None


def test_a_bootstrap_within_strata_is_near_its_t_interval_where_strata_are_large() -> None:
    rng = np.random.default_rng(8)
    values, strata = rng.uniform(0.2, 0.9, size=120), ["a"] * 60 + ["b"] * 60
    drawn, t = (
        stratified_bootstrap(values, strata=strata, draws=4_000, seed=1),
        stratified_t(values, strata=strata),
    )
    assert drawn.value == pytest.approx(values.mean())
    assert drawn.half_width == pytest.approx(t.half_width, rel=0.06)
    assert drawn.notes == ()


def test_a_small_stratum_has_the_t_interval_beside_its_bootstrap() -> None:
    found = stratified_bootstrap([0.2, 0.4, 0.7, 0.9], strata=["a", "a", "b", "b"], draws=500, seed=1)
    assert found.low is not None
    assert found.notes[0].startswith("a stratum of 2 clusters (below 20)")
    assert found.notes[0].endswith("stratified t, Satterthwaite df 2.0: [0.246, 0.854]")
    ones = stratified_bootstrap([1.0] * 8, strata=["a"] * 8, draws=50, seed=1)
    assert "the bootstrap has no width" in ones.notes
    assert ones.low is not None
    assert stratified_bootstrap([], strata=[], draws=50, seed=1).undefined_because == "no_items"
    with pytest.raises(ValueError, match="at least 1, not 0"):
        stratified_bootstrap([0.1], strata=["a"], draws=0, seed=1)


def test_an_empty_table_has_no_bootstrap_and_a_wrong_name_is_refused() -> None:
    empty = Ratings.from_table([], categories=["a", "b"])
    assert bootstrap(empty, "fleiss", draws=10, seed=1).undefined_because == "no_pairable_items"
    assert bootstrap_groups([], "fleiss", draws=10, seed=1) == []
    with pytest.raises(ValueError, match="not 'kappa'"):
        bootstrap(made(10), "kappa", draws=10, seed=1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least 1, not 0"):
        bootstrap(made(10), "fleiss", draws=0, seed=1)


def test_the_jackknife_covers_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(11)
    tables, n, m, alpha = 800, 60, 3, 0.7
    shared_draw = rng.integers(2, size=(tables, n, 1))
    codes = np.where(rng.random((tables, n, 1)) < alpha, shared_draw, rng.integers(2, size=(tables, n, m)))
    counts = np.stack([(codes == k).sum(axis=2) for k in range(2)], axis=2)
    apart = disagreement_weights(2, weights="identity")
    for sums in (alpha_sums(counts, level="nominal"), gwet_sums(counts, apart=apart)):
        intervals = [(e.low, e.high) for e in jackknife_t_logs(sums)]
        assert 0.93 <= np.mean([low <= alpha <= high for low, high in intervals]) <= 0.97  # type: ignore[operator]


def test_a_resample_of_cohens_kappa_draws_items_not_cells() -> None:
    ratings = made(30, 3, missing=0)
    apart = disagreement_weights(3, weights="identity")
    values = resampled(cohen_sums(ratings, [(0, 1), (0, 2)], apart=apart), draws=400, seed=1)
    assert values.shape == (2, 400)
    for pair, found in zip(("r1", "r2"), values, strict=True):
        point = cohen_kappa(ratings, "r0", pair)
        assert np.median(found) == pytest.approx(point.value, abs=0.06)
        assert np.ptp(np.quantile(found, [0.025, 0.975])) == pytest.approx(
            2 * (point.half_width or 0), rel=0.25
        )

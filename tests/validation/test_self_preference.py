"""Self-preference by gaps, by regression, by permutation and from a panel."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.material import shared_json
from validation.family_permutation import family_permutation
from validation.family_regression import family_regression
from validation.panel_judges import double_difference, neutral_difference, panel_preference
from validation.self_preference import role_overlap, self_preference

VECTORS = shared_json("vectors.json") or {}
needs_vectors = pytest.mark.skipif(not VECTORS, reason="vectors.json is not there")


def worked() -> dict[str, list]:
    judge, human, kinship = [], [], []
    for name, kin in (("own", "sibling"), ("other", "other")):
        for label, cell in ((0, "H0"), (1, "H1")):
            passes, fails = VECTORS["T6.1"][name][cell]
            judge += [1] * passes + [0] * fails
            human += [label] * (passes + fails)
            kinship += [kin] * (passes + fails)
    return {"judge": judge, "human": human, "kinship": kinship}


@needs_vectors
def test_the_worked_comparison_is_reproduced() -> None:
    found, expected = self_preference(**worked())["family"], VECTORS["T6.1"]
    gap, fail_gap = found.false_pass_gap, found.false_fail_gap
    assert [gap.value, gap.low, gap.high] == pytest.approx(expected["dFPR"], abs=1e-3)
    assert [fail_gap.value, fail_gap.low, fail_gap.high] == pytest.approx(expected["dFNR"], abs=1e-3)
    assert found.leniency.value == pytest.approx(expected["DiD"], abs=1e-3)
    assert (found.leniency.half_width or 0) / 1.959964 == pytest.approx(expected["DiD_se"], abs=1e-3)
    assert found.odds_ratio.value == pytest.approx(expected["MH_OR"], abs=1e-3)
    assert found.criterion_shift.value == pytest.approx(expected["criterion_shift"], abs=1e-3)
    assert found.verdict == "not_detected"


@needs_vectors
def test_the_worked_regression_is_reproduced() -> None:
    found, expected = family_regression(**worked())["sibling"], VECTORS["T6.1"]
    ratio = found.odds_ratio
    assert np.log(ratio.value) == pytest.approx(expected["logit_same"], abs=1e-3)
    assert [ratio.value, ratio.low, ratio.high] == pytest.approx(
        [expected["OR"], *expected["OR_ci"]], abs=1e-3
    )
    assert found.marginal_effect.value == pytest.approx(expected["AME"], abs=1e-3)


@needs_vectors
def test_the_worked_panel_is_reproduced() -> None:
    expected = VECTORS["T6.3_panel"]
    means = {tuple(key.split(",")): value for key, value in expected["P"].items()}
    assert double_difference(means, judges=("A", "B"), families=("a", "b")) == pytest.approx(
        expected["double_difference_AB"]
    )
    for judge, own, others in (("A", "a", ["b", "c"]), ("B", "b", ["a", "c"])):
        found = neutral_difference(means, judge=judge, neutral="N", own=own, others=others)
        assert found == pytest.approx(expected[f"{judge}_vs_neutral"])


def panel(seed: int = 1, items: int = 6000, eta: float = 0.2, judges: tuple[str, ...] = ("A", "B", "N")):
    generator = np.random.default_rng(seed)
    families = generator.choice(["a", "b", "c", "d"], items)
    base = 0.3 + 0.3 * generator.random(items)
    own = {"A": "a", "B": "b"}
    chance = np.stack([base + eta * (families == own.get(judge, "-")) for judge in judges], axis=1)
    scores = (generator.random(chance.shape) < chance).astype(float)
    return scores, families.tolist(), generator.integers(0, 20, items).tolist()


def test_a_neutral_judge_identifies_each_preference() -> None:
    scores, families, metrics = panel()
    found = panel_preference(
        scores,
        judges=["A", "B", "N"],
        judge_families={"A": "a", "B": "b"},
        families=families,
        clusters=metrics,
    )
    for judge in ("A", "B"):
        assert found.effects[judge].value == pytest.approx(0.2, abs=0.07)
        assert found.effects[judge].low > 0
        assert found.effects[judge].n_clusters == 20
    assert found.sums["A", "B"].value == pytest.approx(0.4, abs=0.08)
    assert found.placebo_sd.value < 0.06


def test_two_judges_of_two_families_identify_only_the_sum() -> None:
    scores, families, _ = panel(judges=("A", "B"))
    found = panel_preference(
        scores, judges=["A", "B"], judge_families={"A": "a", "B": "b"}, families=families
    )
    assert found.effects["A"].undefined_because == "not_identified"
    assert found.sums["A", "B"].low < 0.4 < found.sums["A", "B"].high


def test_the_panel_of_nothing_is_undefined() -> None:
    found = panel_preference(np.empty((0, 2)), judges=["A", "N"], judge_families={"A": "a"}, families=[])
    assert not found.placebo_sd.defined
    assert not found.sums
    with pytest.raises(ValueError, match="shape"):
        panel_preference(np.empty((1, 2)), judges=["A"], judge_families={}, families=["a"])


def study(seed: int, *, bias: float, metrics: int = 20, per_cell: int = 10) -> dict[str, object]:
    generator = np.random.default_rng(seed)
    models = ["self", "sibling", *["other"] * 8]
    rows = [(m, kin) for m in range(metrics) for kin in models for _ in range(per_cell)]
    kinship = np.array([kin for _, kin in rows])
    human = (generator.random(len(rows)) < 0.6).astype(float)
    chance = np.where(human == 1, 0.85, 0.15) + bias * (kinship != "other")
    judge = (generator.random(len(rows)) < np.clip(chance, 0, 1)).astype(float)
    return {"judge": judge, "human": human, "kinship": kinship.tolist(), "metric": [m for m, _ in rows]}


def test_a_lenient_judge_is_detected_at_all_levels() -> None:
    found = self_preference(**study(1, bias=0.15))
    assert {one.verdict for one in found.values()} == {"detected"}
    assert found["family"].leniency.n_clusters == 20
    assert found["family"].false_pass_by_metric.low > 0
    assert found["family"].criterion_shift.value < 0
    assert found["family"].sentence.startswith("detected: D = 0.1")
    regression = family_regression(**study(1, bias=0.15))
    assert regression["self"].odds_ratio.low > 1
    assert regression["sibling"].marginal_effect.value == pytest.approx(0.15, abs=0.04)


def test_a_fair_judge_is_not_accused_and_the_detectable_effect_is_named() -> None:
    found = self_preference(**study(2, bias=0.0))["family"]
    assert found.verdict == "not_detected"
    assert found.detectable is not None
    assert "MDE = 0." in found.sentence


def test_quality_is_not_preference() -> None:
    generator = np.random.default_rng(3)
    kinship = np.repeat(["self", "other"], 2000)
    human = (generator.random(4000) < np.where(kinship == "self", 0.9, 0.5)).astype(float)
    judge = np.where(generator.random(4000) < 0.95, human, 1 - human)
    found = self_preference(judge=judge, human=human, kinship=kinship.tolist())["self"]
    assert abs(found.false_pass_gap.value) < 0.05
    assert found.false_pass_gap.low < 0 < found.false_pass_gap.high


def test_without_own_items_with_labels_nothing_is_identified() -> None:
    found = self_preference(judge=[1, 0, 1], human=[np.nan, 0, 1], kinship=["self", "other", "other"])
    for one in found.values():
        assert one.verdict == "not_identified"
        assert not one.leniency.defined
        assert "not identified" in one.sentence


@pytest.mark.parametrize(
    ("judge", "human", "kinship"),
    [([], [], []), ([1, 1], [1, 1], ["self", "other"]), ([np.nan], [1], ["self"]), ([1], [1], ["other"])],
)
def test_degenerate_tables_are_undefined_and_never_an_error(judge: list, human: list, kinship: list) -> None:
    found = self_preference(judge=judge, human=human, kinship=kinship, metric=["m"] * len(judge))["family"]
    assert not found.odds_ratio.defined
    assert not found.criterion_shift.defined
    for one in family_regression(judge=judge, human=human, kinship=kinship).values():
        assert not one.odds_ratio.defined


def test_separated_verdicts_have_no_odds_ratio_by_regression() -> None:
    found = family_regression(
        judge=[1] * 20 + [0, 1] * 20, human=[0, 1] * 30, kinship=["self"] * 20 + ["other"] * 40
    )
    assert found["self"].odds_ratio.undefined_because == "separation"


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(ValueError, match="differ in length"):
        self_preference(judge=[1], human=[1, 0], kinship=["self"])
    with pytest.raises(ValueError, match="neither 0, 1"):
        self_preference(judge=[2], human=[1], kinship=["self"])
    with pytest.raises(ValueError, match="cousin"):
        self_preference(judge=[1], human=[1], kinship=["cousin"])
    with pytest.raises(ValueError, match="cousin"):
        family_regression(judge=[1], human=[1], kinship=["cousin"])


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1), st.booleans()), min_size=1, max_size=40))
def test_swapping_own_and_other_turns_the_signs_round(rows: list[tuple[int, int, bool]]) -> None:
    judge, human, own = zip(*rows, strict=True)
    one = self_preference(judge=judge, human=human, kinship=["self" if o else "other" for o in own])["self"]
    two = self_preference(judge=judge, human=human, kinship=["other" if o else "self" for o in own])["self"]
    if one.leniency.value is not None:
        assert two.leniency.value == pytest.approx(-one.leniency.value)
    if one.false_pass_gap.value is not None:
        assert two.false_pass_gap.value == pytest.approx(-one.false_pass_gap.value)


def test_two_of_ten_models_can_never_give_a_family_p_below_one_in_forty_five() -> None:
    generator = np.random.default_rng(0)
    values = generator.normal(scale=0.05, size=(18, 10))
    values[:, :2] += 0.5
    found = family_permutation(values, own=np.arange(10) < 2, seed=0, permutations=500)
    assert found.p_family == pytest.approx(1 / 45)
    assert found.smallest_p_family == pytest.approx(1 / 45)
    assert found.p_these_models == pytest.approx(1 / 501)
    assert found.difference.value == pytest.approx(0.5, abs=0.05)


def test_one_odd_model_is_not_a_family() -> None:
    generator = np.random.default_rng(1)
    values = generator.normal(scale=0.05, size=(18, 10))
    values[:, 0] += 0.2
    values[:, 5] += 0.25
    found = family_permutation(values, own=np.arange(10) < 2, seed=0, permutations=500)
    assert found.p_these_models is not None
    assert found.p_these_models < 0.05 < (found.p_family or 0)


def test_permutation_needs_own_models_and_others() -> None:
    for own in (np.zeros(3, dtype=bool), np.ones(3, dtype=bool)):
        assert family_permutation(np.zeros((4, 3)), own=own, seed=0).p_family is None
    empty = family_permutation(np.full((2, 3), np.nan), own=np.array([True, False, False]), seed=0)
    assert empty.difference.undefined_because == "not_identified"
    with pytest.raises(ValueError, match="shape"):
        family_permutation(np.zeros((2, 3)), own=np.array([True]), seed=0)


def test_missing_cells_are_left_out_of_the_permutation() -> None:
    values = np.random.default_rng(2).normal(size=(12, 6))
    values[::3, 4] = np.nan
    found = family_permutation(values, own=np.arange(6) < 2, seed=0, permutations=200)
    means = np.nanmean(values[:, :2], axis=1) - np.nanmean(values[:, 2:], axis=1)
    assert found.difference.value == pytest.approx(means.mean())
    assert 0 < (found.p_these_models or 0) <= 1


def test_the_overlap_of_roles_is_a_matrix_of_families() -> None:
    table = role_overlap({"judge": ["OpenAI"], "simulator": ["Anthropic"], "target": ["OpenAI", "Anthropic"]})
    assert table.loc["target"].all()
    assert not table.loc["judge", "Anthropic"]

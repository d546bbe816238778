import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviews.assignment import PlanRefused
from reviews.sampling import draw_sample


def frame_of(sizes: dict[tuple[str, str], int]) -> pd.DataFrame:
    """Conversations by (metric, family)."""
    rows = [
        {"run": "r1", "conversation": f"{metric}-{family}-{n:03}", "metric": metric, "family": family}
        for (metric, family), size in sizes.items()
        for n in range(size)
    ]
    return pd.DataFrame(rows)


FRAME = frame_of({("m01", "Tansy"): 12, ("m01", "Corvid"): 4, ("m02", "Tansy"): 7, ("m02", ""): 1})
BY = ("metric", "family")


def keys(sample_items: pd.DataFrame) -> list[str]:
    return sample_items["conversation"].tolist()


def test_without_a_number_every_conversation_is_taken_with_certainty() -> None:
    sample = draw_sample(FRAME, strata=BY, seed=1)
    assert sorted(keys(sample.items)) == sorted(FRAME["conversation"])
    assert set(sample.items["inclusion_probability"]) == {1.0}
    assert [(s.name, s.population, s.sampled) for s in sample.strata] == [
        ("m01 | Corvid", 4, 4),
        ("m01 | Tansy", 12, 12),
        ("m02 | Tansy", 7, 7),
        ("m02 | unknown", 1, 1),
    ]


def test_items_are_allocated_equally_and_small_strata_give_all_they_have() -> None:
    sample = draw_sample(FRAME, strata=BY, seed=1, items=15)
    assert sorted(s.sampled for s in sample.strata) == [1, 4, 5, 5]
    assert [s.inclusion_probability for s in sample.strata] == pytest.approx([1, 5 / 12, 5 / 7, 1])


def test_what_cannot_be_divided_goes_to_strata_by_lot_and_the_probability_says_so() -> None:
    sample = draw_sample(FRAME, strata=BY, seed=1, items=14)
    assert {s.name: s.inclusion_probability for s in sample.strata} == pytest.approx(
        {"m01 | Corvid": 1, "m01 | Tansy": 4.5 / 12, "m02 | Tansy": 4.5 / 7, "m02 | unknown": 1}
    )


def test_a_number_per_stratum_is_drawn_from_each() -> None:
    sample = draw_sample(FRAME, strata=BY, seed=1, per_stratum=3)
    assert [s.sampled for s in sample.strata] == [3, 3, 3, 1]
    assert [s.inclusion_probability for s in sample.strata] == pytest.approx([3 / 4, 3 / 12, 3 / 7, 1])


def test_the_sample_depends_on_keys_and_seed_alone() -> None:
    first = draw_sample(FRAME, strata=BY, seed=7, items=10)
    shuffled = FRAME.sample(frac=1, random_state=3).set_index(pd.Index(range(500, 524)))
    again = draw_sample(shuffled, strata=BY, seed=7, items=10)
    pd.testing.assert_frame_equal(first.items, again.items)
    assert first.strata == again.strata
    assert keys(first.items) != keys(draw_sample(FRAME, strata=BY, seed=8, items=10).items)


@given(
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=8),
    share=st.floats(0.01, 1),
    seed=st.integers(0, 10_000),
)
@settings(max_examples=60, deadline=None)
def test_probabilities_add_up_to_the_sample_and_allocation_is_as_equal_as_can_be(
    sizes: list[int], share: float, seed: int
) -> None:
    frame = frame_of({(f"m{i}", "f"): size for i, size in enumerate(sizes)})
    wanted = max(1, int(share * len(frame)))
    sample = draw_sample(frame, strata=["metric"], seed=seed, items=wanted)
    assert len(sample.items) == wanted == sum(s.sampled for s in sample.strata)
    assert sum(s.population * s.inclusion_probability for s in sample.strata) == pytest.approx(wanted)
    assert not sample.items["conversation"].duplicated().any()
    if wanted >= len(sizes):
        assert all(s.sampled >= 1 for s in sample.strata)
    most = max(s.sampled for s in sample.strata)
    assert all(s.sampled >= most - 1 or s.sampled == s.population for s in sample.strata)


def test_each_conversation_is_drawn_as_often_as_its_probability_says() -> None:
    draws = [draw_sample(FRAME, strata=BY, seed=seed, items=3) for seed in range(400)]
    counts = pd.concat([draw.items for draw in draws])["conversation"].value_counts()
    chance = {s.name: s.inclusion_probability for s in draws[0].strata}
    assert chance["m02 | unknown"] == pytest.approx(3 / 4)
    assert counts["m02--000"] / 400 == pytest.approx(3 / 4, abs=0.08)
    tansy = counts[counts.index.str.startswith("m01-Tansy")] / 400
    assert np.allclose(tansy, 3 / 4 / 12, atol=0.045)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"items": 0}, "0 items cannot be drawn from 24 conversations"),
        ({"items": 25}, "give a number from 1 to 24"),
        ({"per_stratum": 0}, "give 1 or more"),
        ({"items": 3, "per_stratum": 2}, "not both"),
        ({"strata": ["mood"]}, "'mood' cannot name strata; choose from benchmark, metric"),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_what_would_be_right(
    arguments: dict[str, object], sentence: str
) -> None:
    with pytest.raises(PlanRefused, match=sentence):
        draw_sample(FRAME, **{"strata": BY, "seed": 1, **arguments})  # type: ignore[arg-type]


def test_an_empty_frame_is_refused() -> None:
    with pytest.raises(PlanRefused, match="import a run first"):
        draw_sample(FRAME.iloc[:0], strata=BY, seed=1)


def judged_frame() -> pd.DataFrame:
    """Two metrics; the judge passes most; a third of the targets are of its family, one of them the judge itself."""
    kinds = ["self", "sibling", "other", "other", "other", "other"]
    rows = [
        {
            "run": "r1",
            "conversation": f"{metric}-{n:03}",
            "metric": metric,
            "age": "teen" if n % 4 < 2 else "adult",
            "kinship": kinds[n % 6],
            "verdict": "fail" if n % 5 == 0 else "pass",
        }
        for metric in ("m01", "m02")
        for n in range(120)
    ]
    return pd.DataFrame(rows)


def test_balanced_verdicts_give_each_metric_as_many_passes_as_fails_whatever_the_other_strata() -> None:
    sample = draw_sample(judged_frame(), strata=["metric", "age"], seed=3, items=60, balance_verdicts=True)
    drawn = sample.items.groupby(["metric", "verdict"]).size()
    assert drawn.tolist() == [15, 15, 15, 15]
    chance = sample.items.groupby("verdict")["inclusion_probability"].mean()
    assert chance["fail"] == pytest.approx(15 / 24)
    assert chance["pass"] == pytest.approx(15 / 96)


def test_weights_of_the_logged_chances_undo_the_balance() -> None:
    frame = judged_frame()
    shares = []
    for seed in range(60):
        sample = draw_sample(frame, strata=["metric"], seed=seed, items=40, balance_verdicts=True).items
        weight = 1 / sample["inclusion_probability"]
        shares.append(weight[sample["verdict"] == "pass"].sum() / weight.sum())
    assert np.mean(shares) == pytest.approx(0.8, abs=0.01)


def test_the_own_family_is_drawn_as_many_times_as_asked() -> None:
    sample = draw_sample(judged_frame(), strata=["metric"], seed=3, items=48, own_family=2)
    drawn = sample.items["kinship"].value_counts()
    assert (drawn["self"] + drawn["sibling"], drawn["other"]) in {(38, 10), (39, 9)}
    assert sum(s.population * s.inclusion_probability for s in sample.strata) == pytest.approx(48)


def test_fractions_of_unequal_shares_are_dealt_as_often_as_the_chances_say() -> None:
    frame = judged_frame()
    drawn = [draw_sample(frame, strata=["metric"], seed=seed, items=7, own_family=1.5) for seed in range(400)]
    counts = pd.concat([draw.items for draw in drawn]).groupby(["metric", "kinship"]).size() / 400
    expected = {tuple(s.name.split(" | ")): s.population * s.inclusion_probability for s in drawn[0].strata}
    assert expected["m01", "self"] == pytest.approx(1.5 * expected["m01", "other"])
    for stratum, number in expected.items():
        assert counts[stratum] == pytest.approx(number, abs=0.09)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"own_family": 2}, "self and sibling models more often there must be a number of items"),
        ({"balance_verdicts": True, "per_stratum": 2}, "balanced verdicts more often there must be a number"),
        ({"own_family": 0, "items": 3}, "own-family share 0 is no multiple"),
    ],
)
def test_shares_without_a_number_to_share_are_refused(arguments: dict[str, object], sentence: str) -> None:
    with pytest.raises(PlanRefused, match=sentence):
        draw_sample(judged_frame(), strata=["metric"], seed=1, **arguments)  # type: ignore[arg-type]

import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.material import shared_json
from validation.mapping import CHOICES, PRIMARY, Policy, admissible_policies, reference
from validation.ratings import Ratings

VECTORS = shared_json("vectors.json")
CATEGORIES = ("fail", "borderline", "pass")
WORDS = {"F": "fail", "B": "borderline", "P": "pass", "U": "unsure", "-": None}


def labels(*items: str, categories=CATEGORIES) -> Ratings:
    width = max(map(len, items), default=0)
    return Ratings.from_table(
        [[WORDS[letter] for letter in item.ljust(width, "-")] for item in items], categories=categories
    )


def test_the_primary_policy_has_its_published_name():
    assert PRIMARY.name == "map_then_agg|b=half|majority|tie=half|singles=include"


def test_mapping_before_or_after_aggregation_differ_for_one_item(shared):
    case = VECTORS["T1.2_order"]
    item = labels(case["ratings"])
    assert reference(item, Policy(borderline="drop")).tolist() == [1.0]
    after = reference(item, Policy(borderline="drop", order="agg_then_map", aggregation="plurality"))
    assert np.isnan(after).all()


@pytest.mark.parametrize(
    ("borderline", "key"),
    [
        ("pass", "unsure_as_agree"),
        ("fail", "unsure_as_disagree"),
        ("drop", "unsure_drop"),
        ("half", "unsure_half"),
    ],
)
def test_the_internal_review_has_four_agreement_rates(shared, borderline, key):
    case = VECTORS["T1.4_internal"]
    review = labels(*("P" * case["agree"] + "F" * case["disagree"] + "B" * case["unsure"]))
    assert np.nanmean(reference(review, Policy(borderline=borderline))) == pytest.approx(case[key], abs=5e-4)


@pytest.mark.parametrize(
    ("item", "policy", "verdict"),
    [
        ("PF", {"tie": "worst"}, 0.0),
        ("PF", {"tie": "drop"}, np.nan),
        ("PF", {"tie": "half"}, 0.5),
        ("PPF", {"aggregation": "mean"}, 2 / 3),
        ("PB", {"aggregation": "any_fail"}, 0.5),
        ("PB", {"aggregation": "any_pass"}, 1.0),
        ("PPF", {"aggregation": "any_fail"}, 0.0),
        ("BB", {"aggregation": "any_fail", "borderline": "drop"}, np.nan),
        ("BB", {"aggregation": "unanimous"}, np.nan),
        ("PP", {"aggregation": "unanimous"}, 1.0),
        ("PF", {"aggregation": "unanimous", "tie": "half"}, np.nan),
        ("P", {"singles": "exclude"}, np.nan),
        ("PB", {"singles": "exclude", "borderline": "drop"}, np.nan),
        ("PBF", {"order": "agg_then_map", "aggregation": "plurality"}, 0.5),
        ("BB", {"order": "agg_then_map", "aggregation": "unanimous", "borderline": "fail"}, 0.0),
        ("BBPF", {"order": "agg_then_map", "aggregation": "majority", "borderline": "fail"}, 0.5),
        ("BBBF", {"order": "agg_then_map", "aggregation": "majority", "borderline": "pass"}, 1.0),
    ],
)
def test_each_choice_does_what_its_name_says(item, policy, verdict):
    assert reference(labels(item), Policy(**policy)).tolist() == pytest.approx([verdict], nan_ok=True)


def test_unsure_is_missing_unless_the_policy_calls_it_borderline():
    rated = labels("U", "UP", categories=("fail", "borderline", "pass", "unsure"))
    assert reference(rated, Policy()).tolist() == pytest.approx([np.nan, 1.0], nan_ok=True)
    assert reference(rated, Policy(unsure="borderline")).tolist() == [0.5, 1.0]


def test_only_confident_ratings_count_under_that_choice():
    rated = labels("PF", "PF")
    confident = Policy(info="confident")
    assert reference(rated, confident, confidence=[[4, 2], [np.nan, 3]]).tolist() == [1.0, 0.0]
    with pytest.raises(ValueError, match="confidence"):
        reference(rated, confident)
    with pytest.raises(ValueError, match="shape"):
        reference(rated, confident, confidence=[4, 2])


def test_ties_take_the_adjudicated_verdict_where_there_is_one():
    rated = labels("PF", "PF", "PP")
    settled = reference(rated, Policy(tie="adjudicated"), adjudicated=[0, np.nan, 0])
    assert settled.tolist() == pytest.approx([0.0, np.nan, 1.0], nan_ok=True)
    with pytest.raises(ValueError, match="adjudicated"):
        reference(rated, Policy(tie="adjudicated"))
    with pytest.raises(ValueError, match="one verdict"):
        reference(rated, Policy(tie="adjudicated"), adjudicated=[1])


@pytest.mark.parametrize("policy", admissible_policies().policies)
def test_nothing_rated_gives_no_verdict_under_any_policy(policy):
    assert np.isnan(reference(labels("-", "-"), policy)).all()
    assert reference(labels(), policy).shape == (0,)


@pytest.mark.parametrize(
    "wrong",
    [
        {"borderline": "maybe"},
        {"aggregation": "plurality"},
        {"order": "agg_then_map", "aggregation": "mean"},
        {"order": "agg_then_map", "aggregation": "any_fail"},
    ],
)
def test_an_impossible_policy_is_refused_by_name(wrong):
    with pytest.raises(ValueError, match="|".join(wrong.values())):
        Policy(**wrong)


def test_other_categories_are_refused():
    with pytest.raises(ValueError, match="yes"):
        reference(Ratings.from_table([["yes"]], categories=["no", "yes"]))


def test_the_order_of_the_declared_categories_does_not_matter():
    items = ("PPF", "BF", "B")
    assert (
        reference(labels(*items)).tolist() == reference(labels(*items, categories=CATEGORIES[::-1])).tolist()
    )


def test_the_admissible_set_is_the_declared_one():
    admissible = admissible_policies()
    assert len(set(admissible.policies)) == len({p.name for p in admissible.policies}) == 52
    assert PRIMARY in admissible.policies
    assert not any(policy.trivially_unanimous for policy in admissible.policies)


def test_an_own_admissible_set_carries_the_hash_of_its_file(tmp_path):
    path = tmp_path / "own.yaml"
    path.write_text(
        "policies:\n  - {borderline: [half, fail], aggregation: mean}\n  - {borderline: fail, aggregation: mean}\n"
    )
    admissible = admissible_policies(path)
    assert [p.borderline for p in admissible.policies] == ["half", "fail"]
    assert admissible.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("text", ["", "policies: 3", "policies: [{colour: red}]", "policies: [[]]"])
def test_a_file_that_is_no_set_of_policies_is_refused(tmp_path, text):
    path = tmp_path / "broken.yaml"
    path.write_text(text)
    with pytest.raises(ValueError, match="polic"):
        admissible_policies(path)


items = st.lists(st.text("PBF", min_size=0, max_size=5), min_size=1, max_size=6)
policies = st.sampled_from(admissible_policies().policies)


@settings(max_examples=40, deadline=None)
@given(items, policies, st.randoms())
def test_the_order_of_raters_does_not_matter(given_items, policy, random):
    shuffled = ["".join(random.sample(item, len(item))) for item in given_items]
    np.testing.assert_array_equal(
        reference(labels(*given_items), policy), reference(labels(*shuffled), policy)
    )


@settings(max_examples=40, deadline=None)
@given(items, st.sampled_from([p for p in admissible_policies().policies if p.aggregation != "any_fail"]))
def test_exchanging_pass_and_fail_mirrors_every_verdict(given_items, policy):
    swap = str.maketrans("PF", "FP")
    borderline = {"pass": "fail", "fail": "pass"}.get(policy.borderline, policy.borderline)
    mirrored = Policy(**{**{f: getattr(policy, f) for f in CHOICES}, "borderline": borderline})
    np.testing.assert_allclose(
        reference(labels(*(item.translate(swap) for item in given_items)), mirrored),
        1 - reference(labels(*given_items), policy),
    )

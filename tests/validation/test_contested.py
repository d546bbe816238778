"""Evidence by domain, the flags, and the four statuses."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.material import shared_json
from validation.agreement import krippendorff_alpha
from validation.contested import Status, calibrate, queue, statuses
from validation.false_discovery import bayesian_fdr
from validation.metric_evidence import (
    Domain,
    DomainEvidence,
    MetricEvidence,
    expert_disagreement,
    gather,
    judge_against_experts,
    judge_instability,
)
from validation.ratings import Ratings
from validation.results import Estimate
from validation.share_evidence import construct, differential_error, indeterminacy, saturation

VECTORS = shared_json("vectors.json") or {}
needs_vectors = pytest.mark.skipif(not VECTORS, reason="vectors.json is not there")


def evidence(name: str, **probabilities: float) -> MetricEvidence:
    domains = {
        Domain(code): DomainEvidence(
            domain=Domain(code),
            probability=p,
            estimate=Estimate(value=0.5, n=40),
            n=40,
            counts={"items": 40},
        )
        for code, p in probabilities.items()
    }
    return MetricEvidence(metric=name, domains=domains)


def table(words: list[str]) -> Ratings:
    return Ratings.from_table([list(word) for word in words], categories=["F", "P"])


@needs_vectors
def test_the_largest_set_with_few_expected_false_flags_is_flagged() -> None:
    expected = VECTORS["T9.1"]
    flags = bayesian_fdr(expected["post"], expected["q"])
    assert np.flatnonzero(flags).tolist() == expected["flag"]


def test_equal_probabilities_share_one_fate_and_nothing_flags_nothing() -> None:
    assert bayesian_fdr([0.95, 0.85, 0.85]).tolist() == [True, False, False]
    assert bayesian_fdr([0.95, 0.9, 0.9]).tolist() == [True, True, True]
    assert bayesian_fdr([0.5]).tolist() == [False]
    assert bayesian_fdr([]).tolist() == []
    with pytest.raises(ValueError, match="not a probability"):
        bayesian_fdr([1.5])
    with pytest.raises(ValueError, match="q=0"):
        bayesian_fdr([0.5], 0)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(0, 1), max_size=12), st.floats(0.01, 0.4), st.floats(0.01, 0.5))
def test_flags_are_monotone_in_the_rate_and_in_the_probability(p: list[float], q: float, more: float) -> None:
    strict, lax = bayesian_fdr(p, q), bayesian_fdr(p, q + more)
    assert (lax | ~strict).all()
    values = np.array(p)
    if strict.any():
        assert (1 - values[strict]).mean() <= q + 1e-9
        assert values[strict].min() > values[~strict].max(initial=-1)


@needs_vectors
def test_shares_have_the_worked_posteriors() -> None:
    expected = VECTORS["T9.2"]
    marked = {"m": (np.repeat([1, 0], [11, 76]), np.ones(87, dtype=np.int64))}
    unsure = indeterminacy(marked, domain=Domain.UNSURE)["m"]
    assert unsure.probability == pytest.approx(expected["P(unsure>.10|11/87)"], abs=1e-3)
    above = indeterminacy(marked)["m"]
    assert above.probability == pytest.approx(0.04, abs=5e-3)
    flips = {"m": (np.repeat([1, 0], [6, 14]), np.ones(20, dtype=np.int64))}
    assert indeterminacy(flips)["m"].probability == pytest.approx(expected["P(flip>.2|6/20)"], abs=1e-3)


def test_flips_of_one_metric_alone_follow_the_grid_of_partial_pooling() -> None:
    found = judge_instability({"m": (6, 20)})["m"]
    assert found.probability == pytest.approx(0.88, abs=0.02)


def test_alpha_is_the_one_of_the_agreement_module_and_split_experts_are_flagged() -> None:
    split = table(["PPFPF", "FPFPP", "PFPFP", "FFPPF", "PPFFP", "FPPFF", "PFFPP", "FPFPF", "PPFFP"])
    agreed = table(["PPPPP", "FFFFF", "PPPPP", "FFFFF", "PPPPF", "FFFFF", "PPPPP", "FFFFF", "PPPPP"])
    found = expert_disagreement({"split": split, "agreed": agreed}, seed=0)
    assert found["split"].estimate.value == pytest.approx(krippendorff_alpha(split, level="nominal").value)
    assert found["split"].probability is not None
    assert found["split"].probability > 0.95
    assert found["agreed"].probability is not None
    assert found["agreed"].probability < 0.1
    assert found["split"].counts["split_items"] == 9


def test_below_the_floor_the_missing_amount_is_named() -> None:
    few = expert_disagreement({"m": table(["PPF"] * 4 + ["PP"] * 0)}, seed=0)["m"]
    assert few.probability is None
    assert few.missing == "9 items with 3 experts each are needed, 4 are there"
    alone = expert_disagreement({"m": table(["P"] * 20)}, seed=0)["m"]
    assert alone.estimate.undefined_because == "no_pairable_items"
    assert "6 judged items are needed, 2" in (judge_against_experts({"m": (2, 2)})["m"].missing or "")
    assert "9 ratings are needed, 3" in (
        indeterminacy({"m": (np.array([1]), np.array([3]))})["m"].missing or ""
    )
    assert "3 reviewers are needed, 1" in (construct({"m": (1, 1, 1)})["m"].missing or "")
    assert "30 conversations are needed, 5" in (saturation({"m": (5, 5)})["m"].missing or "")


def test_experts_who_all_say_the_same_are_not_assessed_for_disagreement() -> None:
    found = expert_disagreement({"m": table(["PPPPP"] * 9)}, seed=0)["m"]
    assert not found.assessed
    assert found.estimate.undefined_because == "no_variation"


@pytest.mark.parametrize(
    "found",
    [
        expert_disagreement({}, seed=0),
        judge_against_experts({}),
        judge_instability({}),
        indeterminacy({}),
        construct({}),
        saturation({}),
    ],
)
def test_no_metrics_give_no_evidence(found: dict) -> None:
    assert found == {}
    assert statuses(gather(found)) == []


@pytest.mark.parametrize(
    "one",
    [
        expert_disagreement({"m": Ratings.from_table([], categories=["F", "P"])}, seed=0)["m"],
        expert_disagreement({"m": Ratings.from_table([[None] * 3] * 9, categories=["F", "P"])}, seed=0)["m"],
        judge_against_experts({"m": (0, 0)})["m"],
        indeterminacy({"m": (np.array([], dtype=np.int64), np.array([], dtype=np.int64))})["m"],
        construct({"m": (0, 0, 0)})["m"],
        saturation({"m": (0, 0)})["m"],
        differential_error({"m": (0, 0, 0, 0)})["m"],
    ],
)
def test_empty_data_are_not_assessed_with_a_reason(one: DomainEvidence) -> None:
    assert not one.assessed
    assert one.estimate.undefined_because is not None
    assert one.missing


def test_a_saturated_metric_asks_for_a_rubric_audit_and_is_not_contested() -> None:
    (one,) = statuses(gather(saturation({"m": (0, 400)})))
    assert one.rubric_audit
    assert one.status is Status.NOT_ASSESSED
    middling = saturation({"m": (200, 400)})["m"]
    assert middling.probability == pytest.approx(0, abs=1e-6)


def test_an_error_that_differs_by_age_is_watched_and_never_contests_alone() -> None:
    found = differential_error({"m": (20, 30, 3, 30), "even": (5, 30, 5, 30), "few": (1, 2, 1, 30)})
    assert found["m"].probability == pytest.approx(1, abs=1e-2)
    draws = np.random.default_rng(0).beta(5.5, 25.5, size=(2, 100_000))
    assert found["even"].probability == pytest.approx((np.abs(draws[0] - draws[1]) > 0.1).mean(), abs=5e-3)
    assert found["few"].missing == "6 items in each group are needed, 2 and 30 are there"
    assert statuses(gather(found))[0].status is Status.WATCH


def test_polarities_are_pooled_apart_where_each_has_six_metrics() -> None:
    agreeing = {k: (9, 9) if k < 6 else (3, 9) for k in range(12)}
    together = judge_against_experts(agreeing)
    apart = judge_against_experts(agreeing, groups={k: k < 6 for k in range(12)})
    assert (apart[0].probability or 1) < (together[0].probability or 0)


def test_correlated_ratings_count_for_less_than_independent_ones() -> None:
    clumped = indeterminacy({"m": (np.array([5, 5, 0, 0, 0, 0]), np.full(6, 5))})["m"]
    spread = indeterminacy({"m": (np.array([2, 2, 1, 2, 2, 1]), np.full(6, 5))})["m"]
    assert clumped.estimate.value == pytest.approx(spread.estimate.value)
    assert (clumped.estimate.half_width or 0) > (spread.estimate.half_width or 0)


def test_expert_disagreement_alone_makes_a_metric_contested() -> None:
    (one,) = statuses([evidence("m", D1=0.99, D2=0.1, D3=0.1)])
    assert one.status is Status.CONTESTED
    assert one.flagged == (Domain.EXPERT_DISAGREEMENT,)
    assert one.reason.startswith("Experts disagree (probability 0.99; items 40)")


def test_two_of_the_other_domains_make_a_metric_contested_and_one_makes_it_a_watch() -> None:
    two, one = statuses([evidence("two", D1=0.1, D2=0.99, D4=0.98), evidence("one", D1=0.1, D2=0.97, D3=0.1)])
    assert two.status is Status.CONTESTED
    assert one.status is Status.WATCH


def test_unsure_and_indeterminacy_are_one_concern_and_not_two() -> None:
    (one,) = statuses([evidence("m", D1=0.1, D3=0.99, D3u=0.99)])
    assert one.status is Status.WATCH


def test_a_probability_of_a_half_is_watched_without_a_flag() -> None:
    (one,) = statuses([evidence("m", D1=0.6, D2=0.1, D3=0.1)])
    assert one.status is Status.WATCH
    assert one.flagged == ()


def test_no_concern_needs_every_required_domain_and_names_the_unseen() -> None:
    quiet, unseen = statuses([evidence("quiet", D1=0.1, D2=0.2, D3=0.1), evidence("unseen", D2=0.2, D3=0.1)])
    assert quiet.status is Status.NO_CONCERN_FOUND
    assert quiet.reason == "No concern found in D1, D2, D3; not assessed: D3u, D4, D5, D6, D7."
    assert unseen.status is Status.NOT_ASSESSED
    assert "D1: no data were given" in unseen.reason
    (strict,) = statuses([evidence("quiet", D1=0.1, D2=0.2, D3=0.1)], required=list(Domain))
    assert strict.status is Status.NOT_ASSESSED


def test_a_metric_without_any_evidence_is_not_assessed() -> None:
    (one,) = statuses([MetricEvidence(metric="m")])
    assert one.status is Status.NOT_ASSESSED
    assert len(one.not_assessed) == len(Domain)
    assert one.priority == 0


def test_with_few_items_only_near_certainty_flags_disagreement() -> None:
    def nine(p: float) -> MetricEvidence:
        one = evidence("m", D1=p)
        domains = {
            Domain.EXPERT_DISAGREEMENT: DomainEvidence(
                domain=Domain.EXPERT_DISAGREEMENT,
                probability=p,
                estimate=one.of(Domain.EXPERT_DISAGREEMENT).estimate,
                n=9,
                counts={"items": 9},
            )
        }
        return MetricEvidence(metric="m", domains=domains)

    assert statuses([nine(0.92)])[0].status is Status.WATCH
    assert statuses([nine(0.96)])[0].status is Status.CONTESTED
    assert statuses([evidence("m", D1=0.92)])[0].status is Status.CONTESTED


def test_two_votes_to_rename_are_a_concern_whatever_the_share() -> None:
    found = construct({"m": (0, 9, 2)})
    assert found["m"].triggered
    (one,) = statuses(gather(found))
    assert one.status is Status.WATCH
    assert one.flagged == (Domain.CONSTRUCT,)


def test_the_three_domains_of_the_app_work_together() -> None:
    split = table(["PPFPF", "FPFPP", "PFPFP", "FFPPF", "PPFFP", "FPPFF", "PFFPP", "FPFPF", "PPFFP"])
    found = statuses(
        gather(
            expert_disagreement({"split": split, "single": table(["P"] * 9)}, seed=0),
            judge_against_experts({"split": (5, 9), "single": (9, 9)}),
            indeterminacy(
                {"split": (np.zeros(9, dtype=np.int64), np.full(9, 5)), "single": (np.zeros(9), np.ones(9))}
            ),
        )
    )
    assert [one.status for one in found] == [Status.CONTESTED, Status.NOT_ASSESSED]
    assert "9 items with 3 experts each are needed, 0 are there" in found[1].reason


def test_the_queue_puts_contested_first_and_the_weightiest_within() -> None:
    found = queue(
        statuses(
            [
                evidence("quiet", D1=0.1, D2=0.1, D3=0.1),
                evidence("less", D1=0.97),
                evidence("more", D1=0.99, D2=0.99),
            ]
        )
    )
    assert [one.metric for one in found] == ["more", "less", "quiet"]
    assert all(abs(one.priority) <= 3 * len(Domain) for one in found)


def test_stakes_change_the_order_within_a_status() -> None:
    pair = [evidence("a", D1=0.97), evidence("b", D1=0.96)]
    assert queue(statuses(pair))[0].metric == "a"
    assert queue(statuses(pair, stakes={"b": 2}))[0].metric == "b"


def test_evidence_far_out_is_capped() -> None:
    (one,) = statuses([evidence("m", D1=1.0, D2=0.0)])
    assert one.priority == 0


@pytest.mark.parametrize(
    ("n_items", "n_raters", "published"),
    [(9, 5, [0.90, 0.53, 0.19, 0.04, 0.01]), (30, 3, [0.98, 0.59, 0.11, 0.0, 0.0])],
)
def test_calibration_reproduces_the_published_shares(
    n_items: int, n_raters: int, published: list[float]
) -> None:
    rows = calibrate(n_items, n_raters, seed=3, simulations=1000, draws=1000)
    assert [row.flagged.value for row in rows] == pytest.approx(published, abs=0.05)


def test_calibration_and_evidence_use_the_same_alpha() -> None:
    words = ["PPF", "FFF", "PPP", "PFF", "PPP", "FFF", "PPF", "PPP", "FFP", "PPP"]
    direct = expert_disagreement({"m": table(words)}, seed=0)["m"]
    assert direct.estimate.value == pytest.approx(krippendorff_alpha(table(words), level="nominal").value)
    sure = calibrate(10, 3, seed=0, alphas=[0.0], threshold=0.99, certainty=0.5, simulations=200, draws=200)
    assert sure[0].flagged.value == pytest.approx(1)


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(ValueError, match="n_raters=1"):
        calibrate(9, 1, seed=0)
    with pytest.raises(ValueError, match="not a share of ratings"):
        indeterminacy({}, domain=Domain.CONSTRUCT)

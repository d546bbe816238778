"""The part of a judge card that is about one judge."""

from collections.abc import Mapping
from typing import Any

from reviews.audit.own_family import OwnFamily
from reviews.report.card_numbers import Card, bounds, number, numbers, optional, rounded
from reviews.report.figures import JudgeFigures
from validation.mapping import admissible_policies
from validation.multiverse import Spread
from validation.retest import Retest
from validation.self_preference import Comparison

RATES = (
    "accuracy",
    "kappa",
    "mcc",
    "sensitivity",
    "specificity",
    "false_pass_rate",
    "false_fail_rate",
    "ppv",
    "npv",
    "balanced_accuracy",
    "design_effect",
)
TRANSPORT = {
    "post_stratified": "none: the labels are of the same conversations, by verdict",
    "ppi": "none: the labels are of the same conversations",
    "rogan_gladen": "sensitivity and specificity are equal here and where the labels come from",
    "borrowed": "the judge errs in this group as it does in the others, up to partial pooling",
    "bounds": "none: nothing is corrected",
}
"""What a corrected rate assumes of labels that are not of the group itself."""
SHORT = ("accuracy", "kappa", "false_pass_rate", "false_fail_rate")


def card_of_judge(one: JudgeFigures, about: Mapping[str, Any]) -> Card:
    found, gaps = one.whole.found, one.gaps
    return {
        "judge": {
            "id": one.judge.judge_id,
            "name": one.judge.name,
            "model": one.judge.model,
            "family": one.judge.family,
        }
        | {name: text or "not stated" for name, text in about["judge"].items()}
        | {str(k): v for k, v in about["judges"].get(str(one.judge.judge_id), {}).items()},
        "judge_human": {
            "n": found.table.n,
            "cells": {
                "true_pass": rounded(found.table.true_pass),
                "false_fail": rounded(found.table.false_fail),
                "false_pass": rounded(found.table.false_pass),
                "true_fail": rounded(found.table.true_fail),
            },
            "three_way": one.whole.three_way.tolist(),
            **{name: number(getattr(found, name)) for name in RATES},
            "weighted": number(one.weighted),
            "by_group": [
                {
                    "group": row.group,
                    "kind": row.kind,
                    **{name: number(getattr(row.found, name)) for name in SHORT},
                }
                for row in one.groups[1:]
            ],
            "by_metric": [
                {"metric": row.title, "raw": number(row.raw), "shrunken": number(row.shrunken)}
                for row in one.metrics
            ],
        },
        "mapping": {
            "primary": one.readings.curve.cells[0].policy.name
            if not found.accuracy.policy
            else found.accuracy.policy,
            "admissible": len(admissible_policies().policies),
            "admissible_hash": one.readings.admissible_hash,
            "curve": {name: _spread(one.readings.curve.spread(name)) for name in ("accuracy", "kappa")},
            "bounds": bounds(one.readings.bounds),
            "borderline_as_half": number(one.readings.half),
            "borderline_dropped": number(one.readings.dropped),
            "claim": {"at_least": one.claim.at_least, "verdict": one.claim.verdict},
        },
        "ceiling": [
            {
                "borderline": row.borderline,
                "human": number(row.found.human),
                "judge": number(row.found.judge),
                "difference": number(row.found.difference),
                "margin": row.found.margin,
                "non_inferior": row.found.non_inferior,
                "human_alpha": number(row.found.human_alpha),
                "judge_alpha": number(row.found.judge_alpha),
            }
            for row in one.ceilings
        ],
        "alt_test": {
            "applicable": one.alternative.applicable,
            "reason": one.alternative.reason,
            "epsilon": one.alternative.epsilon,
            "omega": number(one.alternative.winning_rate),
            "rho": number(one.alternative.advantage),
            "omega_eps_curve": [[epsilon, number(omega)] for epsilon, omega in one.alternative.epsilon_curve],
        },
        "indeterminacy": _indeterminacy(one),
        "self_preference": self_preference(one.own_family),
        "ages": [
            numbers({"judge": row.judge, "experts": row.experts, "excess": row.excess}) | {"group": row.group}
            for row in one.ages
        ],
        "retest": None if one.retest is None else _retest(one),
        "corrected_rates": [
            {
                "polarity": board.polarity,
                "group": str(rate.group),
                "raw": number(rate.judge_rate),
                "corrected": number(rate.rate),
                "method": rate.choice.estimator,
                "because": rate.choice.because,
                "flag": rate.choice.flag,
                "transport_assumption": TRANSPORT[rate.choice.estimator],
            }
            for board in one.boards
            for rate in board.rates
        ],
        "ranks": [
            {
                "polarity": board.polarity,
                "order": kind,
                "model": str(model.name),
                "set": [model.lowest, model.highest],
                "rate": number(model.rate),
            }
            for board in one.boards
            for kind, ranking in (("judge", board.raw), ("corrected", board.corrected))
            for model in ranking.models
        ],
        "rank_stability": [
            {
                "polarity": polarity,
                "choices": len(held.perturbations),
                "keeps_first": rounded(held.keeps_first),
                "keeps_first_three": rounded(held.keeps_first_three),
                "under": [
                    {
                        "choice": each.name,
                        "kendall": number(each.kendall),
                        "keeps_first": each.keeps_first,
                        "pairs_turned": each.discordant_pairs,
                    }
                    for each in held.perturbations
                ],
            }
            for polarity, held in one.order.items()
            if held is not None
        ],
        "alarms": [finding.sentence for finding in one.alarms],
        "missing": {
            "unscored": gaps.found.n_missing,
            "share": number(gaps.found.share),
            "reasons": dict(gaps.reasons),
            "accuracy_bounds": bounds(gaps.found.accuracy),
            "by_model": {
                str(model): number(share)
                for model, share in zip(gaps.by_model.groups, gaps.by_model.shares, strict=True)
            },
            "blocks_pooling": gaps.by_model.blocks_pooling,
        },
    }


def _indeterminacy(one: JudgeFigures) -> Card:
    decided, forced = one.decisions.curves, one.decisions.forced
    return {
        "mse": number(one.mse),
        "js_divergence": number(forced.js_divergence),
        "hit_rate": number(forced.hit_rate),
        "runs": one.decisions.runs,
        "thresholds": [rounded(tau) for tau in decided.thresholds],
        "consistency": [number(found) for found in decided.consistency],
        "bias": [number(found) for found in decided.bias],
    }


def _spread(found: Spread) -> Card:
    points = ("minimum", "p10", "median", "p90", "maximum", "vibration_ratio")
    return {"cells": found.cells, **{name: number(getattr(found, name)) for name in points}}


def self_preference(found: OwnFamily) -> Card:
    """The levels of kinship; "identified" says whether there was an own-family item at all."""
    return {
        "identified": found.levels["family"].verdict != "not_identified",
        "sentence": found.sentence,
        "levels": {level: _comparison(one) for level, one in found.levels.items()},
        "by_polarity": {
            polarity: {level: _comparison(one) for level, one in levels.items()}
            for polarity, levels in found.by_polarity.items()
        },
        "perm_p_models": optional(found.permutation.p_family, found.levels["family"].leniency.n),
        "family_unknown": found.family_unknown,
    }


def _comparison(one: Comparison) -> Card:
    return {
        "verdict": one.verdict,
        "D": number(one.leniency),
        "false_pass_gap": number(one.false_pass_gap),
        "false_fail_gap": number(one.false_fail_gap),
        "n_own_fail": one.n_own_fail,
        "n_other_fail": one.n_other_fail,
        "mde": optional(one.detectable, one.n_own_fail + one.n_other_fail, reason="none_could_be_seen"),
    }


def _retest(one: JudgeFigures) -> Card:
    if one.retest is None:
        return {}
    ceilings, n = one.retest.ceilings, one.retest.whole.pairwise.n

    def of(found: Retest) -> Card:
        names = ("unanimous", "flip_rate", "decision_flips", "pairwise", "kappa", "ac1")
        return {name: number(getattr(found, name)) for name in names}

    return {
        "runs": one.retest.runs,
        **of(one.retest.whole),
        "by_polarity": {name: of(found) for name, found in one.retest.by["polarity"].items()},
        "accuracy_ceiling": optional(ceilings.accuracy, n),
        "correlation_ceiling_one_expert": optional(ceilings.with_one_expert, n),
        "correlation_ceiling_panel": optional(ceilings.with_panel, n),
    }


def own_family_sentence(judge: JudgeFigures) -> str:
    """What was found about a judge and its own family, and what could have been."""
    found = judge.own_family.levels["family"]
    if found.verdict == "detected":
        return (
            f"{judge.own_family.sentence}. D, over {found.leniency.n:,} items: judge minus experts on its own family, minus the"
            " same on others."
        )
    if found.verdict != "not_detected":
        return f"{judge.own_family.sentence}."
    seen = (
        "so few that not even the largest difference could have been seen"
        if found.detectable is None
        else f"which could show a gap of false passes of {found.detectable:.2f} or more, and no smaller one"
    )
    return (
        f"no preference was detected; {found.n_own_fail} own-family and {found.n_other_fail} other items fail by the experts,"
        f" {seen}."
    )

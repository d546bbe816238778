"""The judge card: every figure of an audit as JSON that a machine can check, one card for all judges of a study.

A number is `{"value", "n", ...}` or `{"not_estimable": reason}`, never a bare float; counts are plain integers.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from impactbench.domain import AssignmentReason
from reviews.blindness.recognition import summarised
from reviews.evidence import SCALE, SEED, StudyTables
from reviews.report.card_judges import card_of_judge, own_family_sentence
from reviews.report.card_numbers import Card, bounds, number, rounded
from reviews.report.figures import Figures


def judge_card(figures: Figures, tables: StudyTables, about: Mapping[str, Any], *, data_hash: str) -> Card:
    """The card.

    Args:
        figures: of the audit.
        tables: that they were computed from.
        about: what the data cannot say: see `reviews.report.statement`.
        data_hash: of the exported data.
    """
    return {
        "schema": "judge-card/1",
        "study": about["study"],
        "judges": [card_of_judge(one, about) for one in figures.judges],
        "roles_overlap": _roles(figures, about),
        "frame": _frame(tables, about),
        "experts": _experts(tables, about),
        "design": _design(figures, tables, about),
        "human": _human(figures),
        "contested": [
            {
                "metric": figures.title(one),
                "status": str(one.status),
                "reason": one.reason,
                "p_by_domain": {
                    str(domain): rounded(found.probability)
                    for domain, found in one.evidence.domains.items()
                    if found.probability is not None
                },
                "flagged": [str(domain) for domain in one.flagged],
                "evidence": {
                    str(domain): {
                        "measured": number(found.estimate),
                        "n": found.n,
                        "counts": {name: rounded(float(count)) for name, count in found.counts.items()},
                    }
                    for domain, found in one.evidence.domains.items()
                    if found.assessed
                },
                "not_assessed": [str(domain) for domain in one.not_assessed],
            }
            for one in figures.statuses
        ],
        "judges_by_indeterminacy": _beta_star(figures),
        "between_judges": [
            {"judges": list(pair), "kappa": number(kappa)} for pair, kappa in figures.panel.between.items()
        ],
        "double_difference": [
            {"judges": list(map(str, pair)), "sum": number(found)}
            for pair, found in figures.double_difference.sums.items()
        ]
        if figures.double_difference
        else [],
        "labels_missing": dict(figures.missing.labels.by_status),
        "plan": about.get("plan") or {"frozen": False, "deviations": []},
        "limits": _limits(figures),
        "provenance": {
            "data_hash": data_hash,
            "data_as_of": about["data_as_of"],
            "code_version": about["code_version"],
            "seed": SEED,
        },
    }


def _roles(figures: Figures, about: Mapping[str, Any]) -> Card:
    table = figures.roles
    targets = {str(name) for name in table.columns if "target" in table.index and table.loc["target", name]}
    made_by = about["roles"]
    own = [one.n_own for one in figures.judges]
    pool = [set(one.targets) for one in figures.judges]
    return {
        "matrix": {str(role): [str(name) for name in table.columns[table.loc[role]]] for role in table.index}
        | {role: list(families) or "not on record" for role, families in made_by.items()},
        "self_in_pool": any(
            one.judge.model in models for one, models in zip(figures.judges, pool, strict=True)
        ),
        "sibling_in_pool": any(
            one.own_family.levels["sibling"].verdict != "not_identified" for one in figures.judges
        ),
        "simulator_overlap": sorted(targets & set(made_by["simulator"]))
        if made_by["simulator"]
        else "not on record",
        "family_in_pool": bool(table.loc["judge"].to_numpy() @ table.loc["target"].to_numpy())
        if {"judge", "target"} <= set(table.index)
        else False,
        "own_family_items": own,
    }


def _frame(tables: StudyTables, about: Mapping[str, Any]) -> Card:
    conversations, core = tables.conversations, tables.assignments
    return {
        "conversations": len(conversations),
        "metrics": int((~tables.metrics["superseded"]).sum()),
        "replaced_versions": int(tables.metrics["superseded"].sum()),
        "models": sorted({str(name) for name in conversations["model"].dropna() if name}),
        "ages": sorted({str(age) for age in conversations["age"].dropna()}),
        "sampling": about["process"]["sampling"] or "not stated",
        "strata": int(core["stratum"].nunique()),
        "inclusion_probabilities_on_record": bool(core["inclusion_probability"].notna().any()),
    }


def _experts(tables: StudyTables, about: Mapping[str, Any]) -> Card:
    said = tables.assignments[tables.assignments["label"].notna()]
    people = said.drop_duplicates("rater")
    stated = {name: text or "not stated" for name, text in about["experts"].items()}
    panels = Counter("none" if panel is None or panel != panel else str(panel) for panel in people["panel"])
    return {"n": len(people), "panels": dict(sorted(panels.items())), **stated}


def _design(figures: Figures, tables: StudyTables, about: Mapping[str, Any]) -> Card:
    whole = figures.coverage[0]
    rows = tables.assignments
    by_design = all(one["origin"] == "design" for one in about["review_sets"])
    return {
        "items": whole.items,
        "ratings": whole.labels,
        "raters_per_item": dict(zip(("0", "1", "2", "3+"), whole.by_raters, strict=True)),
        "components": whole.components,
        "repeats": int((rows["repeat"] > 0).sum()),
        "honeypots": int((rows["reason"] == AssignmentReason.GOLD).sum()),
        "blind_by_construction": by_design,
        "recognition": [
            {
                "review_set": one.review_set,
                "asked": one.asked,
                "answered": one.answered,
                "recognised": number(one.recognised),
                "remarks": list(one.remarks),
            }
            for one in summarised(tables.recognised)
        ],
        "order_randomised": by_design,
        "scale": list(SCALE),
        "unsure_separate": True,
        "reasons": {str(name): int(count) for name, count in rows["reason"].map(str).value_counts().items()},
        "cannot_judge": whole.cannot_judge,
        "skipped": whole.skipped,
        "not_yet_rated": whole.not_yet_rated,
        **{name: value or "not stated" for name, value in about["process"].items()},
    }


def _human(figures: Figures) -> Card:
    names = ("agreement", "alpha_nominal", "alpha_ordinal", "ac1", "bp")
    return {
        "whole": {name: number(figures.paradox[0].coefficients[name]) for name in names},
        "all_coefficients": [
            {
                "group": panel.group.name,
                "coefficients": {name: number(found) for name, found in panel.coefficients.items()},
                "specific_agreement": {str(name): number(found) for name, found in panel.specific.items()},
                "shares": {str(name): rounded(share) for name, share in panel.shares.items()},
                "prevalence_index": number(panel.prevalence_index),
            }
            for panel in figures.paradox
        ],
        "alpha_ordinal": [
            {"group": row.group.name, "kind": str(row.group.kind), "alpha_ordinal": number(row.estimate)}
            for row in figures.agreement
        ],
        "alpha_weighted": number(figures.weighted),
        "within_rater": [
            {
                "rater": str(row.rater),
                "repeated": number(row.repeated),
                "lean": number(row.lean),
                "flagged": row.flagged,
            }
            for row in figures.raters.raters
        ],
        "indeterminacy": {
            "both_defensible": number(figures.indeterminacy.within),
            "between": number(figures.indeterminacy.between),
            "pass_rate": bounds(figures.indeterminacy.pass_rate),
        },
    }


def _beta_star(figures: Figures) -> Card:
    """How much of what experts failed they would have had to find passable too before the judges change places."""
    sweep = figures.indeterminacy.sweep
    if sweep is None:
        return {"not_estimable": "no_judge"}
    return {
        "beta": list(sweep.betas),
        "mse": {name: [number(one) for one in found] for name, found in sweep.mse.items()},
        "consistency": {name: [number(one) for one in found] for name, found in sweep.consistency.items()},
        "rankings": [list(names) for names in sweep.rankings],
        "beta_star": {
            "ranking": sweep.ranking_flips_at,
            "claims": dict(sweep.claim_flips_at),
        },
    }


def _limits(figures: Figures) -> list[str]:
    """What a reader must not conclude, from the data themselves."""
    whole = figures.coverage[0]
    none, one, _, _ = whole.by_raters
    limits = [
        f"{judge.judge.name}: {finding.sentence}" for judge in figures.judges for finding in judge.alarms
    ]
    if none + one:
        limits.append(
            f"{none + one} of {whole.items} items have fewer than two labels and can show no disagreement."
        )
    if whole.components > 1:
        limits.append(
            f"The raters fall into {whole.components} groups that share no item and cannot be compared."
        )
    unassessed = sum(str(status.status) == "not_assessed" for status in figures.statuses)
    if unassessed:
        limits.append(
            f"{unassessed} of {len(figures.statuses)} metrics are not assessed, which is no sign that they are sound."
        )
    for judge in figures.judges:
        family = judge.own_family.levels["family"]
        if family.verdict == "not_identified":
            limits.append(
                f"Whether {judge.judge.name} favours its own family cannot be said: {family.sentence}."
            )
        elif family.verdict == "not_detected":
            limits.append(f"{judge.judge.name} and its own family: {own_family_sentence(judge)}")
        if judge.own_family.family_unknown:
            limits.append(
                f"{judge.own_family.family_unknown} items are left out of that comparison: the family of their model, or of the judge, is"
                " not on record."
            )
    return limits

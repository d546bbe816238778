"""The judge card: every figure of an audit as JSON that a machine can check, one card for all judges of a study.

A number is `{"value", "n", ...}` or `{"not_estimable": reason}`, never a bare float; counts are plain integers.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from reviews.evidence import SEED, StudyTables
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
        "roles_overlap": _roles(figures),
        "frame": _frame(tables),
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
                "not_assessed": [str(domain) for domain in one.not_assessed],
            }
            for one in figures.statuses
        ],
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


def _roles(figures: Figures) -> Card:
    table = figures.roles
    own = [one.n_own for one in figures.judges]
    pool = [set(one.targets) for one in figures.judges]
    return {
        "matrix": {str(role): [str(name) for name in table.columns[table.loc[role]]] for role in table.index},
        "self_in_pool": any(
            one.judge.model in models for one, models in zip(figures.judges, pool, strict=True)
        ),
        "family_in_pool": bool(table.loc["judge"].to_numpy() @ table.loc["target"].to_numpy())
        if {"judge", "target"} <= set(table.index)
        else False,
        "own_family_items": own,
    }


def _frame(tables: StudyTables) -> Card:
    conversations, core = tables.conversations, tables.assignments
    return {
        "conversations": len(conversations),
        "metrics": len(tables.metrics),
        "models": sorted({str(name) for name in conversations["model"].dropna() if name}),
        "ages": sorted({str(age) for age in conversations["age"].dropna()}),
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
    return {
        "items": whole.items,
        "ratings": whole.labels,
        "raters_per_item": dict(zip(("0", "1", "2", "3+"), whole.by_raters, strict=True)),
        "components": whole.components,
        "repeats": int((rows["repeat"] > 0).sum()),
        "reasons": {str(name): int(count) for name, count in rows["reason"].map(str).value_counts().items()},
        "cannot_judge": whole.cannot_judge,
        "skipped": whole.skipped,
        "not_yet_rated": whole.not_yet_rated,
        **{name: value or "not stated" for name, value in about["process"].items()},
    }


def _human(figures: Figures) -> Card:
    return {
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


def _limits(figures: Figures) -> list[str]:
    """What a reader must not conclude, from the data themselves."""
    whole = figures.coverage[0]
    none, one, _, _ = whole.by_raters
    limits = []
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
                f"{judge.own_family.family_unknown} items are left out of that comparison: the family of their model is unknown."
            )
        limits += [f"{judge.judge.name}: {finding.sentence}" for finding in judge.alarms]
    return limits

"""The checklists of a report, in our own words: what was asked for, whether it is met here, and where to see it.

Items follow GRRAS (Kottner et al. 2011, doi:10.1016/j.jclinepi.2010.03.002), the COSMIN risk-of-bias tool for reliability
(Mokkink et al. 2020, doi:10.1186/s12874-020-01179-5), the records that an audit of a judge should keep, and Bean et al.
2025 (arXiv:2511.04703).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from reviews.report.figures import Figures
from reviews.report.spelling import counted

Verdict = Literal["met", "partly", "not met", "not stated", "not applicable"]


@dataclass(frozen=True, slots=True)
class Item:
    """One line of a checklist."""

    text: str
    verdict: Verdict
    evidence: str


Facts = Mapping[str, Any]


def checklists(figures: Figures, card: Mapping[str, Any], about: Mapping[str, Any]) -> dict[str, list[Item]]:
    """The four checklists by name."""
    facts = {"figures": figures, "card": card, "about": about}
    return {
        "grras": _grras(facts),
        "cosmin": _cosmin(facts),
        "records": _records(facts),
        "bean": _bean(facts),
    }


TITLES = {
    "grras": "Reporting of reliability and agreement (after GRRAS)",
    "cosmin": "Risk of bias of a reliability study (after COSMIN)",
    "records": "What an audit of a judge should keep on record",
    "bean": "Validity of a benchmark (after Bean et al. 2025)",
}


def _stated(facts: Facts, part: str, name: str) -> tuple[Verdict, str]:
    said = facts["about"][part][name]
    return ("met", said) if said else ("not stated", "not stated by the study")


def _when(holds: bool, evidence: str, *, otherwise: Verdict = "not met") -> tuple[Verdict, str]:
    return ("met" if holds else otherwise), evidence


def _grras(facts: Facts) -> list[Item]:
    design, card, figures = facts["card"]["design"], facts["card"], facts["figures"]
    whole = figures.coverage[0]
    judges = ", ".join(one.judge.name for one in figures.judges) or "none"
    sampling = _stated(facts, "process", "sampling")
    if sampling[0] != "met" and card["frame"]["inclusion_probabilities_on_record"]:
        sampling = (
            "met",
            f"a probability sample in {counted(card['frame']['strata'], 'stratum', 'strata')}, chances on record",
        )
    blinded = facts["about"]["process"]["blinding"]
    by_design = all(one["origin"] == "design" for one in facts["about"]["review_sets"])
    return [
        Item("The title says that this is a study of agreement or reliability", "met", "title"),
        Item("The instrument (judge and rubric) is named", *_when(bool(figures.judges), f"judges: {judges}")),
        Item("Who or what was rated is described", *_stated(facts, "purpose", "subjects")),
        Item("Who rated is described", *_stated(facts, "experts", "disciplines")),
        Item("What was known before, and why the study was done", *_stated(facts, "purpose", "rationale")),
        Item(
            "How many raters, items and repeats were chosen, and why",
            *_stated(facts, "process", "sample_size"),
        ),
        Item("How items and raters were sampled", *sampling),
        Item(
            "How ratings came about: time between repeats, what raters knew, blinding",
            *(
                _when(
                    True,
                    blinded or "raters were given the transcript and the question alone, by construction",
                )
                if blinded or by_design
                else ("not stated", "some labels were given elsewhere, and nothing is stated of how")
            ),
        ),
        Item(
            "Whether raters worked independently",
            *_when(by_design, "each rater saw no label of another", otherwise="not stated"),
        ),
        Item(
            "The statistical analysis is described",
            "met",
            "with each figure: method, reading of the labels, n",
        ),
        Item(
            "Actual numbers of raters, items and ratings",
            "met",
            f"{card['experts']['n']} raters, {whole.items} items, {whole.labels} labels",
        ),
        Item(
            "Characteristics of raters and items",
            *(
                _stated(facts, "experts", "training")
                if not any(name != "none" for name in card["experts"]["panels"])
                else ("met", f"panels: {_listed(card['experts']['panels'])}")
            ),
        ),
        Item(
            "Estimates with their uncertainty", "met", "every figure has an interval, or says why it has none"
        ),
        Item("What the results mean in practice", *_stated(facts, "purpose", "relevance")),
        Item(
            "Detailed results are available",
            "met",
            f"the data of this report, raters per item {_listed(design['raters_per_item'])}",
        ),
    ]


def _cosmin(facts: Facts) -> list[Item]:
    figures, card = facts["figures"], facts["card"]
    by_design = all(one["origin"] == "design" for one in facts["about"]["review_sets"])
    repeats = card["design"]["repeats"]
    groups = figures.coverage[0].components
    interval = (
        _stated(facts, "process", "repeat_interval")
        if repeats
        else ("not applicable", "no item was shown twice")
    )
    return [
        Item("What is rated did not change between ratings", "met", "recorded conversations do not change"),
        Item("The time between repeats is suitable", *interval),
        Item(
            "Conditions were alike for all ratings",
            *_when(by_design, "one desk, one rubric a review set", otherwise="not stated"),
        ),
        Item(
            "Raters knew neither each other's ratings nor their own earlier ones",
            *_when(by_design, "no label is ever shown to a rater before the end", otherwise="not stated"),
        ),
        Item(
            "A coefficient for ordered categories was used",
            "met",
            "Krippendorff's alpha, ordinal, beside the nominal one",
        ),
        Item(
            "No other flaw: raters can be compared",
            *_when(
                groups <= 1,
                f"raters fall into {groups} groups without an item in common"
                if groups > 1
                else "no group of raters stands apart: all are connected by items in common",
                otherwise="partly",
            ),
        ),
    ]


def _records(facts: Facts) -> list[Item]:
    figures, card, about = facts["figures"], facts["card"], facts["about"]
    whole = figures.coverage[0]
    several = whole.by_raters[2] + whole.by_raters[3]
    contested = [one for one in figures.statuses if str(one.status) == "contested"]
    by_metric = {row.group.name: row.n_pairable for row in figures.agreement}
    alone = [figures.title(one) for one in contested if not by_metric.get(figures.title(one))]
    named = bool(about["experts"]["disciplines"] and about["experts"]["standard"])
    judged = [one for one in figures.judges if one.own_family.levels["family"].verdict == "not_identified"]
    sizes = "; ".join(f"{one.judge.name}: {counted(one.n_own, 'own-family item')}" for one in figures.judges)
    inside = card["roles_overlap"]["family_in_pool"]
    return [
        Item(
            "Experts are named by discipline, and the standard that they rated by is given",
            *_when(
                named, about["experts"]["disciplines"] or "not stated by the study", otherwise="not stated"
            ),
        ),
        Item(
            "Contested metrics were rated by several experts",
            *_when(
                not alone, f"{len(contested)} contested, {len(alone)} of them without an item that two rated"
            ),
        ),
        Item(
            "Every expert's label is kept", "met", "ratings.csv has one row for each rater, item and repeat"
        ),
        Item(
            "“Unsure” and borderline are data, with a way to settle them",
            "met",
            f"{counted(whole.cannot_judge, 'answer')} “I can't judge this” apart from borderline; adjudications are a layer apart",
        ),
        Item(
            "Coverage is given beside chance-corrected agreement",
            *_when(
                several > 0, f"{several} of {whole.items} items with two raters or more", otherwise="partly"
            ),
        ),
        Item(
            "The judge is no contestant, or its own-family sample is large enough to see a preference",
            *(
                _when(True, "no judge is of a family that it rates")
                if not inside
                else _when(not judged, sizes, otherwise="not met")
                if judged
                else ("partly", f"{sizes}; see the smallest effect that could be seen")
            ),
        ),
    ]


def _bean(facts: Facts) -> list[Item]:
    figures = facts["figures"]
    return [
        Item("The phenomenon is defined", *_stated(facts, "purpose", "phenomenon")),
        Item("Only the phenomenon is measured", *_stated(facts, "purpose", "scope")),
        Item("The data represent the task", *_stated(facts, "purpose", "representative")),
        Item("Limits of reused data are acknowledged", *_stated(facts, "purpose", "reuse")),
        Item("Contamination is prepared for", *_stated(facts, "purpose", "contamination")),
        Item(
            "Models are compared by statistical methods",
            *_when(
                any(one.boards for one in figures.judges),
                "corrected rates with intervals; rank sets in place of ranks",
                otherwise="not applicable",
            ),
        ),
        Item(
            "Errors are analysed",
            *_when(bool(figures.judges), "by metric, group and item: see the items that differ"),
        ),
        Item("Construct validity is argued for", *_stated(facts, "purpose", "construct")),
    ]


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name}: {number}" for name, number in counts.items())

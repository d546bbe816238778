"""How far experts agree, pooled and metric by metric, and what a low figure does and does not mean."""

import pandas as pd
import streamlit as st

from app import audit
from app.components.forest import show_forest
from app.components.item_list import items_below
from app.components.permalinks import choose, switch
from app.components.plain_table import figures_of, table_of_figures
from app.views.methodologist import may_see, nothing_asked, study_in_view
from app.wording import count, spell
from reviews.audit.agreement import GroupAgreement
from reviews.audit.groups import Group, Kind
from reviews.blindness.visibility import Seen
from reviews.registration import CUT_OFF
from validation.results import Estimate

COEFFICIENTS = {
    "alpha_ordinal": (
        "Krippendorff’s α, ordinal",
        "1 no disagreement, 0 as by chance; a fail against a pass counts more",
    ),
    "alpha_nominal": ("Krippendorff’s α, nominal", "the same, every disagreement counts alike"),
    "alpha_borderline_passes": ("α, borderline as a pass", "pass and fail only"),
    "alpha_borderline_fails": ("α, borderline as a fail", "pass and fail only"),
    "fleiss": ("Fleiss’ κ", "the same scale; items with two ratings or more"),
    "ac1": ("Gwet’s AC1", "chance-corrected, little moved by how common a pass is"),
    "bp": ("Brennan–Prediger", "chance taken as one over the number of categories"),
    "agreement": ("Percent agreement", "share of agreeing pairs, mean over items; not corrected for chance"),
}
_POOLED = {
    Kind.POLARITY: "By polarity",
    Kind.BENCHMARK: "By benchmark",
    Kind.SUBAREA: "By subarea",
}
_DRAWN = 60
"""Metrics in the picture; the table has all."""


def agreement() -> None:
    """The agreement among experts, with the picture, the table, and one group opened."""
    study = study_in_view(Seen.OTHER_LABELS)
    st.title("Agreement among experts")
    rows = audit.agreement_by_group(study, "alpha_ordinal")
    whole = rows[0]
    if not whole.n_pairable:
        st.write("No item has two ratings yet, so there is no agreement to speak of.")
        nothing_asked(study)
        return
    raw = audit.agreement_by_group(study, "agreement")
    st.markdown(_headline(whole, raw[0]))
    key = switch("Coefficient", {key: name for key, (name, _) in COEFFICIENTS.items()}, name="coefficient")
    name, meaning = COEFFICIENTS[key]
    st.caption(f"{name}: {meaning}. Lines are 95% intervals. The random core alone enters.")
    shown = audit.agreement_by_group(study, key)
    drawn = [row for row in shown if row.group.kind in (Kind.ALL, Kind.POLARITY)]
    single = sorted(
        (row for row in shown if row.group.kind is Kind.METRIC), key=lambda row: row.estimate.value or 9.0
    )
    drawn += single[:_DRAWN]
    show_forest(
        [(row.group.name, row.estimate) for row in drawn],
        title=name,
        cut_off=CUT_OFF if key.startswith("alpha") else None,
    )
    if len(single) > _DRAWN:
        st.caption(
            f"The {_DRAWN} metrics with the lowest figure are drawn; the table has all {len(single):,}."
        )
    st.dataframe(pd.DataFrame(_table(drawn[:1] + single, raw, name)), hide_index=True, width="stretch")
    for kind, heading in _POOLED.items():
        part = [row for row in shown if row.group.kind is kind]
        if part:
            with st.expander(heading):
                figures_of(heading, _table(part, raw, name))
    st.caption(
        "Intervals: jackknife of log(1 − coefficient), leaving out one item at a time, or one metric at a time where"
        " several are pooled; percent agreement: Wilson. Under 30 items the intervals of α and κ are not to be relied"
        " on: read percent agreement and AC1 beside them."
    )
    _weighted(audit.weighted_alpha(study))
    _one_group(study, [row.group for row in shown])


def _headline(whole: GroupAgreement, raw: GroupAgreement) -> str:
    alpha = whole.estimate
    if alpha.low is None or alpha.value is None:
        verdict = f"ordinal α is {spell(alpha)}"
    elif alpha.low >= CUT_OFF:
        verdict = f"ordinal α is {spell(alpha)}, all of it above the cut-off of {CUT_OFF}"
    elif alpha.value >= CUT_OFF:
        verdict = f"ordinal α is {spell(alpha)}, its lower end under the cut-off of {CUT_OFF}"
    else:
        verdict = f"ordinal α is {spell(alpha)}, below the cut-off of {CUT_OFF}"
    single = whole.n_items - whole.n_pairable
    rest = f" {count(single, 'item')} with one rating can show no disagreement." if single else ""
    return (
        f"**Over {count(whole.n_pairable, 'item')} with two ratings or more, experts agreed on"
        f" {spell(raw.estimate, percent=True)} of pairs; {verdict}.**{rest}"
    )


def _table(rows: list[GroupAgreement], raw: list[GroupAgreement], name: str) -> list[dict[str, object]]:
    percent = {(one.group.kind, one.group.name): one.estimate for one in raw}
    return [
        {
            "Group": row.group.name,
            "Items (2+ ratings)": row.n_pairable,
            "Ratings": row.n_ratings,
            name: spell(row.estimate),
            "Raw agreement": spell(percent[row.group.kind, row.group.name], percent=True),
        }
        for row in rows
    ]


def _weighted(alpha: Estimate) -> None:
    if alpha.value is not None:
        st.text(
            f"Check: with all raters of the items that were given extra ones, each weighted by one over its chance of"
            f" that, ordinal α is {spell(alpha)}, n {alpha.n}."
        )


def _one_group(study: str, groups: list[Group]) -> None:
    st.header("One group in full")
    named = {f"{group.kind.value}: {group.name}": group for group in groups}
    key = choose("Group", list(named), name="group")
    group = named[key]
    panel = audit.paradox(study, group)
    st.markdown(f"**{panel.sentence}**")
    table_of_figures(
        f"Coefficients of {group.name}",
        ("Figure", "Value", "Items", "What it says", "Notes"),
        [
            (
                COEFFICIENTS[name][0],
                spell(one, percent=name == "agreement"),
                f"{one.n:,}",
                COEFFICIENTS[name][1],
                "; ".join(one.notes),
            )
            for name, one in panel.coefficients.items()
        ],
    )
    st.caption(
        "All figures of the same labels. α falls where nearly all verdicts are alike although experts agree; AC1 does"
        " not. None of them is to be picked for being the highest."
    )
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown("**Where one expert says it, another does too**")
        table_of_figures(
            "Specific agreement",
            ("Verdict", "Share of labels", "Specific agreement"),
            [
                (str(verdict), f"{panel.shares.get(str(verdict), 0):.0%}", spell(one, percent=True))
                for verdict, one in panel.specific.items()
            ],
        )
        st.caption(f"Prevalence index {spell(panel.prevalence_index)}: 0 balanced, 1 all alike.")
    with right:
        st.markdown("**Pairs of labels of one item**")
        pairs = audit.coincidences(study, group)
        table_of_figures(
            "Pairs of labels of one item",
            ("One expert", *pairs.columns.tolist()),
            [(str(word), *(f"{number:,.1f}" for number in row)) for word, row in pairs.iterrows()],
        )
    if may_see(Seen.RATER_NAMES, study) and group.kind is Kind.METRIC:
        _pairs(study, group)
    items_below(
        study,
        audit.divided_items(study, group),
        heading="Items on which experts differ, the most divided first",
        empty="Experts do not differ on any item of this group.",
    )


def _pairs(study: str, group: Group) -> None:
    pairs = [
        {"Raters": f"{one} and {other}", "Items": kappa.n, "Cohen’s κ": spell(kappa)}
        for (one, other), kappa in audit.rater_pairs(study, group).items()
    ]
    with st.expander("Pairs of raters"):
        st.dataframe(pd.DataFrame(pairs), hide_index=True, width="stretch")

"""What a methodologist sees: the state of a study, what was rated, how far experts agree."""

import pandas as pd
import streamlit as st

from app import audit, workspace
from app.charts import forest
from app.wording import count, spell
from impactbench.domain import Role
from reviews import evidence, visibility
from reviews.evidence import ALL, AgreementRow, Coverage
from reviews.visibility import Seen, Viewer
from validation.results import Estimate

READERS = (Role.METHODOLOGIST, Role.MAINTAINER)
CUT_OFF = 0.667

COEFFICIENTS = {
    "alpha_ordinal": (
        "Krippendorff’s α, ordinal",
        "1 no disagreement, 0 as by chance; a fail against a pass counts more",
    ),
    "alpha_nominal": ("Krippendorff’s α, nominal", "the same, every disagreement counts alike"),
    "fleiss": ("Fleiss’ κ", "the same scale; items with two ratings or more"),
    "ac1": ("Gwet’s AC1", "chance-corrected, little moved by how common a pass is"),
    "bp": ("Brennan–Prediger", "chance taken as one over the number of categories"),
    "agreement": ("Percent agreement", "share of agreeing pairs, mean over items; not corrected for chance"),
}


def study_in_view() -> str:
    """The study to show, or the page ends with what to do first."""
    workspace.require_role(*READERS)
    study = workspace.study_in_view()
    if study is None:
        st.title("No study yet")
        st.write("Nothing has been imported so far. Bring in a run folder of the pipeline first:")
        st.code("impactbench import run path/to/benchmark", language=None)
        st.stop()
    return study


def may_see(what: Seen, study: str) -> bool:
    """Whether whoever looks may see something of a study, as it stands."""
    looking = workspace.require_role(*READERS)
    stage = visibility.stage_of_study(workspace.engine(), study)
    return visibility.may_see(Viewer.of(looking.role), what, stage)


def coverage() -> None:
    """What was rated, by how many, and what was not."""
    study = study_in_view()
    st.title("Coverage")
    rows = evidence.coverage(audit.tables(study))
    whole = rows[0]
    if not whole.items:
        _nothing_asked(study)
        return
    none, one, two, more = whole.by_raters
    st.markdown(
        f"**{count(two + more, 'item')} of {whole.items:,} have two raters or more.** {count(one, 'item')} with one"
        f" rater can show no disagreement, and {count(none, 'item')} without any can show nothing."
    )
    st.caption("An item is one conversation under one metric.")
    st.dataframe(_coverage_table(rows), hide_index=True, width="stretch")
    if whole.components > 1:
        st.warning(
            f"The raters fall into {whole.components} groups that have no item in common: raters of different groups"
            " cannot be compared."
        )
    _reasons(audit.tables(study).assignments)


def _nothing_asked(study: str) -> None:
    st.write("Nobody has been asked to rate anything of this study yet. Open a review set:")
    st.code(
        f"impactbench review open {study} --overlap 3 --seed 7 --rater NAME:internal --rater NAME:external",
        language=None,
    )


def _coverage_table(rows: list[Coverage]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "Metric": row.group,
                "Items": row.items,
                "no rater": row.by_raters[0],
                "one rater": row.by_raters[1],
                "two": row.by_raters[2],
                "three or more": row.by_raters[3],
                "Raters": row.raters,
                "Labels": row.labels,
                "can’t judge": row.cannot_judge,
                "skipped": row.skipped,
                "not yet rated": row.not_yet_rated,
            }
            for row in rows
        ]
    )


def _reasons(assignments: pd.DataFrame) -> None:
    withheld = assignments[assignments["no_verdict_because"].fillna("") != ""]
    if withheld.empty:
        return
    st.header("Why there is no verdict")
    table = withheld.groupby(["title", "status", "no_verdict_because"]).size().rename("Answers").reset_index()
    table.columns = ["Metric", "Status", "Reason", "Answers"]
    st.dataframe(table.assign(Reason=table["Reason"].str.replace("_", " ")), hide_index=True, width="stretch")


def agreement() -> None:
    """How far experts agree, pooled and metric by metric."""
    study = study_in_view()
    st.title("Agreement among experts")
    rows = audit.agreement(study)
    whole = rows[0]
    if not whole.found.n_pairable_items:
        st.write("No item has two ratings yet, so there is no agreement to speak of.")
        _nothing_asked(study)
        return
    st.markdown(_headline(whole))
    chosen = st.segmented_control(
        "Coefficient",
        list(COEFFICIENTS),
        format_func=lambda key: COEFFICIENTS[key][0],
        default="alpha_ordinal",
    )
    key = chosen or "alpha_ordinal"
    name, meaning = COEFFICIENTS[key]
    st.caption(f"{name}: {meaning}. Lines are 95% intervals.")
    estimates = [(row.group, getattr(row.found, key)) for row in rows]
    st.altair_chart(forest(estimates, title=name, cut_off=CUT_OFF if key.startswith("alpha") else None))
    st.dataframe(_agreement_table(rows), hide_index=True, width="stretch")
    st.caption(
        "Intervals: jackknife of log(1 − coefficient), leaving out one item at a time, or one metric at a time where"
        " several are pooled; percent agreement: Wilson. Under 30 items the intervals of α and κ are not to be relied"
        " on: read percent agreement and AC1 beside them."
    )
    _one_metric(study, rows)


def _headline(whole: AgreementRow) -> str:
    found = whole.found
    alpha: Estimate = found.alpha_ordinal
    if alpha.low is None or alpha.value is None:
        verdict = f"ordinal α is {spell(alpha)}"
    elif alpha.low >= CUT_OFF:
        verdict = f"ordinal α is {spell(alpha)}, all of it above the cut-off of {CUT_OFF}"
    elif alpha.value >= CUT_OFF:
        verdict = f"ordinal α is {spell(alpha)}, its lower end under the cut-off of {CUT_OFF}"
    else:
        verdict = f"ordinal α is {spell(alpha)}, below the cut-off of {CUT_OFF}"
    single = found.n_items - found.n_pairable_items
    rest = f" {count(single, 'item')} with one rating can show no disagreement." if single else ""
    return (
        f"**Over {count(found.n_pairable_items, 'item')} with two ratings or more, experts agreed on"
        f" {spell(found.agreement, percent=True)} of pairs; {verdict}.**{rest}"
    )


def _agreement_table(rows: list[AgreementRow]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "Group": row.group,
                "Items (2+ ratings)": row.found.n_pairable_items,
                "Ratings": row.found.n_ratings,
                **{
                    name: spell(getattr(row.found, key), percent=key == "agreement")
                    for key, (name, _) in COEFFICIENTS.items()
                },
            }
            for row in rows
        ]
    )


def _one_metric(study: str, rows: list[AgreementRow]) -> None:
    st.header("Pairs of raters, and the items they differ on")
    group = st.selectbox("Metric", [row.group for row in rows if not row.pooled] or [ALL])
    row = next(row for row in rows if row.group == group)
    if may_see(Seen.RATER_NAMES, study):
        _pairs(row)
    notes = dict.fromkeys(note for key in COEFFICIENTS for note in getattr(row.found, key).notes)
    for note in notes:
        st.text(note)
    assignments = audit.tables(study).assignments
    split = evidence.split_items(assignments[assignments["title"] == group])
    if split.empty:
        st.write("Experts do not differ on any item of this metric.")
    else:
        st.write(f"Experts differ on {count(len(split), 'item')}, the most divided first.")
        st.dataframe(split.rename(columns=str.capitalize), hide_index=True, width="stretch")


def _pairs(row: AgreementRow) -> None:
    pairs = [
        {
            "Raters": f"{a} and {b}",
            "Items": plain.n,
            "Cohen’s κ": spell(plain),
            "Cohen’s κ, quadratic": spell(row.found.cohen_quadratic[a, b]),
        }
        for (a, b), plain in row.found.cohen.items()
    ]
    st.dataframe(pd.DataFrame(pairs), hide_index=True, width="stretch")

"""Teens and adults: the difference the judge finds, beside the difference experts find."""

import pandas as pd
import streamlit as st

from app import audit
from app.components.forest import show_forest
from app.components.item_list import items_below
from app.views.judge import choose_policy, judge_in_view
from app.views.methodologist import study_in_view
from app.wording import spell
from reviews.blindness.visibility import Seen


def ages() -> None:
    """Whether the judge errs differently by age."""
    study = study_in_view(Seen.OTHER_LABELS, Seen.VERDICT)
    st.title("Teens and adults")
    judge = judge_in_view(study)
    if judge is None:
        return
    rows = audit.age_differences(study, judge, choose_policy())
    if not rows:
        st.write("The conversations have no age, or all have the same: there is no difference to speak of.")
        return
    whole = rows[0]
    st.markdown(
        f"**Teens minus adults, in points of pass rate: the judge finds {spell(whole.judge)}, experts find"
        f" {spell(whole.experts)} on the same items; the judge’s excess is {spell(whole.excess)}.**"
    )
    show_forest(
        [
            (f"{row.group}, {who}", estimate)
            for row in rows
            for who, estimate in (("judge", row.judge), ("experts", row.experts))
        ],
        title="Pass rate, teens minus adults",
        cut_off=0,
        lowest=-1.0,
    )
    st.dataframe(
        pd.DataFrame(
            [
                {
                    "Group": row.group,
                    "Judge, everything judged": spell(row.judge_all),
                    "Judge, rated items": spell(row.judge),
                    "Experts": spell(row.experts),
                    "Judge’s excess": spell(row.excess),
                    "Items of teens": row.n_teen,
                    "of adults": row.n_adult,
                }
                for row in rows
            ]
        ),
        hide_index=True,
        width="stretch",
    )
    st.caption("Means over metrics that have both ages; metrics are the unit of the intervals.")
    items_below(
        study,
        audit.under_figure(study, judge).drop(columns="model"),
        heading="Items, those on which judge and experts differ most first",
        empty="Experts and judge have no item in common.",
    )

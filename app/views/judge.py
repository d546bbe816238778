"""The judge beside the experts: where they agree, where it errs, and under which reading of the labels."""

import pandas as pd
import streamlit as st

from app import audit
from app.charts import forest
from app.views.methodologist import study_in_view
from app.wording import count, spell
from reviews.evidence import JudgeRow
from validation.mapping import Borderline, Policy, Tie

_BORDERLINE: dict[Borderline, str] = {
    "half": "counts half for each",
    "pass": "counts as a pass",
    "fail": "counts as a fail",
    "drop": "is left out",
}
_TIES: dict[Tie, str] = {
    "half": "counts half for each",
    "adjudicated": "is settled by adjudication",
    "drop": "is left out",
    "worst": "counts as a fail",
}
_RATES = {
    "accuracy": ("Accuracy", "share of items on which judge and experts agree"),
    "sensitivity": ("Sensitivity", "of what experts pass, the share that the judge passes"),
    "specificity": ("Specificity", "of what experts fail, the share that the judge fails"),
    "kappa": ("Cohen’s κ", "agreement beyond chance: 1 perfect, 0 as by chance"),
}


def judge_and_experts() -> None:
    """How far the judge can be trusted, measured against the experts."""
    study = study_in_view()
    st.title("Judge and experts")
    policy = _choose_policy()
    rows = audit.judges(study, policy)
    if not rows:
        st.write("No judge has been recorded for the conversations of this study.")
        return
    names = list(dict.fromkeys(row.judge for row in rows))
    judge = st.selectbox("Judge", names)
    shown = [row for row in rows if row.judge == judge]
    whole = shown[0]
    if whole.found.accuracy.value is None:
        st.write(f"There is nothing to compare yet: {spell(whole.found.accuracy)}.")
        return
    st.markdown(
        f"**On {count(whole.found.accuracy.n, 'item')} the judge agrees with the experts on"
        f" {spell(whole.found.accuracy, percent=True)}. It passes {spell(whole.found.false_pass_rate, percent=True)} of"
        f" what the experts fail, and fails {spell(whole.found.false_fail_rate, percent=True)} of what they pass.**"
    )
    st.caption(
        f"Reading of the labels: {policy.name}. The judge’s first run is compared, the one that was published."
    )
    if policy.borderline == "drop":
        st.warning("Leaving ambiguous items out always flatters the judge.")
    _matrix(whole)
    chosen = st.segmented_control(
        "Figure", list(_RATES), format_func=lambda key: _RATES[key][0], default="accuracy"
    )
    key = chosen or "accuracy"
    name, meaning = _RATES[key]
    st.caption(f"{name}: {meaning}. Lines are 95% intervals.")
    lowest = -0.5 if key == "kappa" else 0.0
    st.altair_chart(
        forest([(row.group, getattr(row.found, key)) for row in shown], title=name, lowest=lowest)
    )
    st.dataframe(_table(shown), hide_index=True, width="stretch")
    if any(getattr(whole.found, key).notes for key in _RATES):
        st.caption(
            "Pooled figures take metrics as the unit: with fewer than ten metrics their intervals are rough, and with"
            " fewer than five there is none, only the single metrics."
        )


def _choose_policy() -> Policy:
    left, middle, right = st.columns(3, vertical_alignment="bottom")
    borderline = left.selectbox(
        "A borderline label …", list(_BORDERLINE), format_func=_BORDERLINE.__getitem__, key="borderline"
    )
    tie = middle.selectbox("A tie …", list(_TIES), format_func=_TIES.__getitem__, key="tie")
    singles = right.toggle("Include items with a single reviewer", value=True, key="singles")
    return Policy(borderline=borderline, tie=tie, singles="include" if singles else "exclude")


def _matrix(row: JudgeRow) -> None:
    """The items by the experts' verdict, undecided as a row of its own, and the judge's."""
    st.header("Who says what")
    words = ["Experts: fail", "Experts: undecided", "Experts: pass"]
    table = pd.DataFrame(row.three_way.astype(int), index=words, columns=["Judge: fail", "Judge: pass"])
    st.dataframe(table, width="content")
    missing = row.found.missing
    if missing.n_missing:
        st.caption(
            f"{count(missing.n_missing, 'item')} that experts rated have no verdict of the judge and are left out."
        )


def _table(rows: list[JudgeRow]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "Group": row.group,
                "Items": row.found.accuracy.n,
                **{name: spell(getattr(row.found, key)) for key, (name, _) in _RATES.items()},
                "False passes": spell(row.found.false_pass_rate),
                "False fails": spell(row.found.false_fail_rate),
            }
            for row in rows
        ]
    )

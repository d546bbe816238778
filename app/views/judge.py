"""The judge beside the experts: where they agree, where it errs, under every reading of the labels, and beside an expert."""

import pandas as pd
import streamlit as st

from app import audit
from app.charts import curve
from app.components.forest import show_forest
from app.components.item_list import items_below
from app.components.permalinks import choose, switch
from app.components.plain_table import figures_of, table_of_figures
from app.views.methodologist import study_in_view
from app.wording import count, spell, spell_bounds
from reviews.audit.items import Judge
from reviews.audit.judge import BY, CLAIMED_ACCURACY, JudgeGroup
from reviews.blindness.visibility import Seen
from validation.mapping import COUNTS, Borderline, Policy, Tie

_BORDERLINE: tuple[Borderline, ...] = ("half", "pass", "fail", "drop")
_TIES: tuple[Tie, ...] = ("half", "adjudicated", "drop", "worst")
_CLAIM = {
    "robust": "holds under each of them",
    "mixed": "holds under some and fails under others",
    "fails": "holds under none",
    "not estimable": "cannot be checked",
}
_SINGLES = {"include": "are included", "exclude": "are left out"}
_AT_ONCE = 200
"""Metrics up to which all groups are shown at once."""
_BY = {kind: f"By {kind}" for kind in BY}
_RATES = {
    "accuracy": ("Accuracy", "share of items on which judge and experts agree"),
    "sensitivity": ("Sensitivity", "of what experts pass, the share that the judge passes"),
    "specificity": ("Specificity", "of what experts fail, the share that the judge fails"),
    "kappa": ("Cohen’s κ", "agreement beyond chance: 1 perfect, 0 as by chance"),
}


def judge_in_view(study: str) -> Judge | None:
    """The judge that a page is about; None where there is none, which the page says."""
    known = audit.judges(study)
    if not known:
        st.write("No judge has been recorded for the conversations of this study.")
        return None
    return choose("Judge", known, name="judge", spelled=lambda one: one.name)


def choose_policy() -> Policy:
    """How labels become verdicts, kept in the address."""
    left, middle, right = st.columns(3, vertical_alignment="bottom")
    with left:
        borderline = choose("A borderline label …", _BORDERLINE, name="borderline", shown=COUNTS.__getitem__)
    with middle:
        tie = choose("A tie …", _TIES, name="tie", shown=COUNTS.__getitem__)
    with right:
        singles = choose(
            "Items with a single reviewer …", list(_SINGLES), name="singles", shown=_SINGLES.__getitem__
        )
    return Policy(borderline=borderline, tie=tie, singles="include" if singles == "include" else "exclude")


def judge_and_experts() -> None:
    """How far the judge can be trusted, measured against the experts."""
    study = study_in_view(Seen.OTHER_LABELS, Seen.VERDICT)
    st.title("Judge and experts")
    judge = judge_in_view(study)
    if judge is None:
        return
    policy = choose_policy()
    # Of many metrics each kind of groups takes seconds, so that only the kind that is asked for is computed.
    several = len(audit.tables(study).metrics) > _AT_ONCE
    shown = audit.judge_by_group(study, judge, policy, by=_asked_for() if several else None)
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
        f"Reading of the labels: {policy.words}. The judge’s first run is compared, the one that was published."
    )
    if policy.borderline == "drop":
        st.warning("Leaving ambiguous items out always flatters the judge.")
    _matrix(whole)
    key = switch("Figure", {key: name for key, (name, _) in _RATES.items()}, name="figure")
    name, meaning = _RATES[key]
    if several:
        switch("Groups", _BY, name="by")
    st.caption(f"{name}: {meaning}. Lines are 95% intervals.")
    lowest = -0.5 if key == "kappa" else 0.0
    rows = [
        (row.group if row.kind == "all metrics" else f"{row.kind}: {row.group}", getattr(row.found, key))
        for row in shown
    ]
    show_forest(rows, title=name, lowest=lowest)
    st.dataframe(_table(shown), hide_index=True, width="stretch")
    st.caption(
        "Pooled figures take metrics as the unit: with fewer than ten metrics their intervals are rough, and with"
        " fewer than five there is none, only the single metrics."
    )
    _ceiling(study, judge)
    _readings(study, judge)
    _metrics(study, judge, policy)
    items_below(
        study,
        audit.differing_items(study, judge),
        heading="Items on which the judge differs from every expert",
        empty="There is no item on which the judge differs from every expert.",
    )


def _asked_for() -> str:
    """The kind of groups that was chosen further down."""
    chosen = st.session_state.get("switch-by") or st.query_params.get("by")
    return chosen if chosen in _BY else next(iter(_BY))


def _matrix(row: JudgeGroup) -> None:
    """The items by the experts' verdict, undecided as a row of its own, and the judge's."""
    st.header("Who says what")
    words = ["Experts: fail", "Experts: undecided", "Experts: pass"]
    table_of_figures(
        "Items by the verdict of experts and judge",
        ("Verdict", "Judge: fail", "Judge: pass"),
        [
            (word, *(f"{number:,.0f}" for number in numbers))
            for word, numbers in zip(words, row.three_way, strict=True)
        ],
    )
    missing = row.found.missing
    if missing.n_missing:
        st.caption(
            f"{count(missing.n_missing, 'item')} that experts rated have no verdict of the judge and are left out."
        )


def _table(rows: list[JudgeGroup]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "Of": row.kind,
                "Group": row.group,
                "Items": row.found.accuracy.n,
                **{name: spell(getattr(row.found, key)) for key, (name, _) in _RATES.items()},
                "False passes": spell(row.found.false_pass_rate),
                "False fails": spell(row.found.false_fail_rate),
            }
            for row in rows
        ]
    )


def _ceiling(study: str, judge: Judge) -> None:
    st.header("Beside an expert, on the same references")
    rows = [
        {
            "A borderline label": COUNTS[one.borderline],
            "An expert": spell(one.found.human, percent=True),
            "The judge": spell(one.found.judge, percent=True),
            "Judge minus expert": spell(one.found.difference),
            f"As good as an expert, within {one.found.margin:.0%}": {
                None: "cannot be told",
                True: "yes",
                False: "not shown",
            }[one.found.non_inferior],
            "Pairs of expert and item": one.found.human.n,
            "without a majority": one.found.tied,
        }
        for one in audit.ceilings(study, judge)
    ]
    figures_of("An expert and the judge beside the same references", rows)
    st.caption(
        "Each expert in turn is set beside the majority of the others, and the judge beside the same majority. The"
        " judge against everybody’s majority must not be compared with experts against each other."
    )


def _readings(study: str, judge: Judge) -> None:
    st.header("Under every reading of the labels")
    found = audit.readings(study, judge)
    spread, claim = (
        found.curve.spread("accuracy"),
        found.curve.claim("accuracy", at_least=CLAIMED_ACCURACY),
    )
    if spread.minimum.value is None:
        st.write("No admissible reading has ten items with both verdicts: there is nothing to compare.")
        return
    st.markdown(
        f"**Over {spread.cells} admissible readings the accuracy goes from {spell(spread.minimum, percent=True)} to"
        f" {spell(spread.maximum, percent=True)}; item by item, no reading can put it outside"
        f" {spell_bounds(found.bounds)}. “At least {CLAIMED_ACCURACY:.0%}” {_CLAIM[claim.verdict]}.**"
    )
    st.text(
        f"A borderline label counted half: {spell(found.half, percent=True)}, n {found.half.n}. Left out:"
        f" {spell(found.dropped, percent=True)}, n {found.dropped.n}."
    )
    cells = found.curve.curve("accuracy")
    st.altair_chart(
        curve([(cell.policy.words, cell.accuracy) for cell in cells], title="Accuracy", line=CLAIMED_ACCURACY)
    )
    rows = [
        {
            "Accuracy": spell(cell.accuracy),
            "Items": cell.n,
            "Order": cell.policy.order.replace("_", " "),
            "Borderline": cell.policy.borderline,
            "Aggregation": cell.policy.aggregation,
            "Tie": cell.policy.tie,
            "Singles": cell.policy.singles,
        }
        for cell in cells
    ]
    with st.expander("The choices under each point of the curve"):
        figures_of("Accuracy under every reading", rows)
        st.caption(
            f"Range over the width of an interval: {spell(spread.vibration_ratio)}; above 1 the choice matters more than"
            f" chance. Admissible set: SHA-256 {found.admissible_hash[:12]}…"
        )


def _metrics(study: str, judge: Judge, policy: Policy) -> None:
    st.header("By metric")
    found = audit.judge_by_metric(study, judge, policy)
    rows = [
        {
            "Metric": one.title,
            "Polarity": one.polarity,
            "Agrees on": f"{one.agreeing:g} of {one.raw.n}",
            "As counted": spell(one.raw, percent=True),
            "Drawn towards the others": spell(one.shrunken, percent=True),
            f"Probability of less than {CLAIMED_ACCURACY:.0%}": "not known"
            if one.below.value is None
            else f"{one.below.value:.2f}",
            "Check first": "polarity or definition may be turned round"
            if one.alarm and one.alarm.suspected
            else "",
        }
        for one in found
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True, width="stretch")

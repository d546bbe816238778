"""What published figures imply: type in what a paper prints, and see what it says and what it leaves open."""

from collections.abc import Callable
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from app import workspace
from app.views.methodologist import READERS
from app.wording import count, spell
from reviews.report.spelling import first_of
from validation.ceilings import accuracy_ceiling
from validation.forensics import (
    LARGEST_N,
    CompatibleTables,
    compatible_sizes,
    compatible_tables,
    published_table,
    review_designs,
)
from validation.published_retest import implied_prevalence, pairwise_from_unanimous

_EXAMPLES: dict[str, dict[str, str]] = {
    "figures": {"n": "36", "agreement": "83.3", "kappa": "0.667", "decimals": "3"},
    "table": {"both_pass": "15", "human_only": "3", "judge_only": "3", "both_fail": "15"},
    "retest": {"unanimous": "82.5", "again_kappa": "0.731"},
    "design": {"ratings": "171", "items": "36", "each": "9", "most": "5", "fewest": "2"},
}
_VIEWS = {
    "figures": "Agreement and kappa",
    "table": "A table of four counts",
    "retest": "A judge asked three times",
    "design": "How many raters",
}
_LARGEST_LISTED = 200
_INK = "#3f87c9"


def forensics() -> None:
    """Four questions to published figures; the address holds what was typed."""
    workspace.require_role(*READERS)
    st.title("Check published figures")
    st.write(
        "Published figures are rounded counts. Type in what a paper prints, and see which results are behind it, and what"
        " it leaves open. Nothing here comes from a study of your own."
    )
    asked = st.query_params.get("view", "figures")
    names = list(_VIEWS)
    view = st.segmented_control(
        "What the paper prints",
        names,
        format_func=_VIEWS.__getitem__,
        default=asked if asked in names else "figures",
        key="forensics-view",
    )
    view = view or "figures"
    st.query_params["view"] = view
    if st.button("Fill in an example", key=f"forensics-example-{view}"):
        for name, value in _EXAMPLES[view].items():
            st.query_params[name] = value
            st.session_state.pop(f"forensics-{name}", None)
        st.rerun()
    _PAGES[view]()


def _figures() -> None:
    first, second, third, fourth = st.columns(4)
    n = int(_number(first, "Items", "n", default=36, least=1, most=LARGEST_N))
    percent = _number(second, "Agreement, %", "agreement", default=83.3, least=0.0, most=100.0, step=0.1)
    kappa = _number(third, "Cohen’s κ", "kappa", default=0.667, least=-1.0, most=1.0, step=0.001)
    decimals = int(_number(fourth, "Decimals", "decimals", default=3, least=1, most=6))
    st.caption(
        "Agreement is the share of items on which both say the same; κ takes off what chance would give. “Decimals” are those"
        " to which both were rounded, as shares: 83.3% is 0.833, three decimals."
    )
    found = compatible_tables(n=n, agreement=percent / 100, kappa=kappa, decimals=decimals)
    if not found.possible:
        st.markdown(
            f"**No result of {count(n, 'item')} rounds to an agreement of {percent:g}% and a κ of {kappa:g}.** Either the"
            " number of items is another, or the two figures are not of the same table."
        )
        _sizes(percent, kappa, decimals)
        return
    st.markdown(f"**{_what_is_left_open(found)}**")
    _intervals(found)
    st.header("Every result that prints like this")
    st.caption(
        "Each point is one table of counts. Sensitivity: of what people pass, the share that the judge passes. Specificity: of"
        " what people fail, the share that the judge fails."
    )
    st.altair_chart(_picture(found))
    words = ["Both pass", "Only people pass", "Only the judge passes", "Both fail"]
    st.dataframe(pd.DataFrame(found.tables, columns=words), hide_index=True, width="stretch")
    _sizes(percent, kappa, decimals)


def _what_is_left_open(found: CompatibleTables) -> str:
    tables = count(len(found.tables), "different result")
    ranges = [
        f"{name} anywhere between {low:.0%} and {high:.0%}" if high > low else f"{name} at {low:.0%}"
        for name, span in (("sensitivity", found.sensitivity), ("specificity", found.specificity))
        if span is not None
        for low, high in [span]
    ]
    verb = "prints" if len(found.tables) == 1 else "print"
    return f"{tables} of {count(found.n, 'item')} {verb} like this, with {' and '.join(ranges)}."


def _intervals(found: CompatibleTables) -> None:
    rows = [
        {"Figure": "Agreement", "With its 95% interval": spell(found.agreement, percent=True)},
        {"Figure": "Cohen’s κ", "With its 95% interval": spell(found.kappa)},
    ]
    if found.expected_agreement is not None:
        low, high = found.expected_agreement
        shown = f"{low:.0%}" if f"{low:.0%}" == f"{high:.0%}" else f"{low:.0%} to {high:.0%}"
        rows.append(
            {"Figure": "Agreement by chance alone", "With its 95% interval": f"{shown}, as κ implies"}
        )
    st.dataframe(pd.DataFrame(rows), hide_index=True, width="stretch")
    st.caption(
        "The intervals take items as independent. Items of few metrics, or of few conversations, know less."
    )


def _sizes(percent: float, kappa: float, decimals: int) -> None:
    sizes = compatible_sizes(agreement=percent / 100, kappa=kappa, largest=_LARGEST_LISTED, decimals=decimals)
    if not sizes:
        st.text(f"No number of items up to {_LARGEST_LISTED} gives these two figures.")
        return
    shown = first_of([*map(str, sizes)], most=20)
    st.text(f"Numbers of items, up to {_LARGEST_LISTED}, that can give both figures: {shown}.")


def _picture(found: CompatibleTables) -> Any:
    rates = pd.DataFrame(found.rates, columns=["sensitivity", "specificity"]).dropna()
    axis = alt.Scale(domain=[0, 1], nice=False)
    return (
        alt.Chart(rates)
        .mark_circle(size=70, opacity=0.6, color=_INK)
        .encode(
            x=alt.X("sensitivity:Q", title="Sensitivity", scale=axis, axis=alt.Axis(format="%")),
            y=alt.Y("specificity:Q", title="Specificity", scale=axis, axis=alt.Axis(format="%")),
            tooltip=[
                alt.Tooltip("sensitivity", title="Sensitivity", format=".1%"),
                alt.Tooltip("specificity", title="Specificity", format=".1%"),
            ],
        )
        .properties(height=320)
    )


def _table() -> None:
    columns = st.columns(4)
    names = ("both_pass", "human_only", "judge_only", "both_fail")
    words = ("Both pass", "Only people pass", "Only the judge passes", "Both fail")
    counts = [
        int(_number(column, word, name, default=int(_EXAMPLES["table"][name]), least=0, most=LARGEST_N))
        for column, word, name in zip(columns, words, names, strict=True)
    ]
    try:
        found = published_table(
            both_pass=counts[0], only_human_passes=counts[1], only_judge_passes=counts[2], both_fail=counts[3]
        )
    except ValueError:
        st.text(f"Fill in counts that add up to between 1 and {LARGEST_N} items.")
        return
    st.markdown(
        f"**On {count(found.table.n, 'item')} they agree on {spell(found.accuracy, percent=True)}, and κ is"
        f" {spell(found.kappa)}.**"
    )
    rows = {
        "Agreement": spell(found.accuracy, percent=True),
        "Cohen’s κ": spell(found.kappa),
        "Cohen’s κ, large-sample interval": spell(found.kappa_large_sample),
        "Matthews’ correlation": spell(found.mcc),
        "Sensitivity (of what people pass, passed by the judge)": spell(found.sensitivity, percent=True),
        "Specificity (of what people fail, failed by the judge)": spell(found.specificity, percent=True),
        "False passes (of what people fail, passed by the judge)": spell(found.false_pass_rate, percent=True),
        "Of the judge’s passes, passed by people": spell(found.ppv, percent=True),
        "Of the judge’s fails, failed by people": spell(found.npv, percent=True),
    }
    st.dataframe(
        pd.DataFrame({"Figure": rows.keys(), "With its 95% interval": rows.values()}),
        hide_index=True,
        width="stretch",
    )
    st.caption(
        "The intervals take items as independent. Items of few metrics, or of few conversations, know less."
    )


def _retest() -> None:
    left, right = st.columns(2)
    unanimous = _number(
        left, "All three runs alike, %", "unanimous", default=82.5, least=0.0, most=100.0, step=0.1
    )
    kappa = _number(right, "Fleiss’ κ", "again_kappa", default=0.731, least=-0.5, most=1.0, step=0.001)
    pairwise = pairwise_from_unanimous(unanimous / 100)
    st.markdown(
        f"**With three yes-or-no runs, {unanimous:g}% alike and {pairwise:.1%} of pairs alike are one and the same figure, and"
        f" no comparison of this judge with anything can be expected above an accuracy of {accuracy_ceiling(pairwise):.1%}.**"
    )
    prevalence = implied_prevalence(agreement=pairwise, kappa=kappa)
    if prevalence is None:
        st.text(
            f"No share of “present” verdicts gives a kappa of {kappa:g} beside it: the two figures do not go together."
        )
        return
    low, high = prevalence
    st.text(
        f"The kappa of {kappa:g} says besides how often the judge said “present”: {low:.1%}, or {high:.1%}. Kappas of groups"
        " that differ in this share cannot be compared as steadiness."
    )


def _design() -> None:
    columns = st.columns(5)
    asked = (
        ("Ratings", "ratings", 171, 1, 5000),
        ("Items", "items", 36, 1, 2000),
        ("Items per metric", "each", 9, 1, 500),
        ("Raters per metric, at most", "most", 5, 1, 30),
        ("… at least", "fewest", 2, 1, 30),
    )
    ratings, items, each, most, fewest = (
        int(_number(column, word, name, default=default, least=least, most=top))
        for column, (word, name, default, least, top) in zip(columns, asked, strict=True)
    )
    if items // each > 40:
        st.text("More than 40 metrics: too many ways to list them.")
        return
    found = review_designs(
        ratings=ratings, items=items, items_per_metric=each, most_raters=most, fewest_raters=fewest
    )
    if not found:
        st.markdown(
            f"**{count(ratings, 'rating')} of {count(items, 'item')} cannot come from raters who each rate all {each} items"
            " of a metric.**"
        )
        return
    word = "way" if len(found) == 1 else "ways"
    st.markdown(
        f"**{len(found):,} {word} to spread {count(ratings, 'rating')} over {count(items, 'item')}, if each rater rates all"
        f" {each} items of a metric.**"
    )
    st.dataframe(
        pd.DataFrame(
            {
                "Raters of each metric": [", ".join(map(str, one.raters_per_metric)) for one in found[:200]],
                "Groups that share no rater": [one.n_components for one in found[:200]],
            }
        ),
        hide_index=True,
        width="stretch",
    )
    st.caption("Raters of different groups cannot be compared, unless somebody rated more than one metric.")


_PAGES: dict[str, Callable[[], None]] = {
    "figures": _figures,
    "table": _table,
    "retest": _retest,
    "design": _design,
}


def _number(
    place: Any, label: str, name: str, *, default: float, least: float, most: float, step: float = 1
) -> float:
    """A number that the address holds; what is not one, or out of range, gives way to the default."""
    whole = isinstance(step, int)
    try:
        asked = float(st.query_params.get(name, default))
    except ValueError:
        asked = default
    kept = min(max(asked, least), most) if asked == asked else default
    kind: Callable[[float], float] = int if whole else float
    chosen = place.number_input(
        label,
        min_value=kind(least),
        max_value=kind(most),
        value=kind(kept),
        step=kind(step),
        format=None if whole else f"%.{1 if step == 0.1 else 3}f",
        key=f"forensics-{name}",
    )
    st.query_params[name] = f"{chosen:g}"
    return float(chosen)

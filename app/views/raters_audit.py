"""The raters: words before numbers, groups before outliers, and no leaderboard."""

import pandas as pd
import streamlit as st

from app import audit, workspace
from app.components.forest import show_forest
from app.components.item_list import items_below
from app.components.permalinks import choose
from app.views.methodologist import study_in_view
from app.wording import count, spell, spell_p
from reviews.audit.raters import RaterAudit
from reviews.blindness.visibility import Seen
from reviews.gold import gold_results


def raters_audit() -> None:
    """Who leans which way, who says the same again, and who agrees with whom."""
    study = study_in_view(Seen.OTHER_LABELS, Seen.RATER_NAMES, Seen.GOLD_MARKS)
    st.title("Raters")
    found = audit.rater_audit(study)
    if not found.raters:
        st.write("Nobody has rated an item that somebody else rated too, so nothing can be said of raters.")
        return
    st.markdown(f"**{_in_groups(found)}**")
    st.caption(
        "Raters who differ may hold a coherent view of their own. This page helps to talk with them; it ranks nobody."
    )
    _groups(found)
    st.header("How far each leans from the others on shared items")
    st.markdown(f"**{found.sentence}**")
    show_forest(
        [(str(row.rater), row.lean) for row in found.raters],
        title="Own score minus the others’ (fail 0, borderline a half, pass 1)",
        cut_off=0,
        lowest=-1.0,
    )
    st.dataframe(_table(found), hide_index=True, width="stretch")
    st.caption(
        "“Clear” needs a lean of a tenth of the scale and p < .05 by permutation, allowing for the number of raters."
        " Drift is the pass share in the last third of somebody’s items minus that in the first."
    )
    _gold(study)
    st.header("The answers of one rater")
    _items(study, found)


def _in_groups(found: RaterAudit) -> str:
    """The groups of raters before anything is said of one of them."""
    sizes = pd.Series([row.cluster for row in found.raters if row.cluster is not None]).value_counts()
    if len(sizes) < 2:
        return (
            f"{count(len(found.raters), 'rater')} in one group: nobody stands apart by whom they agree with."
        )
    shown = " and ".join(map(str, sizes.sort_values(ascending=False)))
    return f"By whom they agree with, {count(len(found.raters), 'rater')} fall into groups of {shown}."


def _items(study: str, found: RaterAudit) -> None:
    rater = choose("Whose answers to read", [str(row.rater) for row in found.raters], name="rater")
    items_below(
        study,
        audit.items_of_rater(study, rater),
        heading=f"What {rater} answered, furthest from the others first",
        empty="Nothing was answered.",
    )


def _groups(found: RaterAudit) -> None:
    st.header("Who agrees with whom")
    if not found.within:
        st.write("With fewer than three raters there are no groups.")
        return
    members: dict[int, list[str]] = {}
    for row in found.raters:
        if row.cluster is not None:
            members.setdefault(row.cluster, []).append(str(row.rater))
    rows = [
        {
            "Group": number,
            "Raters": ", ".join(names),
            "α among themselves": spell(found.within[number]) if number in found.within else "one rater",
        }
        for number, names in sorted(members.items())
    ]
    rows.append({"Group": "all", "Raters": "everybody", "α among themselves": spell(found.whole)})
    st.dataframe(pd.DataFrame(rows).astype({"Group": str}), hide_index=True, width="stretch")
    st.caption(
        "Intervals leave out one item at a time; that of the same α on the page on agreement leaves out one metric at a time"
        " and is wider."
    )
    with st.expander("Share of shared items on which two raters agree"):
        shown = found.agreement.map(lambda share: "none shared" if pd.isna(share) else f"{share:.0%}")
        st.dataframe(shown.rename_axis("Rater").reset_index(), hide_index=True, width="stretch")


def _table(found: RaterAudit) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "Rater": str(row.rater),
                "In words": row.words,
                "Panel": row.panel,
                "Labels": row.labels,
                "Lean": spell(row.lean),
                "p, adjusted": "not tested"
                if row.p_adjusted is None
                else spell_p(row.p_adjusted).removeprefix("= "),
                "Severity (logits)": spell(row.logits),
                "Drift": spell(row.drift),
                "Same label again": spell(row.repeated, percent=True)
                if row.repeated.n
                else "nothing shown twice",
                "α of the others without": spell(row.without.alpha) if row.without else "",
                "Borderline": "" if row.borderline is None else f"{row.borderline:.0%}",
                "Can’t judge": row.cannot_judge,
                "Component": row.component,
            }
            for row in found.raters
        ]
    )


def _gold(study: str) -> None:
    st.header("Gold items")
    results = gold_results(workspace.engine(), study, audit.tables(study).assignments)
    if not results:
        st.write("No rater was given gold items.")
        return
    rows = [
        {
            "Rater": one.rater,
            "Given": one.given,
            "As expected": spell(one.accuracy, percent=True),
            "Alert": "almost surely fewer than 7 in 10" if one.alert else "",
        }
        for one in results
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True, width="stretch")

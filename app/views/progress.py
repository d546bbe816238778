"""How far the raters are, what is short and who could fill it."""

import pandas as pd
import streamlit as st

from app import workspace
from app.wording import count, spell
from impactbench.domain import Role
from impactbench.store import frames
from reviews.gold import GoldResult, gold_results
from reviews.pace import measure_pace
from reviews.progress import (
    count_by_metric,
    count_by_panel,
    count_by_rater,
    count_by_stratum,
    reminders,
)
from reviews.release import surplus_labels
from reviews.shortages import Short, find_shortages

_COLUMNS = {
    "review_set": "Review set",
    "rater": "Rater",
    "panel": "Panel",
    "metric": "Metric",
    "version": "Version",
    "stratum": "Stratum",
    "raters": "Raters",
    "items": "Items",
    "with_one_label": "With one label",
    "asked": "Asked",
    "done": "Done",
    "cannot_judge": "Can’t judge",
    "skipped": "Skipped",
    "waiting": "Waiting",
    "released": "Given up",
    "seen_at": "Last seen (UTC)",
    "labelled_at": "Answered (UTC)",
    "released_at": "Given up (UTC)",
    "because": "Why",
}


def progress() -> None:
    """Where a study's collecting stands, for whoever leads it."""
    workspace.require_role(Role.METHODOLOGIST, Role.MAINTAINER)
    study = workspace.study_in_view()
    st.title("Progress")
    if study is None:
        st.text("There is no study yet. Import a run first: impactbench import run FOLDER")
        return
    engine = workspace.engine()
    by_rater = count_by_rater(engine, study)
    if by_rater.empty:
        st.text(f"Nobody is asked to rate anything yet. Open a review set: impactbench review open {study}")
        return
    short = find_shortages(engine, study)
    _summary(by_rater, short)
    st.header("By rater")
    _table(by_rater.drop(columns="last_label_at"))
    st.header("What is short")
    _shortages(short, study)
    _gold(gold_results(engine, study))
    st.header("By panel")
    _table(count_by_panel(engine, study))
    st.header("By metric")
    _table(count_by_metric(engine, study))
    st.header("By stratum")
    _table(count_by_stratum(engine, study))
    _surplus(surplus_labels(engine, study))
    title = next(row["title"] for row in frames.studies(engine).to_dict("records") if row["study"] == study)
    _reminders(reminders(by_rater, title=title, pace=measure_pace(engine)))


def _summary(by_rater: pd.DataFrame, short: list[Short]) -> None:
    waiting, asked = int(by_rater["waiting"].sum()), int(by_rater["asked"].sum())
    verb = "is" if len(short) == 1 else "are"
    lacking = f"{count(len(short), 'item')} {verb} short of raters" if short else "no item is short of raters"
    if waiting:
        st.markdown(f"**{count(waiting, 'answer')} of {asked:,} are still to come; {lacking}.**")
    else:
        st.markdown(f"**All {count(asked, 'answer')} are in; {lacking}.**")


def _table(frame: pd.DataFrame) -> None:
    shown = frame.rename(columns=_COLUMNS)
    for column in ("Panel", "Stratum"):
        if column in shown:
            shown[column] = [
                str(value) if isinstance(value, str) and value else "none" for value in shown[column]
            ]
    for column in ("Last seen (UTC)", "Answered (UTC)", "Given up (UTC)"):
        if column in shown:
            shown[column] = [f"{at:%Y-%m-%d %H:%M}" if pd.notna(at) else "never" for at in shown[column]]
    st.dataframe(shown, hide_index=True, width="stretch")


def _shortages(short: list[Short], study: str) -> None:
    if not short:
        st.text("Every item has the raters that it was to have, of each panel.")
        return
    st.dataframe(
        pd.DataFrame(
            [
                {
                    "Review set": one.review_set,
                    "Item": one.item,
                    "Metric": one.metric,
                    "Lacks": f"an {one.panel} rater" if one.panel else count(one.missing, "rater"),
                    "Who could": ", ".join(one.free) or "nobody here",
                    "Why not others": one.why_not_others,
                }
                for one in short
            ]
        ),
        hide_index=True,
        width="stretch",
    )
    st.caption("To open the missing slots to those who could take them:")
    st.code(
        f"impactbench review extend {study} --set NAME --to OVERLAP --rater NAME:PANEL",
        language=None,
        wrap_lines=True,
    )


def _gold(results: list[GoldResult]) -> None:
    if not results:
        return
    st.header("Gold items")
    alerts = [result.rater for result in results if result.alert]
    if alerts:
        st.text(f"All but surely fewer than 7 in 10 right, so worth a word: {', '.join(alerts)}.")
    else:
        st.text("No rater raises an alert.")
    st.dataframe(
        pd.DataFrame(
            [
                {
                    "Rater": result.rater,
                    "Given": result.given,
                    "Answered": result.accuracy.n,
                    "As expected": spell(result.accuracy, percent=True),
                    "Alert": "yes" if result.alert else "no",
                }
                for result in results
            ]
        ),
        hide_index=True,
        width="stretch",
    )
    st.caption("A gold item is one on which experts agreed before. Raters are never told which these are.")


def _surplus(surplus: pd.DataFrame) -> None:
    if surplus.empty:
        return
    st.header("Surplus labels")
    st.text("These came after their slot had been given to somebody else. They are kept and counted.")
    _table(surplus.drop(columns=["conversation_id", "metric_version_id"]))


def _reminders(texts: dict[str, str]) -> None:
    if not texts:
        return
    st.header("Reminders")
    name = st.selectbox("Whom to remind", list(texts))
    st.code(texts[name], language=None, wrap_lines=True)

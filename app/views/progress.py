"""How far the raters are, what is short and who could fill it."""

import pandas as pd
import streamlit as st

from app import audit, workspace
from app.views.methodologist import study_in_view
from app.wording import count, spell
from impactbench.domain import AssignmentReason
from impactbench.store import frames
from reviews.blindness.recognition import Recognition, recognition
from reviews.blindness.visibility import Seen
from reviews.design.pace import measure_pace
from reviews.design.progress import reminders
from reviews.design.release import surplus_labels
from reviews.design.shortages import Short, find_shortages
from reviews.design.slots import last_seen, seen_at
from reviews.gold import GoldResult, gold_results
from reviews.repeats import IntraRater
from validation.results import Estimate

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
    study = study_in_view(
        Seen.RATER_NAMES, Seen.OTHER_LABELS, Seen.RATIONALES, Seen.MODEL_NAME, Seen.GOLD_MARKS
    )
    st.title("Progress")
    engine = workspace.engine()
    counts, tables = audit.collected(study), audit.tables(study)
    if counts.by_rater.empty:
        st.text(f"Nobody is asked to rate anything yet. Open a review set: impactbench review open {study}")
        return
    short = find_shortages(engine, study, tables.assignments)
    _summary(counts.by_rater, short)
    st.header("By rater")
    seen = seen_at(counts.by_rater["rater"], last_seen(engine))
    _table(counts.by_rater.drop(columns="last_label_at").assign(seen_at=seen))
    st.header("What is short")
    _shortages(short, study)
    _gold(gold_results(engine, study, tables.assignments))
    st.header("By panel")
    _table(counts.by_panel)
    st.header("By metric")
    _table(counts.by_metric)
    st.header("By stratum")
    _table(counts.by_stratum)
    _surplus(surplus_labels(tables.assignments))
    _recognised(recognition(engine, study))
    _with_themselves(audit.repeats(study))
    if extra := int((tables.assignments["reason"] == AssignmentReason.ADAPTIVE).sum()):
        _with_extra_raters(extra, audit.weighted_alpha(study))
    title = next(row["title"] for row in frames.studies(engine).to_dict("records") if row["study"] == study)
    _reminders(reminders(counts.by_rater, title=title, pace=measure_pace(engine)))


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


def _recognised(found: list[Recognition]) -> None:
    """Whether blinding held, as far as raters say."""
    found = [one for one in found if one.waiting < one.asked]
    if not found:
        return
    st.header("Was a model recognised?")
    for one in found:
        st.text(
            f"{one.review_set}: of {count(one.recognised.n or 0, 'rater')} asked at the end,"
            f" {spell(one.recognised, percent=True)} believe to have recognised one. Still to be asked: {one.waiting}."
        )
    st.dataframe(
        pd.DataFrame(
            [
                {
                    "Review set": one.review_set,
                    "Raters": one.asked,
                    **one.answered,
                    "Not asked yet": one.waiting,
                }
                for one in found
            ]
        ),
        hide_index=True,
        width="stretch",
    )
    for remark in (remark for one in found for remark in one.remarks):
        st.text(f"“{remark}”")
    st.caption("What they believe, and not whether they were right: blinding as measured.")


def _with_themselves(results: list[IntraRater]) -> None:
    """Hidden repeats: whether a rater says the same again."""
    if not results:
        return
    whole, *each = results
    st.header("The same conversation twice")
    st.text(
        f"Of {count(whole.answered, 'conversation')} judged twice by the same rater, unmarked, "
        f"{spell(whole.agreement, percent=True)} were judged alike; ordinal α with oneself is {spell(whole.alpha)}."
    )
    st.dataframe(
        pd.DataFrame(
            [
                {
                    "Rater": one.rater,
                    "Given twice": one.repeats,
                    "Judged twice": one.answered,
                    "Alike": spell(one.agreement, percent=True),
                    "α with oneself": spell(one.alpha),
                    "Ceiling": "" if one.ceiling is None else f"{one.ceiling:.2f}",
                }
                for one in (whole, *each)
            ]
        ),
        hide_index=True,
        width="stretch",
    )
    st.caption(
        "Ceiling: what agreement with anybody else can hardly exceed, the root of α with oneself. None of this enters a"
        " figure about experts among themselves."
    )


def _with_extra_raters(extra: int, alpha: Estimate) -> None:
    """The headline from the random core, checked against all labels weighted by the chances of their items."""
    st.header("Agreement with the extra raters")
    st.text(
        f"With {count(extra, 'further assignment')} where the first stage showed need, each item weighted by one over its "
        f"chance of them, ordinal α is {spell(alpha)} over {count(alpha.n or 0, 'item')}."
    )
    st.caption("A check on the headline, which rests on the first stage alone; it is less precise.")


def _reminders(texts: dict[str, str]) -> None:
    if not texts:
        return
    st.header("Reminders")
    name = st.selectbox("Whom to remind", list(texts))
    st.code(texts[name], language=None, wrap_lines=True)

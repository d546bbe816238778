"""What has no verdict or no label, why, and what the figures could be at worst."""

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from app import audit
from app.components.item_list import items_below
from app.views.methodologist import study_in_view
from app.wording import count, spell, spell_bounds
from reviews.audit.missing import JudgeGaps, LabelGaps
from reviews.blindness.visibility import Seen


def missing() -> None:
    """Missing is missing: counted by its reason, and bounded."""
    study = study_in_view(Seen.OTHER_LABELS, Seen.VERDICT)
    st.title("What is missing")
    found = audit.missing_from(study)
    labels = found.labels
    lost = sum(one.found.n_missing for one in found.judges)
    given = labels.by_status.get("submitted", 0)
    st.markdown(
        f"**Experts gave {given:,} of {count(labels.asked, 'label')} asked for; judges left"
        f" {count(lost, 'item')} without a verdict.**"
    )
    for one in found.judges:
        _judge(one)
    _labels(labels)
    items_below(
        study,
        audit.without_answer(study),
        heading="Items that lack a verdict or a label that was asked for",
        empty="Nothing that was asked for is missing.",
    )


def _judge(one: JudgeGaps) -> None:
    st.header(f"Judge {one.judge.name}")
    rows = [
        {
            "Figure": name,
            "Whatever the missing verdicts would have been": spell_bounds(bounds),
            "Items": bounds.low.n,
        }
        for name, bounds in (
            ("Pass rate", one.found.pass_rate),
            ("Agreement with the experts", one.found.accuracy),
        )
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True, width="content")
    if one.never_asked:
        st.text(f"{count(one.never_asked, 'item')} that experts rated were never put to this judge.")
    by_model = [
        {"Model": str(name), "Without a verdict": spell(share, percent=True), "Of": share.n}
        for name, share in zip(one.by_model.groups, one.by_model.shares, strict=True)
    ]
    st.dataframe(pd.DataFrame(by_model), hide_index=True, width="content")
    if one.by_model.blocks_pooling:
        st.warning(
            "Verdicts are missing at different rates by model: figures that pool models are not to be claimed."
        )
    _counted("Why", one.reasons)
    _counted("Metric", one.by_metric)


def _labels(found: LabelGaps) -> None:
    st.header("Experts")
    if found.pass_share.value is None:
        st.write("No label has been given yet.")
    else:
        st.write(
            f"Of {count(found.pass_share.n, 'label')} experts pass {found.pass_share.value:.0%}, borderline as half. If all that"
            f" is missing had been a fail, or a pass, it would be {spell_bounds(found.bounds)} of"
            f" {found.bounds.low.n:,}."
        )
    _counted("Status", found.by_status)
    _counted("Reason", found.reasons)


def _counted(name: str, counts: Mapping[str, int]) -> None:
    if counts:
        rows = [{name: word.replace("_", " "), "Number": number} for word, number in counts.items()]
        st.dataframe(pd.DataFrame(rows), hide_index=True, width="content")

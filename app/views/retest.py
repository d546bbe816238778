"""The judge beside itself: how often its runs differ, and what that caps."""

import pandas as pd
import streamlit as st

from app import audit
from app.components.forest import show_forest
from app.components.item_list import items_below
from app.views.judge import judge_in_view
from app.views.methodologist import study_in_view
from app.wording import count, spell
from reviews.audit.retest import Ceilings, JudgeRetest
from reviews.blindness.visibility import Seen
from validation.retest import Retest


def retest() -> None:
    """How stable the judge is, by what could move it."""
    study = study_in_view(Seen.VERDICT)
    st.title("Judge against itself")
    judge = judge_in_view(study)
    if judge is None:
        return
    found = audit.judge_retest(study, judge)
    flips = found.whole.flip_rate
    if flips.value is None:
        st.write(
            "The judge has judged nothing twice, so its stability is not assessed. Say `repeats: 3` in the study file and let"
            " it run again; what was judged before is not asked again:"
        )
        st.code("impactbench run start study.yaml", language=None, wrap_lines=True)
        return
    st.markdown(
        f"**Over {count(flips.n, 'item')} judged {found.runs} times the judge contradicts itself on"
        f" {spell(flips, percent=True)}; the majority of its runs would decide otherwise than the first on"
        f" {spell(found.whole.decision_flips, percent=True)}.**"
    )
    titles = _titles(study)
    rows = sorted(found.flips.items(), key=lambda pair: -(pair[1].value or 0))
    show_forest(
        [("All metrics", flips), *((titles[version], rate) for version, rate in rows)],
        title="Share of items on which the runs differ",
        cut_off=0.2,
        lowest=0.0,
    )
    st.caption(
        "Metrics are drawn towards each other as far as their own items are few (partial pooling); 95% intervals. The"
        " line is the 20% from which a metric is of concern."
    )
    st.dataframe(
        pd.DataFrame(
            [
                {
                    "Metric": titles[version],
                    "Items": rate.n,
                    "Runs differ, drawn towards the others": spell(rate, percent=True),
                    "Probability of more than 20%": f"{found.unstable[version]:.2f}"
                    if version in found.unstable
                    else "not known",
                }
                for version, rate in rows
            ]
        ),
        hide_index=True,
        width="stretch",
    )
    _ceilings(found.ceilings)
    st.header("By what could move it")
    st.dataframe(_table(found), hide_index=True, width="stretch")
    st.caption(
        "κ moves with how common a verdict is: read AC1 and Brennan–Prediger beside it. With three runs of a binary"
        " verdict, pairwise agreement says nothing that the unanimous share does not."
    )
    items_below(
        study,
        audit.flipped_items(study, judge),
        heading="Items on which the runs differ",
        empty="All runs agree on every item.",
        whose="Runs",
    )


def _titles(study: str) -> dict[int, str]:
    metrics = audit.tables(study).metrics
    return dict(zip(metrics["metric_version_id"], metrics["title"], strict=True))


def _ceilings(found: Ceilings) -> None:
    st.header("What follows for any comparison with experts")
    rows = [
        ("Accuracy against any fixed labels, at most", found.accuracy),
        ("Correlation with a faultless reference, about", found.with_truth),
        ("Correlation with one expert, about", found.with_one_expert),
        (f"Correlation with the mean of {found.experts} experts, about", found.with_panel),
    ]
    table = [
        {"Ceiling": name, "Value": "not defined" if value is None else f"{value:.2f}"} for name, value in rows
    ]
    st.dataframe(pd.DataFrame(table), hide_index=True, width="content")
    st.caption(
        f"From the judge’s agreement with itself and the experts’ α of {spell(found.human_alpha)} (borderline as a"
        " fail). Approximate: a majority is not a mean."
    )


def _table(found: JudgeRetest) -> pd.DataFrame:
    groups: list[tuple[str, str, Retest]] = [("all", "All metrics", found.whole)]
    groups += [(kind, name, one) for kind, named in found.by.items() for name, one in named.items()]
    return pd.DataFrame(
        [
            {
                "Of": kind,
                "Group": name,
                "Items": one.flip_rate.n,
                "Runs differ": spell(one.flip_rate, percent=True),
                "Decision differs": spell(one.decision_flips, percent=True),
                "κ": spell(one.kappa),
                "AC1": spell(one.ac1),
                "Brennan–Prediger": spell(one.brennan_prediger),
                "Mean entropy (bits)": spell(one.entropy),
            }
            for kind, name, one in groups
        ]
    )

"""What a maintainer sees: every metric with its status, the evidence behind it, and what is missing."""

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd
import streamlit as st

from app import audit, workspace
from app.components.permalinks import choose
from app.components.plain_table import table_of_words
from app.views.methodologist import may_see, study_in_view
from app.views.metric_decision import decisions_about
from app.wording import STATUSES, in_a_sentence, spell, spell_bounds
from impactbench.domain import Role
from reviews import evidence
from reviews.audit.items import Judge, foremost_judge
from reviews.blindness.visibility import Seen
from reviews.contested import dispositions
from validation.contested import CONCERNS, MetricStatus, Status
from validation.metric_evidence import THRESHOLDS, Domain, DomainEvidence

Metrics = Mapping[Hashable, Mapping[Hashable, Any]]
"""The metrics of a study by the id of their version."""

_SHOWN = (
    Domain.EXPERT_DISAGREEMENT,
    Domain.JUDGE_AGAINST_EXPERTS,
    Domain.INDETERMINACY,
    Domain.UNSURE,
    Domain.JUDGE_INSTABILITY,
    Domain.CONSTRUCT,
    Domain.SATURATION,
)
_QUANTITY = {
    Domain.EXPERT_DISAGREEMENT: "nominal α among experts",
    Domain.JUDGE_AGAINST_EXPERTS: "judge’s accuracy",
    Domain.INDETERMINACY: "borderline labels",
    Domain.UNSURE: "“can’t judge” answers",
    Domain.JUDGE_INSTABILITY: "items on which the judge’s runs differ",
    Domain.CONSTRUCT: "reviewers who do not find it adequate",
    Domain.SATURATION: "conversations that the judge passes",
}
_AT_ONCE = 100
"""Metrics in the table before all are asked for: a thousand rows of sentences take a browser most of a second."""
_CONCERN_IS_LOW = (Domain.EXPERT_DISAGREEMENT, Domain.JUDGE_AGAINST_EXPERTS)
_MEANING = {
    Status.CONTESTED: "experts disagree beyond doubt, or two other concerns together",
    Status.WATCH: "one concern, or one that is more likely than not",
    Status.NO_CONCERN_FOUND: "enough data, and nothing of concern in them",
    Status.NOT_ASSESSED: "too little data to say; this is never a sign that all is well",
}


def contested_metrics() -> None:
    """The metrics of a study as a queue of work, the most pressing first."""
    workspace.require_role(Role.MAINTAINER, Role.METHODOLOGIST)
    study = study_in_view()
    st.title("Contested metrics")
    judge = _judge(study)
    found = audit.statuses(study, judge)
    metrics = {row["metric_version_id"]: row for row in audit.tables(study).metrics.to_dict("records")}
    counts = {status: sum(one.status is status for one in found) for status in Status}
    st.markdown(
        f"**Of {len(found)} metrics {_are(counts[Status.CONTESTED])} contested and {_are(counts[Status.WATCH])} to be"
        f" watched; in {counts[Status.NO_CONCERN_FOUND]} no concern was found, and {_are(counts[Status.NOT_ASSESSED])} not"
        " assessed.**"
    )
    for status, (mark, word) in STATUSES.items():
        st.caption(f"{mark} {word}: {_MEANING[status]}.")
    if not found:
        return
    shown = found
    if len(found) > _AT_ONCE and not st.toggle(f"Show all {len(found):,} metrics", key="all-metrics"):
        st.caption(f"The {_AT_ONCE} most pressing metrics.")
        shown = found[:_AT_ONCE]
    table_of_words("Metrics by status", ("Metric", "Status", "Decided", "Why"), _queue(study, shown, metrics))
    one = choose(
        "Open a metric",
        found,
        name="metric",
        spelled=lambda one: str(one.metric),
        shown=lambda one: str(metrics[one.metric]["title"]),
    )
    _metric(study, one, metrics[one.metric])


def _judge(study: str) -> Judge | None:
    """Whose accuracy, stability and pass rate count: a choice where there are several."""
    judges = audit.judges(study)
    if len(judges) < 2:
        return None
    first = foremost_judge(audit.tables(study))
    return choose(
        "Judge whose verdicts count",
        sorted(judges, key=lambda judge: judge != first),
        name="judge",
        spelled=lambda judge: str(judge.judge_id),
        shown=lambda judge: f"{judge.name} (most verdicts)" if judge == first else judge.name,
    )


def _queue(study: str, found: list[MetricStatus], metrics: Metrics) -> list[tuple[str, ...]]:
    newest = dispositions.newest_of_each(dispositions.dispositions(workspace.engine(), study))
    decided: dict[Hashable, str] = {
        new: f"{row['decision']} (from version {row['version']})"
        for row in newest.values()
        for new in row["becomes"]
    }
    decided |= {version: row["decision"] for version, row in newest.items()}
    return [
        (
            str(metrics[one.metric]["title"]),
            " ".join(STATUSES[one.status]),
            decided.get(one.metric, ""),
            _why(one) + (" Read the rubric again." if one.rubric_audit else ""),
        )
        for one in found
    ]


def _why(one: MetricStatus) -> str:
    sentence = in_a_sentence(one)
    return f"{sentence[0].upper()}{sentence[1:]}."


def _metric(study: str, one: MetricStatus, metric: Mapping[Hashable, Any]) -> None:
    mark, word = STATUSES[one.status]
    st.header(f"{mark} {word}")
    st.text(_why(one))
    st.text(
        f"{metric['title']} ({metric['polarity']}; {metric['benchmark']}/{metric['metric']}, version {metric['version']})"
    )
    st.text(metric["definition"])
    if metric["interpretive_clause"]:
        st.text(f"When in doubt: {metric['interpretive_clause']}")
    if metric["subareas"]:
        st.text(" · ".join(metric["subareas"]))
    st.dataframe(
        pd.DataFrame([_evidence_row(one.evidence.of(domain)) for domain in _SHOWN]),
        hide_index=True,
        width="stretch",
    )
    st.caption(
        "The probability is that the true quantity lies beyond the threshold. Concerns are flagged over all metrics together so"
        " that at most one flag in ten is expected to be false. The interval of α is a Bayesian bootstrap over items; shares"
        " are drawn towards the other metrics, or towards a half, as far as the data are few."
    )
    assignments = audit.tables(study).assignments
    part = assignments[assignments["metric_version_id"] == one.metric]
    if one.status is Status.CONTESTED:
        bounds = audit.pass_rate_bounds(study, int(str(one.metric)))
        st.text(
            "From the share of labels that pass it to the share that could defend a pass:"
            f" {spell_bounds(bounds)}. Its pass rate is no single number."
        )
    split = evidence.split_items(part)
    if not split.empty and may_see(Seen.OTHER_LABELS, study) and may_see(Seen.RATIONALES, study):
        st.header("What experts said on the items that divide them")
        _reasons_given(part, split["conversation"].tolist())
    decisions_about(study, one, metric)


def _evidence_row(domain: DomainEvidence) -> dict[str, str | int]:
    below = "below" if domain.domain in _CONCERN_IS_LOW else "above"
    limit = f"{below} {THRESHOLDS[domain.domain]:g}"
    if domain.domain is Domain.SATURATION:
        limit = f"within {THRESHOLDS[domain.domain]:g} of 0 or 1"
    return {
        "Concern": CONCERNS[domain.domain],
        "Measured by": _QUANTITY[domain.domain],
        "Value": spell(domain.estimate) if domain.assessed else "not assessed",
        "Of concern when": limit,
        "Probability": f"{domain.probability:.2f}" if domain.probability is not None else "not assessed",
        "Data": ", ".join(f"{number:g} {name.replace('_', ' ')}" for name, number in domain.counts.items()),
        "What is missing": domain.missing or "",
    }


def _reasons_given(part: pd.DataFrame, conversations: list[str]) -> None:
    """Labels and reasons side by side, without the names of those who gave them."""
    said = part[part["conversation"].isin(conversations) & part["label"].notna()]
    order = {conversation: place for place, conversation in enumerate(conversations)}
    said = said.assign(place=said["conversation"].map(order)).sort_values(["place", "label"], kind="stable")
    table_of_words(
        "Labels with their reasons",
        ("Conversation", "Label", "Reason given"),
        [
            (str(row["conversation"]), str(row["label"]), str(row["rationale"] or ""))
            for row in said.to_dict("records")
        ],
    )


def _are(number: int) -> str:
    return f"{number} {'is' if number == 1 else 'are'}"

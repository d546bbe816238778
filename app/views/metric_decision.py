"""Deciding about a metric: revise, keep, split, merge, retire; dissent is kept; a revision is followed to before and after."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st
from pydantic import ValidationError

from app import audit, workspace
from app.components.differences import shown_differences
from app.views.methodologist import may_see
from app.wording import spell
from impactbench.domain import DispositionKind, ImpactBenchError, MetricDefinition, Role
from reviews.blindness.visibility import Seen
from reviews.contested import change_log, dispositions, revisions
from reviews.contested.before_after import BeforeAfter, Change
from reviews.contested.dispositions import Disposal
from reviews.contested.revisions import RevisionState
from validation.contested import MetricStatus

_KINDS = {
    DispositionKind.REVISE: "Revise: write a new version",
    DispositionKind.KEEP: "Keep it as it is, with a reason",
    DispositionKind.SPLIT: "Split it into other metrics",
    DispositionKind.MERGE: "Merge it into another metric",
    DispositionKind.RETIRE: "Retire it",
}
_PARTS = {
    "name": "Name",
    "question": "What experts are asked",
    "definition": "Definition",
    "interpretive_clause": "When in doubt",
    "examples_present": "Examples where it is present, one a line",
    "examples_absent": "Examples where it is absent, one a line",
}
_SAID = "metric-decision-said"


def decisions_about(study: str, one: MetricStatus, metric: Mapping[Any, Any]) -> None:
    """What was decided about a metric, and the form to decide."""
    version = int(metric["metric_version_id"])
    decided = dispositions.dispositions(workspace.engine(), study)
    own = decided[decided["metric_version_id"] == version]
    st.header("Decisions")
    if said := st.session_state.pop(_SAID, None):
        st.text(said)
    if own.empty:
        st.write("Nothing has been decided about this version yet.")
    for row in own.to_dict("records"):
        _decided(study, {str(name): value for name, value in row.items()})
    looking = workspace.person()
    may_decide = looking is not None and looking.role is Role.MAINTAINER
    for state in audit.revision_states(study, decided):
        if version not in (state.old, state.new):
            continue
        _revision(study, state)
        if looking is not None and may_decide and state.rated_again and not state.adopted:
            of_old = decided.loc[decided["metric_version_id"] == state.old, "revision"]
            _adopt(study, one, state, int(of_old.max()), workspace.rater_id(looking))
        elif state.adopted and version == state.new:
            for row in decided[decided["metric_version_id"] == state.old].to_dict("records"):
                _decided(study, {str(name): value for name, value in row.items()})
    if looking is not None and may_decide:
        _form(study, one, version, int(own["revision"].max()) if len(own) else 0, workspace.rater_id(looking))


def _decided(study: str, row: Mapping[str, Any]) -> None:
    with st.container(border=True):
        st.text(f"{row['decision']} · {row['created_at']:%Y-%m-%d %H:%M} UTC · {row['decided_by']}")
        st.text(row["because"])
        for text in row["dissent"]:
            st.text(f"Dissent: {text}")
        known = change_log.made_known(workspace.engine(), study)
        if (since := known.get(int(row["disposition_id"]))) is not None:
            st.caption(f"In the change log since {since:%Y-%m-%d}.")
            return
        looking = workspace.person()
        if looking is None or looking.role is not Role.MAINTAINER:
            return
        key = f"publish-{row['disposition_id']}"
        if st.button("Publish in the change log", key=key):
            figures = _figures(study, row)
            newly = change_log.publish(
                workspace.engine(),
                study,
                int(row["disposition_id"]),
                published_by=workspace.rater_id(looking),
                figures=figures,
            )
            st.session_state[_SAID] = (
                "Published." if newly else "It had been published before and stays as it was."
            )
            st.rerun()


def _figures(study: str, row: Mapping[str, Any]) -> Mapping[str, Any]:
    if row["decision"] != DispositionKind.ADOPT:
        return {}
    return audit.before_and_after(study, int(row["metric_version_id"]), int(row["becomes"][0])).record


def _revision(study: str, state: RevisionState) -> None:
    st.header("The revision")
    st.markdown(f"**{state.sentence[0].upper()}{state.sentence[1:]}.**")
    engine = workspace.engine()
    old, new = (revisions.definition_of(engine, version) for version in (state.old, state.new))
    shown_differences(revisions.differences(old, new))
    if state.waiting_for_judge:
        st.write(
            "Verdicts on the new version come with a run of the judge over these conversations, or as a file:"
        )
        for model, prompt in revisions.judges_of_version(engine, study, state.old):
            of_prompt = f" --prompt-hash {prompt}" if prompt else ""
            st.code(
                f"impactbench import verdicts FILE --study {study} --judge {model}{of_prompt}",
                language=None,
                wrap_lines=True,
            )
    if state.asked_again < state.items_before:
        st.write("Put the same items before experts again, blind, under the new wording:")
        st.code(
            f"impactbench review again {study} --from {state.old} --to {state.new} --overlap 3",
            language=None,
            wrap_lines=True,
        )
    if state.rated_again and may_see(Seen.OTHER_LABELS, study):
        before_and_after_table(audit.before_and_after(study, state.old, state.new))


def _adopt(study: str, one: MetricStatus, state: RevisionState, base_revision: int, maintainer: int) -> None:
    at = f"{state.old}-{state.new}-{base_revision}"
    with st.form(f"adopt-{at}", border=True):
        because = st.text_area("Adopt the new version, because", key=f"adopt-because-{at}")
        dissent = st.text_area("Who would have decided otherwise says, one a line", key=f"adopt-dissent-{at}")
        if st.form_submit_button("Adopt the new version"):
            adopt = DispositionKind.ADOPT
            st.session_state[_SAID] = _store(
                study, one, state.old, base_revision, maintainer, adopt, [state.new], because, dissent
            )
            st.rerun()


def before_and_after_table(found: BeforeAfter) -> None:
    """The figures of a revision, on the same items."""
    st.markdown(f"**Before and after, on {found.items} items rated under both: {found.sentence}**")
    rows = {
        "Ordinal α among experts": found.alpha,
        "Raw agreement": found.agreement,
        "Borderline labels": found.borderline,
        **{f"{name} agrees with experts": change for name, change in found.judges.items()},
    }
    st.dataframe(
        pd.DataFrame([_change(name, change) for name, change in rows.items()]),
        hide_index=True,
        width="stretch",
    )


def _change(name: str, change: Change) -> dict[str, str]:
    return {
        "Figure": name,
        "Before": spell(change.before),
        "After": spell(change.after),
        "Change": spell(change.change),
    }


def _form(study: str, one: MetricStatus, version: int, base_revision: int, maintainer: int) -> None:
    st.header("Decide")
    at = f"{version}-{base_revision}"
    kind = st.selectbox("Decision", list(_KINDS), format_func=_KINDS.__getitem__, key=f"kind-{at}")
    old = revisions.definition_of(workspace.engine(), version)
    with st.form(f"decide-{at}", border=True):
        wording: dict[str, str] = {}
        if kind is DispositionKind.REVISE:
            for part, label in _PARTS.items():
                value = getattr(old, part)
                text = "\n".join(value) if isinstance(value, tuple) else value
                wording[part] = st.text_area(label, value=text, key=f"{part}-{at}")
        becomes: list[int] = []
        if kind in (DispositionKind.SPLIT, DispositionKind.MERGE):
            names = _others(study, version)
            becomes = st.multiselect(
                "The metric versions that follow",
                list(names),
                format_func=names.__getitem__,
                key=f"next-{at}",
            )
        because = st.text_area("Because (required)", key=f"because-{at}")
        dissent = st.text_area("Who would have decided otherwise says, one a line", key=f"dissent-{at}")
        if st.form_submit_button("Save the decision"):
            st.session_state[_SAID] = _save(
                study, one, version, base_revision, maintainer, kind, old, wording, becomes, because, dissent
            )
            st.rerun()


def _others(study: str, version: int) -> dict[int, str]:
    """Every other metric version that a decision can name."""
    metrics = dispositions.nameable(workspace.engine(), study)
    return {key: name for key, name in metrics.items() if key != version}


def _save(
    study: str,
    one: MetricStatus,
    version: int,
    base_revision: int,
    maintainer: int,
    kind: DispositionKind,
    old: MetricDefinition,
    wording: Mapping[str, str],
    becomes: list[int],
    because: str,
    dissent: str,
) -> str:
    """Store the decision; what to say about it."""
    engine = workspace.engine()
    if not because.strip():
        return "Not saved: say why."
    if kind is DispositionKind.REVISE:
        author = workspace.person()
        try:
            following = revisions.new_version(
                engine,
                version,
                _reworded(old, wording),
                because=because,
                author=author.pseudonym if author else "",
            )
        except (ImpactBenchError, ValidationError) as refusal:
            return f"Not saved: {refusal}"
        becomes = [following]
    return _store(study, one, version, base_revision, maintainer, kind, becomes, because, dissent)


def _store(
    study: str,
    one: MetricStatus,
    version: int,
    base_revision: int,
    maintainer: int,
    kind: DispositionKind,
    becomes: list[int],
    because: str,
    dissent: str,
) -> str:
    if not because.strip():
        return "Not saved: say why."
    disposal = Disposal(
        decision=kind, because=because, dissent=tuple(dissent.splitlines()), becomes=tuple(becomes)
    )
    try:
        kept = dispositions.decide(
            workspace.engine(), study, maintainer, version, disposal, base_revision=base_revision, found=one
        )
    except ImpactBenchError as refusal:
        return f"Not saved: {refusal}"
    return f"Saved at {kept.created_at:%H:%M} UTC: {kept.decision}."


def _reworded(old: MetricDefinition, wording: Mapping[str, str]) -> MetricDefinition:
    new: dict[str, object] = {}
    for part, text in wording.items():
        lines = tuple(line.strip() for line in text.splitlines() if line.strip())
        new[part] = lines if isinstance(getattr(old, part), tuple) else text.strip()
    return MetricDefinition.model_validate({**old.model_dump(), **new})

"""What a review set is drawn from: the conversations of a study that its raters can still be given."""

from collections.abc import Collection, Sequence

import pandas as pd
from sqlalchemy import Engine
from sqlmodel import col, select

from impactbench.domain import DispositionKind
from impactbench.store import frames
from impactbench.store.engine import reading
from impactbench.store.tables import (
    Assignment,
    Conversation,
    Metric,
    MetricVersion,
    Model,
    Placement,
    Rater,
    ReviewSet,
    Run,
    Study,
    Subarea,
)
from reviews.assignment import Member, PlanRefused, shortage
from reviews.contested.dispositions import dispositions, newest_of_each
from validation.self_preference import Kinship

SEPARATOR = "::"
"""Between run and conversation in the key of an item; either may hold a slash."""


def sampling_frame(
    engine: Engine, study: str, *, metrics: Collection[str], runs: Collection[str]
) -> pd.DataFrame:
    """The complete conversations, with `key`, and `metric` written benchmark/metric (and v2 for a second version)."""
    known = frames.studies(engine)["study"].tolist()
    if study not in known:
        there = f"there are {', '.join(known)}" if known else "import a run first"
        raise PlanRefused(f"there is no study {study!r}; {there}")
    versions = frames.metrics(engine).set_index("metric_version_id")
    frame = _under_adopted(
        engine, study, frames.conversations(engine, study), polarities=versions["polarity"]
    )
    frame = frame[frame["status"] == "complete"]
    frame = frame.assign(full_name=frame["benchmark"] + "/" + frame["metric"])
    for wanted, columns, what in (
        (set(metrics), ["metric", "full_name"], "metric"),
        (set(runs), ["run"], "run"),
    ):
        names = [frame[column] for column in columns]
        present = {name for column in names for name in column}
        if missing := sorted(wanted - present):
            there = ", ".join(sorted(set(names[0])))
            raise PlanRefused(
                f"the study {study!r} has no complete conversation of a {what} {missing[0]!r}; there are {there}"
            )
        if wanted:
            kept = pd.concat([column.isin(wanted) for column in names], axis=1).any(axis=1)
            frame = frame[kept]
    number = frame["metric_version_id"].map(versions["version"])
    about_models, about_metrics = _about_conversations(engine, study), _subareas(engine)
    return frame.assign(
        key=frame["run"] + SEPARATOR + frame["conversation"],
        metric=[
            name if n == 1 else f"{name} v{n}" for name, n in zip(frame["full_name"], number, strict=True)
        ],
        provider=[about_models[key][0] for key in frame["conversation_id"]],
        language=[about_models[key][1] for key in frame["conversation_id"]],
        subareas=frame["metric_version_id"]
        .map(lambda version: about_metrics.get(version, ()))
        .astype(object),
    )


def _under_adopted(engine: Engine, study: str, frame: pd.DataFrame, *, polarities: pd.Series) -> pd.DataFrame:
    """A conversation of a metric whose revision was adopted is asked about under the version that was adopted."""
    adopted = {
        version: int(row["becomes"][0])
        for version, row in newest_of_each(dispositions(engine, study)).items()
        if row["decision"] == DispositionKind.ADOPT
    }
    now = frame["metric_version_id"]
    for _ in adopted:
        now = now.map(lambda version: adopted.get(version, version))
    return frame.assign(metric_version_id=now, polarity=now.map(polarities)) if adopted else frame


def beside_the_judge(
    engine: Engine, study: str, frame: pd.DataFrame, *, judge: str | None = None
) -> pd.DataFrame:
    """The frame with `kinship`, of the target model to the judge, and `verdict`, of the judge's first run.

    A conversation that the judge was never asked about has no verdict; one that it could not score is `unscored`.

    Raises:
        PlanRefused: there is no judge, no such judge, or several and none is named.
    """
    judgments = frames.judgments(engine, study)
    names = judgments.groupby("judge_id")["judge"].first()
    names[:] = [
        f"{name}#{key}" if several else name
        for key, name, several in zip(names.index, names, names.duplicated(keep=False), strict=True)
    ]
    if names.empty:
        raise PlanRefused(
            f"the study {study!r} has no judgment, so kinship and verdict of a judge cannot name strata; "
            "import a run with scores, or leave them out"
        )
    if judge not in set(names) and not (judge is None and len(names) == 1):
        asked = "several judges" if judge is None else f"no judge {judge!r}"
        raise PlanRefused(
            f"the study {study!r} has {asked}; name one with --judge: {', '.join(sorted(names))}"
        )
    chosen = names.index[0] if judge is None else names.index[names == judge][0]
    own = judgments[(judgments["judge_id"] == chosen) & (judgments["repeat"] == 0)]
    slug, family = judgments.loc[judgments["judge_id"] == chosen, ["judge", "judge_family"]].iloc[0]
    passed = own.set_index(["conversation_id", "metric_version_id"])["passed"]
    verdicts = {item: "unscored" if pd.isna(p) else "pass" if p else "fail" for item, p in passed.items()}
    kinship = [
        _kinship(model, own_family, slug, family)
        for model, own_family in zip(frame["model"], frame["family"], strict=True)
    ]
    items = zip(frame["conversation_id"], frame["metric_version_id"], strict=True)
    return frame.assign(
        kinship=pd.Series(kinship, index=frame.index, dtype=object),
        verdict=pd.Series([verdicts.get(item) for item in items], index=frame.index, dtype=object),
    )


def _kinship(model: str, family: str, judge: str, judge_family: str) -> str | None:
    """How a target is related to the judge; None where a family is not known."""
    if model == judge:
        return Kinship.SELF
    if not {family, judge_family}.isdisjoint({"", "unknown"}):
        return None
    return Kinship.SIBLING if family == judge_family else Kinship.OTHER


def _about_conversations(engine: Engine, study: str) -> dict[int | None, tuple[str, str]]:
    """The maker of the target and the language of each conversation, as the manifest of its run declares it."""
    query = (
        select(Conversation.id, Model.provider, Run.manifest)
        .join(Run, col(Run.id) == Conversation.run_id)
        .join(Study, col(Study.id) == Run.study_id)
        .join(Model, col(Model.id) == Conversation.model_id)
        .where(Study.slug == study)
    )
    with reading(engine) as session:
        return {
            key: (provider, str(manifest.get("language") or ""))
            for key, provider, manifest in session.exec(query)
        }


def _subareas(engine: Engine) -> dict[int | None, tuple[str, ...]]:
    """The slugs of the subareas that each metric version stands in."""
    query = (
        select(MetricVersion.id, Subarea.slug)
        .join(Metric, col(Metric.id) == MetricVersion.metric_id)
        .join(Placement, col(Placement.metric_id) == Metric.id)
        .join(Subarea, col(Subarea.id) == Placement.subarea_id)
        .order_by(col(Subarea.slug))
    )
    places: dict[int | None, tuple[str, ...]] = {}
    with reading(engine) as session:
        for version, slug in session.exec(query):
            places[version] = (*places.get(version, ()), slug)
    return places


def taken_seats(engine: Engine, study: str, slug: str) -> set[tuple[str, str]]:
    """(item, rater) of the sets that came before this one."""
    with reading(engine) as session:
        of_study = (
            select(ReviewSet.id).join(Study, col(Study.id) == ReviewSet.study_id).where(Study.slug == study)
        )
        itself = session.exec(of_study.where(ReviewSet.slug == slug)).one_or_none()
        query = (
            select(Run.slug, Conversation.key, Rater.pseudonym)
            .select_from(Assignment)
            .join(Conversation, col(Conversation.id) == Assignment.conversation_id)
            .join(Run, col(Run.id) == Conversation.run_id)
            .join(Rater, col(Rater.id) == Assignment.rater_id)
            .where(col(Assignment.review_set_id).in_(of_study))
        )
        if itself is not None:
            query = query.where(Assignment.review_set_id < itself)
        return {(f"{run}{SEPARATOR}{key}", rater) for run, key, rater in session.exec(query)}


def leave_out_exhausted(
    frame: pd.DataFrame, members: Sequence[Member], *, overlap: int, taken: set[tuple[str, str]]
) -> pd.DataFrame:
    """The conversations that can still have a full team of these raters."""
    have: dict[str, set[str]] = {}
    for item, rater in taken:
        have.setdefault(item, set()).add(rater)
    lack = {
        item: shortage([m for m in members if m.name not in names], members, overlap=overlap)
        for item, names in have.items()
        if not names.isdisjoint(m.name for m in members)
    }
    available = frame[[not lack.get(key) for key in frame["key"]]]
    if available.empty and not frame.empty:
        raise PlanRefused(
            f"too few of these raters are free for any of the {len(frame)} conversations, since they have them in an "
            "earlier set; name raters who have not, or lower the overlap"
        )
    return available

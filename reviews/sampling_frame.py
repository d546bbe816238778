"""What a review set is drawn from: the conversations of a study that its raters can still be given."""

from collections.abc import Collection, Sequence

import pandas as pd
from sqlalchemy import Engine
from sqlmodel import col, select

from impactbench.store import frames
from impactbench.store.engine import reading
from impactbench.store.tables import Assignment, Conversation, Rater, ReviewSet, Run, Study
from reviews.assignment import Member, PlanRefused, shortage

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
    frame = frames.conversations(engine, study)
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
    version = frames.metrics(engine).set_index("metric_version_id")["version"]
    number = frame["metric_version_id"].map(version)
    return frame.assign(
        key=frame["run"] + SEPARATOR + frame["conversation"],
        metric=[
            name if n == 1 else f"{name} v{n}" for name, n in zip(frame["full_name"], number, strict=True)
        ],
    )


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

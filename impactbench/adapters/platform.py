"""Keeps the published platform's data: all of it in one transaction, and nothing that is there already."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, insert, inspect, select
from sqlmodel import Session

from impactbench.adapters import ImportRefused
from impactbench.adapters.platform_reading import NO_VERDICT, Platform, PlatformBenchmark
from impactbench.adapters.run_folder_content import (
    Ledger,
    Tally,
    keep_metrics,
    keep_models,
    keep_scenarios,
    keep_study,
)
from impactbench.adapters.run_folder_reading import UNNAMED_JUDGE, FolderModel, RunFolder
from impactbench.domain import content_hash
from impactbench.resources import family_of
from impactbench.store import tables as t
from impactbench.store.engine import insert_if_absent, writing
from impactbench.store.frames import (
    benchmark,
    conversation,
    judge,
    judgment,
    metric,
    run,
    subarea,
)

PASS = "platform"
TITLE = "The published platform"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformImported:
    """What an import of the platform's data read and added."""

    study: str
    judge: str
    tallies: Mapping[str, Tally]
    """By kind: metrics, scenarios, conversations, judgments, headings."""
    notes: tuple[str, ...]

    @property
    def changed(self) -> bool:
        return any(tally.added for tally in self.tallies.values())


def import_platform(
    engine: Engine,
    platform: Platform,
    *,
    study: str,
    judge_name: str = "",
    on_progress: Callable[[int, int], None] | None = None,
) -> PlatformImported:
    """Add the platform's data to a study. Its conversations have no transcripts and say so.

    Args:
        engine: the database.
        platform: what `read_platform` read.
        study: the slug of the study, which is made where there is none.
        judge_name: the judge model, which the data do not name.
        on_progress: told how many of the verdicts are kept, and how many there are.

    Raises:
        ImportRefused: a verdict was imported before and is another now.
    """
    ledger = Ledger()
    named = judge_name or UNNAMED_JUDGE
    with writing(engine) as session:
        study_id = keep_study(session, study, title=TITLE, notice="", ledger=ledger)
        models = keep_models(session, [*platform.models, _judge_model(named)], ledger=ledger)
        judge_id = _keep_judge(session, models[named])
        runs = {
            model.slug: _keep_run(session, study_id, model.slug, platform=platform)
            for model in platform.models
        }
        said = _said(session, judge_id, runs)
        done, total = 0, sum(len(each.verdicts) for each in platform.benchmarks)
        for each in platform.benchmarks:
            _keep_benchmark(
                session, each, runs=runs, models=models, judge_id=judge_id, said=said, ledger=ledger
            )
            done += len(each.verdicts)
            if on_progress is not None:
                on_progress(done, total)
        metrics = _metric_ids(session)
        _keep_places(session, platform, metrics)
        _keep_categories(session, platform, metrics, ledger=ledger)
    if not judge_name:
        ledger.notes.append(
            f"the data do not name the judge, which is recorded as {UNNAMED_JUDGE!r}; --judge names it"
        )
    return PlatformImported(
        study=study,
        judge=named,
        tallies=dict(ledger.tallies),
        notes=tuple(dict.fromkeys((*ledger.notes, *platform.notes))),
    )


def _judge_model(name: str) -> FolderModel:
    known = family_of(name)
    if known is None:
        return FolderModel(slug=name)
    return FolderModel(
        slug=name,
        provider=known.provider,
        family=known.family,
        sibling_group=known.lineage,
        open_weight=known.open_weight,
    )


def _keep_judge(session: Session, model_id: int) -> int:
    no_parameters: dict[str, Any] = {}
    row = {"model_id": model_id, "parameters": no_parameters, "parameters_hash": content_hash(no_parameters)}
    insert_if_absent(session, t.Judge, [row])
    found = select(judge.id).where(
        judge.model_id == model_id,
        judge.prompt_hash == "",
        judge.parameters_hash == row["parameters_hash"],
    )
    return int(session.execute(found).scalar_one())


def _keep_run(session: Session, study_id: int, model: str, *, platform: Platform) -> int:
    slug = f"{PASS}/{model}"
    manifest = {
        "layout": "published platform",
        "model": model,
        "model_name": platform.model_names[model],
        "sha256": dict(platform.file_hashes),
    }
    insert_if_absent(session, t.Run, [{"study_id": study_id, "slug": slug, "manifest": manifest}])
    found = select(run.id).where(run.study_id == study_id, run.slug == slug)
    return int(session.execute(found).scalar_one())


def _keep_benchmark(
    session: Session,
    each: PlatformBenchmark,
    *,
    runs: Mapping[str, int],
    models: Mapping[str, int],
    judge_id: int,
    said: Mapping[tuple[int, int], bool | None],
    ledger: Ledger,
) -> None:
    folder = _as_folder(each)
    versions = keep_metrics(session, folder, ledger=ledger)
    scenarios = keep_scenarios(session, each.scenarios, versions=versions, ledger=ledger)
    version_of = {scenario.slug: versions[scenario.metric] for scenario in each.scenarios}
    keys = {place: f"{each.slug}__{place[0]}" for place in each.verdicts}
    stored = _stored_conversations(session, runs, prefix=f"{each.slug}__")
    new = [
        {
            "run_id": runs[model],
            "key": key,
            "scenario_id": scenarios[scenario],
            "model_id": models[model],
            "turns": [],
            "content_hash": content_hash({"without a transcript": key}),
            "status": "labels_only",
            "remarks": [],
            "created_at": t.now(),
        }
        for (scenario, model), key in keys.items()
        if (runs[model], key) not in stored
    ]
    _insert(session, t.Conversation, new)
    ledger.count("conversations", read=len(keys), added=len(new))
    ids = _stored_conversations(session, runs, prefix=f"{each.slug}__")
    rows = []
    for (scenario, model), present in each.verdicts.items():
        place = ids[runs[model], keys[scenario, model]], version_of[scenario]
        if place not in said:
            rows.append(_judgment(place, judge_id, present))
        elif said[place] != present:
            raise ImportRefused(
                f"the verdict on {model} in scenario {scenario!r} of {each.slug} was imported as"
                f" {_word(said[place])} and is {_word(present)} now: import it into another study with --study,"
                " or as another judge's with --judge"
            )
    _insert(session, t.Judgment, rows)
    ledger.count("judgments", read=len(each.verdicts), added=len(rows))


def _judgment(place: tuple[int, int], judge_id: int, present: bool | None) -> dict[str, Any]:
    return {
        "conversation_id": place[0],
        "metric_version_id": place[1],
        "judge_id": judge_id,
        "repeat": 0,
        "present": present,
        "unscored_because": NO_VERDICT if present is None else "",
        "justification": "",
        "raw_reply": "",
        "created_at": t.now(),
    }


def _as_folder(each: PlatformBenchmark) -> RunFolder:
    return RunFolder(
        path=Path(each.slug),
        slug=each.slug,
        name=each.name,
        description="",
        study_title="",
        study_notice="",
        metrics=each.metrics,
        scenarios=each.scenarios,
        runs=(),
    )


def _insert(session: Session, table: type[t.Table], rows: list[dict[str, Any]]) -> None:
    """Add whole rows that the reading has checked: the tens of thousands are not validated one by one again."""
    if rows:
        session.execute(insert(table), rows)


def _stored_conversations(
    session: Session, runs: Mapping[str, int], *, prefix: str
) -> dict[tuple[int, str], int]:
    found = select(conversation.run_id, conversation.key, conversation.id).where(
        conversation.run_id.in_(runs.values()), conversation.key.startswith(prefix, autoescape=True)
    )
    return {(run_id, key): int(ident) for run_id, key, ident in session.execute(found)}


def _said(session: Session, judge_id: int, runs: Mapping[str, int]) -> dict[tuple[int, int], bool | None]:
    """What this judge is recorded to have said of the conversations of these runs."""
    found = (
        select(judgment.conversation_id, judgment.metric_version_id, judgment.present)
        .join(t.Conversation, conversation.id == judgment.conversation_id)
        .where(conversation.run_id.in_(runs.values()), judgment.judge_id == judge_id, judgment.repeat == 0)
    )
    return {(ident, version): present for ident, version, present in session.execute(found)}


def _word(present: bool | None) -> str:
    return "no verdict" if present is None else "yes" if present else "no"


def _metric_ids(session: Session) -> dict[str, int]:
    found = select(benchmark.slug, metric.slug, metric.id).join(
        t.Benchmark, benchmark.id == metric.benchmark_id
    )
    return {f"{of}__{name}": int(ident) for of, name, ident in session.execute(found)}


def _keep_places(session: Session, platform: Platform, metrics: Mapping[str, int]) -> None:
    rows = [{"slug": one.slug, "domain": one.domain, "name": one.name} for one in platform.places]
    insert_if_absent(session, t.Subarea, rows)
    ids = {slug: int(ident) for slug, ident in session.execute(select(subarea.slug, subarea.id))}
    placements = [
        {"metric_id": metrics[key], "subarea_id": ids[place]}
        for key, places in platform.placed.items()
        if key in metrics
        for place in places
    ]
    insert_if_absent(session, t.Placement, placements)


def _keep_categories(
    session: Session, platform: Platform, metrics: Mapping[str, int], *, ledger: Ledger
) -> None:
    rows = [
        {"slug": one.slug, "name": one.name, "description": one.description, "position": place}
        for place, one in enumerate(platform.categories)
    ]
    added = insert_if_absent(session, t.Category, rows)
    ledger.count("headings", read=len(rows), added=added)
    columns = inspect(t.Category).columns
    ids = {slug: int(ident) for slug, ident in session.execute(select(columns.slug, columns.id))}
    members = list(_members(platform, metrics, ids))
    insert_if_absent(session, t.CategoryMetric, members)


def _members(
    platform: Platform, metrics: Mapping[str, int], ids: Mapping[str, int]
) -> Iterator[dict[str, int]]:
    for category in platform.categories:
        for key in category.metrics:
            if key in metrics:
                yield {"category_id": ids[category.slug], "metric_id": metrics[key]}

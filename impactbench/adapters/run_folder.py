"""Keeps what a run folder says: all of it in one transaction, and nothing that is there already."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, delete, select, true, update
from sqlmodel import Session

from impactbench.adapters import ImportRefused
from impactbench.adapters.run_folder_carried import carried_by_benchmark, carried_by_run
from impactbench.adapters.run_folder_content import (
    Ledger,
    Tally,
    keep_metrics,
    keep_models,
    keep_scenarios,
    keep_study,
)
from impactbench.adapters.run_folder_reading import UNNAMED_JUDGE, FolderJudge, FolderRun, RunFolder
from impactbench.adapters.run_folder_results import NO_SCORE, FolderConversation, FolderScore, count_verdicts
from impactbench.domain import content_hash
from impactbench.store import tables as t
from impactbench.store.engine import insert_if_absent, writing
from impactbench.store.frames import conversation as conversation_columns
from impactbench.store.frames import judge as judge_columns
from impactbench.store.frames import judgment as judgment_columns
from impactbench.store.frames import model as model_columns
from impactbench.store.frames import run as run_columns
from impactbench.store.frames import scenario as scenario_columns

_AT_ONCE = 500

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFolderImported:
    """What an import of a run folder read, added and left as it was."""

    study: str
    runs: tuple[str, ...]
    tallies: Mapping[str, Tally]
    """By kind: metrics, scenarios, conversations, judgments."""
    verdicts: Mapping[str, int]
    """Of the judgments read: present, absent, unscored; passed, failed (present and polarity put together)."""
    unscored: Mapping[str, int]
    """Of the judgments read: how many are unscored for which reason."""
    filled_in: int
    """How often something was unknown and is known now: a family, the name of the judge, a score."""
    notes: tuple[str, ...]

    @property
    def changed(self) -> bool:
        return self.filled_in > 0 or any(tally.added for tally in self.tallies.values())


def import_run_folder(
    engine: Engine, folder: RunFolder, *, study: str = "", run: str = "", on_progress: Progress | None = None
) -> RunFolderImported:
    """Add a run folder to a study; what is there already stays as it is.

    Args:
        engine: the database.
        folder: what `read_run_folder` read.
        study: the slug of the study; the benchmark's folder name by default.
        run: what to call this pass; the benchmark's folder name by default. A run is called `<pass>/<model>`.
        on_progress: told how many of the conversations are kept, and how many there are.

    Raises:
        ImportRefused: the database holds something under the same name that says something else.
    """
    study = study or folder.slug
    ledger = Ledger()
    total = sum(len(each.conversations) for each in folder.runs)
    kept: list[_KeptRun] = []
    besides = carried_by_benchmark(folder)
    with writing(engine) as session:
        title = folder.study_title or (folder.name if study == folder.slug else study)
        study_id = keep_study(session, study, title=title, notice=folder.study_notice, ledger=ledger)
        versions = keep_metrics(session, folder, ledger=ledger)
        models = [model for each in folder.runs for model in (each.model, each.judge.model)]
        model_ids = keep_models(session, models, ledger=ledger)
        scenario_ids = keep_scenarios(session, folder.scenarios, versions=versions, ledger=ledger)
        version_of = {scenario.slug: versions[scenario.metric] for scenario in folder.scenarios}
        for each in folder.runs:
            slug = f"{run or folder.slug}/{each.model.slug}"
            run_id = _keep_run(session, study_id, slug, folder=folder, run=each, besides=besides)
            place = _KeptRun(run_id, slug, each, ledger)
            kept.append(place)
            for done in place.keep_conversations(session, model_ids[each.model.slug], scenario_ids):
                if on_progress:
                    on_progress(sum(len(one.run.conversations) for one in kept[:-1]) + done, total)
            judge_id = _keep_judge(session, each.judge, model_ids[each.judge.model.slug])
            place.keep_judgments(session, judge_id, version_of)
    scores = [score for each in folder.runs for score in each.scores]
    return RunFolderImported(
        study=study,
        runs=tuple(one.slug for one in kept),
        tallies=dict(ledger.tallies),
        verdicts=dict(count_verdicts(scores)),
        unscored=dict(Counter(score.unscored_because for score in scores if score.present is None)),
        filled_in=ledger.filled_in,
        notes=tuple(dict.fromkeys((*ledger.notes, *_remarks(folder)))),
    )


def _remarks(folder: RunFolder) -> list[str]:
    remarks = []
    if any(run.judge.model.slug == UNNAMED_JUDGE for run in folder.runs):
        remarks.append(
            f"the folder does not name its judge, which is recorded as {UNNAMED_JUDGE!r}; --judge names it"
        )
    broken_off = sum(not each.complete for run in folder.runs for each in run.conversations)
    if broken_off:
        remarks.append(f"{broken_off} conversations end with the user and are kept as incomplete")
    ageless = sum(scenario.age is None for scenario in folder.scenarios)
    if ageless:
        remarks.append(f"{ageless} scenarios have no age variant")
    return remarks


def _keep_run(
    session: Session,
    study_id: int,
    slug: str,
    *,
    folder: RunFolder,
    run: FolderRun,
    besides: Mapping[str, Any],
) -> int:
    """The id of a run. What the folder says besides what is kept goes into its manifest, for an export."""
    of_run = carried_by_run(folder, run, scenarios=besides.get("scenarios", {}))
    manifest = {
        "layout": "published run folder",
        "benchmark": folder.slug,
        "model": run.model.slug,
        "sha256": dict(run.file_hashes),
        "carried": {**besides, **of_run},
    }
    insert_if_absent(session, t.Run, [{"study_id": study_id, "slug": slug, "manifest": manifest}])
    found = select(run_columns.id).where(run_columns.study_id == study_id, run_columns.slug == slug)
    return int(session.execute(found).scalar_one())


def _keep_judge(session: Session, judge: FolderJudge, model_id: int) -> int:
    row = {
        "model_id": model_id,
        "prompt_hash": judge.prompt_hash,
        "parameters": dict(judge.parameters),
        "parameters_hash": content_hash(dict(judge.parameters)),
    }
    insert_if_absent(session, t.Judge, [row])
    found = select(judge_columns.id).where(
        judge_columns.model_id == model_id,
        judge_columns.prompt_hash == row["prompt_hash"],
        judge_columns.parameters_hash == row["parameters_hash"],
    )
    return int(session.execute(found).scalar_one())


@dataclass(frozen=True, slots=True)
class _KeptRun:
    """A run that has its row, and what is to be kept under it."""

    id: int
    slug: str
    run: FolderRun
    ledger: Ledger

    @property
    def _unnamed(self) -> bool:
        return self.run.judge.model.slug == UNNAMED_JUDGE

    def keep_conversations(
        self, session: Session, model_id: int, scenario_ids: Mapping[str, int]
    ) -> Iterator[int]:
        """Add the conversations that are not there; gives how many are done so far."""
        found = select(conversation_columns.key, conversation_columns.content_hash)
        known = session.execute(found.where(conversation_columns.run_id == self.id))
        stored = {key: str(content) for key, content in known}
        for first in range(0, len(self.run.conversations), _AT_ONCE):
            several = self.run.conversations[first : first + _AT_ONCE]
            for conversation in several:
                if stored.get(conversation.key, conversation.content_hash) != conversation.content_hash:
                    raise ImportRefused(
                        f"conversation {conversation.key!r} was imported before with another text (run"
                        f" {self.slug!r}): import it as a new run with --run NAME"
                    )
            rows = [
                self._row(conversation, model_id=model_id, scenario_id=scenario_ids[conversation.scenario])
                for conversation in several
                if conversation.key not in stored
            ]
            added = insert_if_absent(session, t.Conversation, rows)
            self.ledger.count("conversations", read=len(several), added=added)
            yield first + len(several)

    def _row(self, conversation: FolderConversation, *, model_id: int, scenario_id: int) -> dict[str, Any]:
        return {
            "run_id": self.id,
            "key": conversation.key,
            "scenario_id": scenario_id,
            "model_id": model_id,
            "turns": [{"role": turn.role, "content": turn.content} for turn in conversation.turns],
            "content_hash": conversation.content_hash,
            "status": "complete" if conversation.complete else "incomplete",
        }

    def keep_judgments(self, session: Session, judge_id: int, version_of: Mapping[str, int]) -> None:
        """Add the judgments that are not there. A conversation judged before keeps that judgment."""
        found = (
            select(conversation_columns.key, conversation_columns.id, scenario_columns.metric_version_id)
            .join(t.Scenario, scenario_columns.id == conversation_columns.scenario_id)
            .where(conversation_columns.run_id == self.id)
        )
        stored = {key: (ident, version) for key, ident, version in session.execute(found)}
        judged = self._judged(session, judge_id)
        new_version = {each.key: version_of[each.scenario] for each in self.run.conversations}
        rows, completed, named = [], [], []
        for score in self.run.scores:
            ident, version = stored[score.conversation]
            before = judged.get((ident, score.repeat), [])
            own = before if self._unnamed else [one for one in before if one.judge_id == judge_id]
            if any(one.says(score) for one in own) or (own and score.unscored_because == NO_SCORE):
                continue
            if same := [one.id for one in before if one.says(score)]:
                named += same
                continue
            completed += [one.id for one in before if one.unscored_because == NO_SCORE]
            if said := [one for one in own if one.unscored_because != NO_SCORE]:
                version = new_version[score.conversation]
                for one in said:
                    if one.metric_version_id == version:
                        raise ImportRefused(self._contradiction(score, one))
            rows.append(_judgment_row(score, ident=ident, version=version, judge_id=judge_id))
        self._fill_in(session, named=named, completed=completed, judge_id=judge_id)
        added = insert_if_absent(session, t.Judgment, rows)
        self.ledger.count("judgments", read=len(self.run.scores), added=added)

    def _fill_in(
        self, session: Session, *, named: Sequence[int], completed: Sequence[int], judge_id: int
    ) -> None:
        """Give judgments of the unnamed judge its name, and make room for scores that were not there."""
        for first in range(0, len(completed), _AT_ONCE):
            ids = completed[first : first + _AT_ONCE]
            session.execute(delete(t.Judgment).where(judgment_columns.id.in_(ids)))
        for first in range(0, len(named), _AT_ONCE):
            ids = named[first : first + _AT_ONCE]
            session.execute(update(t.Judgment).where(judgment_columns.id.in_(ids)).values(judge_id=judge_id))
        self.ledger.filled_in += len(completed) + len(named)
        if completed:
            self.ledger.notes.append(f"{len(completed)} conversations without a score have one now")
        if named:
            self.ledger.notes.append(
                f"{len(named)} judgments of the judge without a name are now {self.run.judge.model.slug}'s"
            )

    def _judged(self, session: Session, judge_id: int) -> dict[tuple[int, int], list["_Judged"]]:
        """What this judge said before, and what is recorded of a judge without a name (who may be any)."""
        unnamed = (
            select(judge_columns.id)
            .join(t.Model, model_columns.id == judge_columns.model_id)
            .where(model_columns.slug == UNNAMED_JUDGE)
        )
        of_interest = (judgment_columns.judge_id == judge_id) | judgment_columns.judge_id.in_(unnamed)
        found = (
            select(
                judgment_columns.conversation_id,
                judgment_columns.repeat,
                judgment_columns.id,
                judgment_columns.judge_id,
                judgment_columns.metric_version_id,
                judgment_columns.present,
                judgment_columns.unscored_because,
                judgment_columns.justification,
            )
            .join(t.Conversation, conversation_columns.id == judgment_columns.conversation_id)
            .where(conversation_columns.run_id == self.id, true() if self._unnamed else of_interest)
        )
        judged: dict[tuple[int, int], list[_Judged]] = {}
        for conversation_id, repeat, *rest in session.execute(found):
            judged.setdefault((conversation_id, repeat), []).append(_Judged(*rest))
        return judged

    def _contradiction(self, score: FolderScore, before: "_Judged") -> str:
        return (
            f"conversation {score.conversation!r} of run {self.slug!r} was imported as {before.verdict} with sample"
            f" {score.repeat} of this judge, and scores.json now says otherwise ({_verdict(score.present)}): give a"
            " repeat its own sample, another judge its name with --judge, or import a new run with --run NAME"
        )


@dataclass(frozen=True, slots=True)
class _Judged:
    """A judgment that is there already."""

    id: int
    judge_id: int
    metric_version_id: int
    present: bool | None
    unscored_because: str
    justification: str

    @property
    def verdict(self) -> str:
        return _verdict(self.present)

    def says(self, score: FolderScore) -> bool:
        if (self.present, self.justification) != (score.present, score.justification):
            return False
        return self.unscored_because == score.unscored_because


def _verdict(present: bool | None) -> str:
    return {True: "present", False: "absent", None: "unscored"}[present]


def _judgment_row(score: FolderScore, *, ident: int, version: int, judge_id: int) -> dict[str, Any]:
    return {
        "conversation_id": ident,
        "metric_version_id": version,
        "judge_id": judge_id,
        "repeat": score.repeat,
        "present": score.present,
        "unscored_because": score.unscored_because,
        "justification": score.justification,
        "raw_reply": score.raw_reply,
    }

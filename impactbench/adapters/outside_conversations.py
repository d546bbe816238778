"""Conversations that another program recorded, with the verdicts and labels that came with them, kept as a study.

The modules for single formats read a file into an `OutsideStudy`; this one knows how that becomes rows.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Engine

from impactbench.adapters import ImportRefused
from impactbench.adapters.portable_rows import PortableStore
from impactbench.adapters.ratings_table_items import LABELS_ONLY, model_row
from impactbench.adapters.run_folder_content import version_row
from impactbench.domain import LabelStatus, LabelVerdict, MetricDefinition, Panel, Turn, content_hash
from impactbench.store.engine import writing


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideConversation:
    key: str
    scenario: str
    model: str
    turns: tuple[Turn, ...]
    persona: str = ""
    user_goal: str = ""
    system_prompt: str = ""
    broken_off: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideJudge:
    """Who gave verdicts: a model, or a program that compares texts."""

    model: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    prompt_hash: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideVerdict:
    """What a judge said; `present` None is unscored, and then there is a reason."""

    conversation: str
    metric: str
    judge: OutsideJudge
    present: bool | None
    unscored_because: str = ""
    justification: str = ""
    repeat: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideLabel:
    conversation: str
    metric: str
    rater: str
    status: LabelStatus
    verdict: LabelVerdict | None = None
    reason: str = ""
    rationale: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideStudy:
    """What a file of another program holds."""

    source: str
    """What to call it in messages."""
    benchmark: str
    title: str
    manifest: Mapping[str, Any]
    metrics: Mapping[str, MetricDefinition]
    """By slug; conversations without verdicts stand under the first."""
    conversations: tuple[OutsideConversation, ...]
    verdicts: tuple[OutsideVerdict, ...] = ()
    labels: tuple[OutsideLabel, ...] = ()
    panels: Mapping[str, Panel | None] = field(default_factory=dict)
    """The panel of each rater."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideImported:
    study: str
    run: str
    read: Mapping[str, int]
    added: Mapping[str, int]
    notes: tuple[str, ...]

    @property
    def changed(self) -> bool:
        return any(self.added.values())


def import_outside_study(
    engine: Engine, outside: OutsideStudy, *, study: str = "", run: str = ""
) -> OutsideImported:
    """Keep conversations with their verdicts and labels in one transaction; what is there already stays as it is.

    Args:
        engine: the database.
        outside: what was read.
        study: the slug of the study; that of the benchmark by default.
        run: the name of the run; that of the benchmark by default.

    Raises:
        ImportRefused: there is no conversation, or the database says something else under the same name.
    """
    if not outside.conversations:
        raise ImportRefused(f"{outside.source}: there is no conversation to import")
    study, run = study or outside.benchmark, run or outside.benchmark
    rows = _Rows(outside, study, run)
    with writing(engine) as session:
        store = PortableStore(session)
        for name, several in rows.tables():
            store.keep(name, several, where=outside.source)
    told = ("metric", "conversation", "judgment", "rater", "label")
    return OutsideImported(
        study=study,
        run=run,
        read={name: store.read[name] for name in told if store.read[name]},
        added={name: store.added[name] for name in told if store.read[name]},
        notes=outside.notes,
    )


@dataclass(frozen=True, slots=True)
class _Rows:
    """An outside study as portable rows."""

    outside: OutsideStudy
    study: str
    run: str

    def tables(self) -> Iterable[tuple[str, Sequence[Mapping[str, Any]]]]:
        """Rows by table, in an order in which nothing comes before what it belongs to."""
        of = self.outside
        yield "benchmark", [{"slug": of.benchmark, "name": of.title}]
        yield "metric", [{"benchmark": [of.benchmark], "slug": slug} for slug in of.metrics]
        yield "metric_version", [self._version(slug, each) for slug, each in of.metrics.items()]
        judges = {content_hash(_judge_row(each.judge)): each.judge for each in of.verdicts}
        models = [each.model for each in of.conversations] + [each.model for each in judges.values()]
        yield "model", [model_row(name) for name in dict.fromkeys(models)]
        yield "scenario", list({each.scenario: self._scenario(each) for each in of.conversations}.values())
        yield "study", [{"slug": self.study, "title": of.title}]
        yield "run", [{"study": [self.study], "slug": self.run, "manifest": dict(of.manifest)}]
        yield "conversation", [self._conversation(each) for each in of.conversations]
        yield "judge", [_judge_row(each) for each in judges.values()]
        yield "judgment", [self._judgment(each) for each in of.verdicts]
        if of.labels:
            yield "rater", [{"pseudonym": name, "panel": panel} for name, panel in of.panels.items()]
            yield "review_set", [self._review_set()]
            yield "assignment", list(self._assignments())
            yield "label", [self._label(each) for each in of.labels]

    def _metric(self, slug: str) -> list[Any]:
        return [self.outside.benchmark, slug, 1]

    def _version(self, slug: str, definition: MetricDefinition) -> dict[str, Any]:
        row: dict[str, Any] = version_row(0, definition, version=1, because="")
        return {**row, "metric": [self.outside.benchmark, slug]}

    def _scenario(self, each: OutsideConversation) -> dict[str, Any]:
        said = {
            "persona": each.persona,
            "user_goal": each.user_goal,
            "system_prompt": each.system_prompt,
            "slug": each.scenario,
        }
        first = next(iter(self.outside.metrics))
        return {
            "metric_version": self._metric(first),
            "base_scenario": each.scenario,
            "content_hash": content_hash(said),
            **said,
        }

    def _conversation(self, each: OutsideConversation) -> dict[str, Any]:
        first = next(iter(self.outside.metrics))
        complete = not each.broken_off and bool(each.turns) and each.turns[-1].role == "assistant"
        status = "complete" if complete else "incomplete" if each.turns else LABELS_ONLY
        return {
            "run": [self.study, self.run],
            "key": each.key,
            "scenario": [*self._metric(first), each.scenario],
            "model": [each.model],
            "turns": [turn.model_dump() for turn in each.turns],
            "content_hash": content_hash([[turn.role, turn.content] for turn in each.turns]),
            "status": status,
        }

    def _judgment(self, each: OutsideVerdict) -> dict[str, Any]:
        judge = _judge_row(each.judge)
        return {
            "conversation": [self.study, self.run, each.conversation],
            "metric_version": self._metric(each.metric),
            "judge": [each.judge.model, judge["prompt_hash"], judge["parameters_hash"]],
            "repeat": each.repeat,
            "present": each.present,
            "unscored_because": each.unscored_because,
            "justification": each.justification,
        }

    def _review_set(self) -> dict[str, Any]:
        design = {"source": self.outside.source.rsplit("/", 1)[-1]}
        return {
            "study": [self.study],
            "slug": f"import-{self.run}",
            "origin": "import",
            "design": design,
            "design_hash": content_hash(design),
        }

    def _assignment_key(self, each: OutsideLabel) -> list[Any]:
        return [
            self.study,
            *[self.study, self.run, each.conversation],
            *self._metric(each.metric),
            each.rater,
            0,
        ]

    def _assignments(self) -> Iterable[dict[str, Any]]:
        positions: dict[str, int] = {}
        for each in self.outside.labels:
            positions[each.rater] = positions.get(each.rater, 0) + 1
            yield {
                "study": [self.study],
                "review_set": [self.study, f"import-{self.run}"],
                "conversation": [self.study, self.run, each.conversation],
                "metric_version": self._metric(each.metric),
                "rater": [each.rater],
                "repeat": 0,
                "code": "import-" + content_hash(self._assignment_key(each))[:24],
                "position": positions[each.rater],
            }

    def _label(self, each: OutsideLabel) -> dict[str, Any]:
        key = self._assignment_key(each)
        return {
            "assignment": key,
            "revision": 1,
            "operation": content_hash({"kept": key, "revision": 1}),
            "status": each.status,
            "verdict": each.verdict,
            "no_verdict_because": each.reason,
            "rationale": each.rationale,
        }


def _judge_row(judge: OutsideJudge) -> dict[str, Any]:
    return {
        "model": [judge.model],
        "prompt_hash": judge.prompt_hash,
        "parameters": dict(judge.parameters),
        "parameters_hash": content_hash(dict(judge.parameters)),
    }

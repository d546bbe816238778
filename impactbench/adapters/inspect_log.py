"""Logs of Inspect: their samples as conversations, their scores as verdicts of a judge.

Read by Inspect's documented log format, a JSON document or a zip of JSON documents, without Inspect itself
(docs/decisions says why).
"""

import json
import math
import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from impactbench.adapters import ImportRefused
from impactbench.adapters.documents import file_hash, why_unfit
from impactbench.adapters.outside_conversations import (
    OutsideConversation,
    OutsideJudge,
    OutsideStudy,
    OutsideVerdict,
)
from impactbench.domain import MetricDefinition, Polarity, Turn

NOT_SCORED = "not-scored"
_ATTACHMENT = "attachment://"
_PRESENT = {"C": True, "I": False, "true": True, "false": False, "yes": True, "no": False}


def read_inspect_log(path: Path, *, polarity: Polarity = Polarity.POSITIVE) -> OutsideStudy:
    """Read a log, `.eval` or `.json`.

    A sample is a conversation, named `<id>_epoch_<epoch>`; each of its scorers is a metric and a judge. C, true and 1 are
    present, I, false and 0 absent, anything else unscored. A score that somebody edited counts as it was first given.

    Args:
        path: the log.
        polarity: whether what the scorers find present is wanted.

    Raises:
        ImportRefused: the file is no log, or has no samples.
    """
    header, samples = _read(path)
    about = header.get("eval")
    if not isinstance(about, dict) or "task" not in about:
        raise ImportRefused(f"{path}: there is no 'eval' with a task, so this is not a log of Inspect")
    status = str(header.get("status", "unknown"))
    reader = _SampleReader(path, about)
    for sample in samples:
        reader.add(sample)
    if not reader.conversations:
        left_out = f", and {sum(reader.left_out.values())} samples were left out" if reader.left_out else ""
        raise ImportRefused(
            f"{path}: the log has no samples to import (its status is {status!r}{left_out}); run the evaluation with"
            " its samples logged, to its end"
        )
    metrics = {
        name: _definition(name, str(about["task"]), polarity) for name in reader.scorers or [NOT_SCORED]
    }
    return OutsideStudy(
        source=str(path),
        benchmark=_slug(str(about["task"])),
        title=str(about["task"]),
        manifest={
            "layout": "Inspect log",
            "file": path.name,
            "sha256": file_hash(path),
            "status": status,
            **{
                name: about[name]
                for name in ("eval_id", "run_id", "task", "created", "model")
                if name in about
            },
        },
        metrics=metrics,
        conversations=tuple(reader.conversations),
        verdicts=tuple(reader.verdicts),
        notes=tuple(reader.notes(status)),
    )


def _read(path: Path) -> tuple[dict[str, Any], Iterator[dict[str, Any]]]:
    try:
        if zipfile.is_zipfile(path):
            return _read_zip(path)
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ImportRefused(f"{path}: there is no such file") from None
    except (OSError, ValueError) as error:
        raise ImportRefused(f"{path}: this is neither JSON nor an .eval file ({error})") from error
    if not isinstance(document, dict):
        raise ImportRefused(f"{path}: the file holds no mapping, so this is not a log of Inspect")
    return document, iter(document.get("samples") or [])


def _read_zip(path: Path) -> tuple[dict[str, Any], Iterator[dict[str, Any]]]:
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        head = next((name for name in ("header.json", "_journal/start.json") if name in names), None)
        if head is None:
            raise ImportRefused(f"{path}: the archive has no header.json, so this is not a log of Inspect")
        try:
            header = json.loads(archive.read(head))
        except NotImplementedError:
            raise ImportRefused(
                f"{path}: the log is packed in a way that this Python cannot open; write it as JSON with"
                " `inspect log convert --to json --output-dir DIR FILE`, and import that"
            ) from None
    return header, _samples_of(path, [name for name in names if name.startswith("samples/")])


def _samples_of(path: Path, names: list[str]) -> Iterator[dict[str, Any]]:
    with zipfile.ZipFile(path) as archive:
        for name in sorted(names, key=lambda name: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]):  # fmt: skip
            yield json.loads(archive.read(name))


@dataclass(slots=True)
class _SampleReader:
    """Turns samples into conversations and verdicts; counts what had to be left out."""

    path: Path
    about: Mapping[str, Any]
    conversations: list[OutsideConversation] = field(default_factory=list)
    verdicts: list[OutsideVerdict] = field(default_factory=list)
    scorers: list[str] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    edited: int = 0

    def add(self, sample: Mapping[str, Any]) -> None:
        key = f"{sample.get('id')}_epoch_{sample.get('epoch', 1)}"
        if any(each.key == key for each in self.conversations):
            raise ImportRefused(f"{self.path}: sample {sample.get('id')!r} is there twice in the same epoch")
        spoken = _Spoken.of(sample)
        self.left_out.update(spoken.left_out)
        if not spoken.turns or spoken.turns[0].role != "user":
            self.left_out["samples that do not begin with the user"] += 1
            return
        if unfit := next(filter(None, (why_unfit(turn.content) for turn in spoken.turns)), ""):
            raise ImportRefused(f"{self.path}: sample {key!r} holds {unfit}, which no database can keep")
        error = sample.get("error")
        self.conversations.append(
            OutsideConversation(
                key=key,
                scenario=str(sample.get("id")),
                model=str(self.about.get("model", "unnamed-model")),
                turns=tuple(spoken.turns),
                system_prompt="\n\n".join(spoken.system),
                broken_off=bool(error),
            )
        )
        for name, score in (sample.get("scores") or {}).items():
            if name not in self.scorers:
                self.scorers.append(name)
            self.verdicts.append(self._verdict(key, name, score))

    def _verdict(self, key: str, name: str, score: Mapping[str, Any]) -> OutsideVerdict:
        history = score.get("history") or []
        self.edited += any(isinstance(edit, dict) and edit.get("provenance") for edit in history)
        first = next((edit for edit in history if not edit.get("provenance")), score)
        value = first.get("value", score.get("value"))
        present = _present(value)
        return OutsideVerdict(
            conversation=key,
            metric=name,
            judge=self._judge(name),
            present=present,
            unscored_because="" if present is not None else _why_unscored(value, score),
            justification=str(first.get("explanation") or ""),
        )

    def _judge(self, name: str) -> OutsideJudge:
        """The model that graded, where the log names one; else the scorer itself, which is a program."""
        found = [each for each in self.about.get("scorers") or [] if each.get("name") == name]
        options = dict(found[0].get("options") or {}) if found else {}
        role = (self.about.get("model_roles") or {}).get("grader")
        role = role.get("model") if isinstance(role, dict) else role
        grader = options.get("model") or role
        grader = grader.get("model") if isinstance(grader, dict) else grader
        return OutsideJudge(
            model=str(grader or f"inspect-scorer/{name}"), parameters={"scorer": name, "options": options}
        )

    def notes(self, status: str) -> Iterator[str]:
        if status != "success":
            yield f"the log ended as {status!r}: there may be fewer samples than were meant to be"
        for what, count in self.left_out.items():
            yield f"{count} {what} were left out"
        if self.edited:
            yield f"{self.edited} scores were edited by somebody afterwards and count as they were first given"
        if not self.scorers:
            yield "no sample has a score, so the conversations came without verdicts"


@dataclass(slots=True)
class _Spoken:
    """What was said in a sample: alternating turns, and what the system was told."""

    turns: list[Turn] = field(default_factory=list)
    system: list[str] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, sample: Mapping[str, Any]) -> "_Spoken":
        spoken = cls()
        attachments = sample.get("attachments") or {}
        for message in sample.get("messages") or []:
            text = spoken.text(message.get("content"), attachments)
            match message.get("role"):
                case "system":
                    spoken.system.append(text.strip())
                case "user" | "assistant" as role if text.strip():
                    spoken.say(role, text)
                case "tool":
                    spoken.left_out["replies of tools"] += 1
                case _:
                    pass
        return spoken

    def say(self, role: str, text: str) -> None:
        """Add a turn; two in a row by the same speaker are one."""
        if self.turns and self.turns[-1].role == role:
            text = f"{self.turns.pop().content}\n\n{text}"
        self.turns.append(Turn(role="user" if role == "user" else "assistant", content=text))

    def text(self, content: Any, attachments: Mapping[str, str]) -> str:
        if isinstance(content, str):
            return attachments.get(content.removeprefix(_ATTACHMENT), content) if content.startswith(_ATTACHMENT) else content  # fmt: skip
        parts = []
        for part in content or []:
            if part.get("type") == "text":
                parts.append(self.text(part.get("text", ""), attachments))
            elif part.get("type") != "reasoning":
                self.left_out["pictures and files within messages"] += 1
        return "\n".join(parts)


def _present(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return bool(value) if value in (0, 1) else None
    if isinstance(value, str):
        return _PRESENT.get(value if value in _PRESENT else value.strip().casefold())
    return None


def _why_unscored(value: Any, score: Mapping[str, Any]) -> str:
    if isinstance(value, float) and math.isnan(value):
        return f"the scorer gave no score ({score.get('reason') or 'no reason stated'})"
    return f"the score is {value!r}, which is neither C nor I"


def _definition(scorer: str, task: str, polarity: Polarity) -> MetricDefinition:
    if scorer == NOT_SCORED:
        definition = f"The log of the task {task!r} has no score."
    else:
        definition = f"The scorer {scorer!r} finds the sample of the task {task!r} correct (C)."
    return MetricDefinition(name=scorer, polarity=polarity, definition=definition)


def _slug(text: str) -> str:
    return re.sub(r"[^\w.-]+", "-", text).strip("-") or "inspect-log"

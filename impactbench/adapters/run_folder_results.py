"""Reads what a run made: its conversations, and what the judge said of them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from impactbench.adapters import ImportRefused
from impactbench.adapters.documents import Entry, read_json_entries, shown, why_unfit
from impactbench.domain import Polarity, Turn, content_hash, passes

NO_SCORE = "the run folder has no score of this conversation"
NO_VERDICT = "the run folder gives no verdict (present is null)"

_ROLES = ("user", "assistant")


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderConversation:
    key: str
    scenario: str
    turns: tuple[Turn, ...]
    content_hash: str

    @property
    def complete(self) -> bool:
        return self.turns[-1].role == "assistant"


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderScore:
    """What the judge said once; `present` None is unscored, and then there is a reason."""

    conversation: str
    repeat: int
    present: bool | None
    passed: bool | None
    unscored_because: str
    justification: str
    raw_reply: str


def read_conversations(
    path: Path, *, metric_of: Mapping[str, str], polarities: Mapping[str, Polarity]
) -> tuple[tuple[FolderConversation, ...], str]:
    """The conversations of a run, and what the target is called beside the name of its folder.

    Args:
        path: conversations.json
        metric_of: the metric of each scenario that there is.
        polarities: the polarity of each metric that there is.
    """
    conversations: dict[str, FolderConversation] = {}
    target = ""
    for entry in read_json_entries(path, noun="conversation", key="conv_id"):
        key, scenario = entry.text("conv_id"), entry.text("id")
        if key in conversations:
            raise entry.refuse("this conv_id is there twice, each conversation needs its own")
        if scenario not in metric_of:
            raise entry.refuse(f"its scenario {scenario!r} is not in scenarios.json")
        _require_metric(entry, metric_of[scenario], polarities)
        target = _target(entry, folder=path.parent.resolve().name)
        turns = _turns(entry)
        conversations[key] = FolderConversation(
            key=key,
            scenario=scenario,
            turns=turns,
            content_hash=content_hash([[turn.role, turn.content] for turn in turns]),
        )
    return tuple(conversations.values()), target


def read_scores(
    path: Path,
    *,
    conversations: Sequence[FolderConversation],
    metric_of: Mapping[str, str],
    polarities: Mapping[str, Polarity],
    allow_unscored: bool,
) -> tuple[FolderScore, ...]:
    """The scores of a run. A conversation without one is refused, or unscored where that is allowed.

    Args:
        path: scores.json
        conversations: those of the same run.
        metric_of: the metric of each scenario.
        polarities: the polarity of each metric.
        allow_unscored: store a conversation without a score as unscored, with that as the reason.
    """
    if not path.exists() and not allow_unscored:
        raise ImportRefused(
            f"{path}: there is no such file, so no conversation has a score;"
            " judge the run first, or import it as unscored with --allow-unscored"
        )
    metric_by_key = {conversation.key: metric_of[conversation.scenario] for conversation in conversations}
    scores: dict[tuple[str, int], FolderScore] = {}
    entries = read_json_entries(path, noun="score", key="conv_id") if path.exists() else iter(())
    for found in entries:
        key, repeat = found.text("conv_id"), found.number("sample", default=0)
        entry = Entry(f"{path}: score of conversation {key!r}", found.fields)
        if key not in metric_by_key:
            raise entry.refuse("there is no such conversation in conversations.json")
        if (key, repeat) in scores:
            raise entry.refuse(
                f"there are two with sample {repeat}; each repeat of the judge has its own number"
            )
        _require_metric(entry, metric_by_key[key], polarities)
        scores[key, repeat] = _score(entry, key=key, repeat=repeat, polarity=polarities[metric_by_key[key]])
    scored = {key for key, _ in scores}
    without = [key for key in metric_by_key if key not in scored]
    if without and not allow_unscored:
        raise ImportRefused(
            f"{path}: conversation {without[0]!r} has no score ({len(without)} of {len(metric_by_key)} have none);"
            " judge the run to its end, or import them as unscored with --allow-unscored"
        )
    return (*scores.values(), *(_unscored(key) for key in without))


def count_verdicts(scores: Sequence[FolderScore]) -> Counter[str]:
    """How many scores are present, absent, unscored; passed, failed."""
    counts = Counter({"present": 0, "absent": 0, "unscored": 0, "passed": 0, "failed": 0})
    for score in scores:
        if score.present is None:
            counts["unscored"] += 1
        else:
            counts["present" if score.present else "absent"] += 1
            counts["passed" if score.passed else "failed"] += 1
    return counts


def _unscored(key: str) -> FolderScore:
    return FolderScore(
        conversation=key,
        repeat=0,
        present=None,
        passed=None,
        unscored_because=NO_SCORE,
        justification="",
        raw_reply="",
    )


def _score(entry: Entry, *, key: str, repeat: int, polarity: Polarity) -> FolderScore:
    if "present" not in entry.fields:
        raise entry.refuse("there is no 'present', which must be true, false or null")
    present, said = entry.truth("present"), entry.truth("passed")
    passed = None if present is None else passes(present, polarity)
    if passed is not None and said is not None and said is not passed:
        raise entry.refuse(
            f"passed is {shown(said)}, but present is {shown(present)} and the metric is {polarity},"
            f" so it must be {shown(passed)}"
        )
    reason = ""
    if present is None:
        reason = entry.text("unscored_because", default="") or NO_VERDICT
        if said is not None:
            reason += f"; its passed: {shown(said)} was not taken over"
    return FolderScore(
        conversation=key,
        repeat=repeat,
        present=present,
        passed=passed,
        unscored_because=reason,
        justification=entry.text("justification", default=""),
        raw_reply=entry.text("raw_reply", default=""),
    )


def _require_metric(entry: Entry, metric: str, polarities: Mapping[str, Polarity]) -> None:
    said = entry.text("metric_id", default=metric)
    if said not in polarities:
        raise entry.refuse(
            f"metric_id is {said!r}, which is not in benchmark.yaml; there is {', '.join(polarities)}"
        )
    if said != metric:
        raise entry.refuse(f"metric_id is {said!r}, but its scenario belongs to {metric!r}")
    kind = entry.text("metric_type", default=polarities[metric])
    if kind not in set(Polarity):
        raise entry.refuse(f"metric_type is {kind!r}, it must be 'positive' or 'negative'")
    if kind != polarities[metric]:
        raise entry.refuse(
            f"metric_type is {kind!r}, but benchmark.yaml says that {metric} is '{polarities[metric]}'"
        )


def _target(entry: Entry, *, folder: str) -> str:
    value = entry.fields.get("target")
    target = entry.mapping("target") if isinstance(value, dict) else entry
    name = target.text("id" if target is not entry else "target", default=folder)
    if name != folder:
        raise entry.refuse(f"its target is {name!r}, but it lies in the folder of {folder!r}")
    return target.text("model", default="") if target is not entry else ""


def _turns(entry: Entry) -> tuple[Turn, ...]:
    transcript = entry.fields.get("transcript")
    if not isinstance(transcript, list) or not transcript:
        found = "empty" if transcript == [] else shown(transcript)
        raise entry.refuse(f"its transcript is {found}, it must be a list of turns that begins with the user")
    return tuple(_turn(entry, found, position) for position, found in enumerate(transcript))


def _turn(entry: Entry, found: Any, position: int) -> Turn:
    where = f"message {position + 1} of the transcript"
    if not isinstance(found, dict):
        raise entry.refuse(f"{where} is {shown(found)}, it must be a mapping of role and content")
    role, content, expected = found.get("role"), found.get("content"), _ROLES[position % 2]
    if role not in _ROLES:
        raise entry.refuse(f"{where} has the role {role!r}, it must be 'user' or 'assistant'")
    if role != expected:
        raise entry.refuse(
            f"{where} is by the {role}, it must be by the {expected}: user and assistant take turns, the user begins"
        )
    if not isinstance(content, str):
        raise entry.refuse(f"the content of {where} is {shown(content)}, it must be a text")
    if not content.strip():
        raise entry.refuse(f"the content of {where} is empty, it must say something")
    if unfit := why_unfit(content):
        raise entry.refuse(f"the content of {where} holds {unfit}, which no database can keep: take it out")
    return Turn(role=expected, content=content)

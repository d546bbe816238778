"""What a judge's reply says, read strictly: one JSON object with a truth value and a reason, or no verdict and why.

There is no default. A reply that can be read in two ways is not read at all.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

from impactbench.llm import FILTERED, FailureKind, Reply

_FENCE = re.compile(r"\A```(?:json)?[ \t]*\n(?P<inside>.*)\n[ \t]*```\Z", re.S | re.I)
_BLOCK = re.compile(r"\{[^{}]*\}")
_REFUSAL = re.compile(
    r"\b(?:i\s?(?:’|')?\s?(?:can(?:no|’|')?t|am unable|m unable|won(?:’|')t|must decline|m sorry|am sorry)|(?:sorry|unfortunately), (?:but )?i"
    r"|unable to (?:assist|help|comply)|cannot (?:assist|help|comply)|not able to (?:assist|help))",
    re.I,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a judge said once. `present` None is unscored: then `because` says why, and of which kind that is."""

    present: bool | None
    justification: str = ""
    kind: FailureKind | None = None
    because: str = ""


class _Twice(ValueError):
    """A name that an object has twice."""


def read_verdict(reply: Reply) -> Verdict:
    """The verdict in a reply, or why there is none.

    >>> read_verdict(Reply(text='{"present": false, "justification": "It never asks."}')).present
    False
    >>> read_verdict(Reply(text='{"present": "false", "justification": "It never asks."}')).because
    "malformed: present is the text 'false', it must be true or false without quotation marks"
    """
    text = reply.text.strip()
    if reply.finish_reason == FILTERED:
        return _unscored(FailureKind.CONTENT_FILTER, "the provider's filter held the answer back")
    if reply.truncated:
        return _unscored(FailureKind.TRUNCATED, "the answer was cut off at the most tokens allowed")
    if not text:
        return _unscored(FailureKind.EMPTY, "the answer was empty")
    if fenced := _FENCE.match(text):
        text = fenced["inside"].strip()
    try:
        found = json.loads(text, object_pairs_hook=_once)
    except _Twice as twice:
        return _malformed(f"{twice} is there twice")
    except ValueError:
        return _unreadable(text)
    return _verdict(found)


def _verdict(found: Any) -> Verdict:
    if not isinstance(found, dict):
        return _malformed(f"the answer is {_shown(found)}, it must be a JSON object")
    if "present" not in found:
        return _malformed("there is no 'present'")
    if more := sorted(set(found) - {"present", "justification"}):
        return _malformed(
            f"there is {more[0]!r} beside present and justification, which may say something else"
        )
    present, justification = found["present"], found.get("justification")
    if not isinstance(present, bool):
        quoted = " without quotation marks" if isinstance(present, str) else ""
        return _malformed(f"present is {_shown(present)}, it must be true or false{quoted}")
    if not isinstance(justification, str) or not justification.strip():
        return _malformed("there is no justification")
    return Verdict(present=present, justification=justification.strip())


def _unreadable(text: str) -> Verdict:
    blocks = len(_BLOCK.findall(text))
    if blocks > 1:
        return _malformed(f"there are {blocks} JSON objects")
    if blocks == 1:
        return _malformed("there is text around the JSON object, which may say something else")
    if _REFUSAL.search(text):
        return _unscored(FailureKind.REFUSED, "the judge declined to answer")
    if "{" in text:
        return _malformed("the JSON object is broken")
    return _malformed("there is no JSON object")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise _Twice(repr(name))
    return dict(pairs)


def _malformed(because: str) -> Verdict:
    return _unscored(FailureKind.MALFORMED, because)


def _unscored(kind: FailureKind, because: str) -> Verdict:
    return Verdict(present=None, kind=kind, because=f"{kind}: {because}")


def _shown(value: Any) -> str:
    return f"the text {value!r}" if isinstance(value, str) else json.dumps(value)[:60]

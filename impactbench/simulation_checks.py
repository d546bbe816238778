"""What may go wrong in a simulated message or a target's reply, and how it is recognised."""

import re
from dataclasses import dataclass

from impactbench.llm import FailureKind
from impactbench.scenarios import Unusable

_PLAN = re.compile(r"\A\s*\**thought\**\s*:(?P<thought>.*?)^\s*\**message\**\s*:\s*\**(?P<message>.*)\Z", re.S | re.M | re.I)  # fmt: skip
_ROLE = re.compile(
    r"^\s*\**(?:thought|message|system|assistant|chatbot|person|user|turn \d+)\**\s*:", re.I | re.M
)
_USER_LINE = re.compile(
    r"^[ \t>*_#]*(?:user|human|person|<\|?user\|?>|\[user\])[ \t*_]*:(?!\s*$)", re.I | re.M
)
_OWN_LINE = re.compile(r"^[ \t>*_#]*(?:assistant|chatbot|ai|bot)[ \t*_]*:", re.I | re.M)
_FENCED = re.compile(r"```.*?(?:```|\Z)", re.S)
_TALK_OF_THE_STUDY = re.compile(
    r"\b(?:adversarial goal|user goal|hidden pull|simulated (?:user|person)|my persona|the persona|role[- ]?play instructions?"
    r"|system prompt|as instructed|my instructions|objective for (?:this )?turn|test scenario|failure condition|this scenario)\b",
    re.I,
)
_SHARED_WORDS = 9
"""So many words in a row that also stand in the instructions are no accident."""


@dataclass(frozen=True, slots=True)
class PlannedMessage:
    """What the simulator thought, which nobody else sees, and what the person types."""

    thought: str
    message: str


def read_planned_message(text: str) -> PlannedMessage:
    """Thought and message of a simulator's answer.

    Raises:
        Unusable: the answer has another form, or there is no message.
    """
    found = _PLAN.match(text)
    if found is None:
        raise Unusable("the answer must be a line 'Thought: ...' and then 'Message: ...'")
    message = found["message"].strip().strip('"“”').strip()
    if not message:
        raise Unusable("the message was empty", FailureKind.EMPTY)
    return PlannedMessage(thought=found["thought"].strip(), message=message)


def require_in_role(message: str, *, instructions: str) -> None:
    """Refuse a message that writes other roles' lines or gives the simulator's instructions away.

    Raises:
        Unusable: the text says what was found.
    """
    if found := _ROLE.search(message):
        raise Unusable(f"the message holds a line of another role ({found.group().strip()!r})")
    if leaked := leaked_instruction(message, instructions=instructions):
        raise Unusable(f"the message gives the instructions away ({leaked!r})")


def leaked_instruction(message: str, *, instructions: str) -> str:
    """The words by which a message gives the simulator's instructions away; empty where it does not.

    >>> leaked_instruction("My user goal is a refund", instructions="")
    'user goal'
    >>> leaked_instruction("Can I get my money back?", instructions="They want to get their money back.")
    ''
    """
    if found := _TALK_OF_THE_STUDY.search(message):
        return found.group()
    if "[END]" in message.upper():
        return "[END]"
    said, told = _words(message), f" {' '.join(_words(instructions))} "
    for start in range(len(said) - _SHARED_WORDS + 1):
        row = " ".join(said[start : start + _SHARED_WORDS])
        if f" {row} " in told:
            return row
    return ""


def speaks_as_user(reply: str) -> bool:
    r"""Whether a target's reply goes on with lines of the person, as models do that continue a script.

    A dialogue inside a code fence is no such thing.

    >>> speaks_as_user("That sounds hard.\nUser: Yes it does.\nAssistant: Tell me more.")
    True
    >>> speaks_as_user("User: I feel better now")
    True
    >>> speaks_as_user("A user: somebody who logs in.\n```\nUser: hello\n```")
    False
    """
    return bool(_USER_LINE.search(_FENCED.sub("", reply)))


def without_own_label(reply: str) -> str:
    """A reply without the label that a small model puts before its own line.

    >>> without_own_label("Chatbot: Tell me more.")
    'Tell me more.'
    """
    found = _OWN_LINE.match(reply)
    return reply[found.end() :].strip() if found else reply.strip()


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+(?:['’][^\W_]+)?", text.lower())

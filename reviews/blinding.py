"""What a rater's page receives, and nothing else: a type without a field for anything that must stay hidden."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from impactbench.domain import Content, LabelVerdict, MetricDefinition, Polarity

HIDDEN_NAME = "[name hidden]"
_SHORTEST_NAME = 4


class BlindTurn(Content):
    """One message as it is shown. `number` counts exchanges from 1: a person's message and its reply share it."""

    number: int
    speaker: str
    text: str


class MetricQuestion(Content):
    """What a rater is asked about a metric: the behaviour in plain words, and what a pass and a fail mean."""

    question: str
    pass_means: str
    fail_means: str
    definition: str
    in_doubt: str


class BlindItem(Content):
    """An item as a rater's page receives it."""

    code: str
    position: int
    total: int
    asked: MetricQuestion
    turns: tuple[BlindTurn, ...]
    option_order: tuple[LabelVerdict, ...]


def ask(metric: MetricDefinition) -> MetricQuestion:
    """The question of a metric. Polarity is spelled out as what passes and what fails, never named."""
    return put_question(metric.polarity, metric.question, metric.definition, metric.interpretive_clause)


def put_question(polarity: Polarity, question: str, definition: str, clause: str) -> MetricQuestion:
    """The same from the four parts of a metric that it is made of; its examples and evidence are not for raters."""
    done, not_done = "The chatbot does this.", "The chatbot does not do this."
    wanted = polarity is Polarity.POSITIVE
    return MetricQuestion(
        question=question or "Does the chatbot do what is described here?",
        pass_means=done if wanted else not_done,
        fail_means=not_done if wanted else done,
        definition=definition,
        in_doubt=clause,
    )


@dataclass(frozen=True, slots=True, order=True)
class HiddenSpan:
    """A place that is not shown: index of the message from 0, offsets in code points of the original."""

    message: int
    start: int
    end: int


def blind_turns(
    turns: Iterable[dict[str, str]],
    *,
    hidden_names: Iterable[str] = (),
    hidden_spans: Iterable[HiddenSpan] = (),
) -> tuple[BlindTurn, ...]:
    """The messages of a conversation, numbered by exchange, with what must not be read hidden.

    Args:
        turns: the messages as they were recorded.
        hidden_names: names to hide wherever they stand.
        hidden_spans: places to hide, as `reviews.blindness.leak_scan.hidden_spans` decides them.
    """
    pattern, spans = _any_of(hidden_names), sorted(hidden_spans)
    shown, number = [], 0
    for index, turn in enumerate(turns):
        number += turn["role"] == "user"
        speaker = "Person" if turn["role"] == "user" else "Chatbot"
        text = hide(turn["content"], [(span.start, span.end) for span in spans if span.message == index])
        text = pattern.sub(HIDDEN_NAME, text) if pattern else text
        shown.append(BlindTurn(number=number, speaker=speaker, text=text))
    return tuple(shown)


def hide(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """The masked copy of a text; places that overlap become one.

    >>> hide("I am Corvid, of Halden Works.", [(5, 11), (16, 22), (20, 28)])
    'I am [name hidden], of [name hidden].'
    """
    parts, shown = [], 0
    for start, end in sorted(spans):
        if start >= shown:
            parts += [text[shown:start], HIDDEN_NAME]
        shown = max(shown, end)
    return "".join([*parts, text[shown:]])


def names_to_hide(models: Iterable[tuple[str, str, str]]) -> set[str]:
    """Every name by which a model could be recognised, from (slug, family, provider) of each.

    >>> sorted(names_to_hide([("corvid-7", "corvid", "Halden Works")]))
    ['Halden Works', 'corvid', 'corvid-7']
    """
    names = {name for model in models for name in model} | {
        re.split(r"[-_/. ]", slug)[0] for slug, _, _ in models
    }
    return {name for name in names if len(name) >= _SHORTEST_NAME and name not in {"unknown", "model"}}


def _any_of(names: Iterable[str]) -> re.Pattern[str] | None:
    """A pattern of whole words in any case, in which a space, hyphen or nothing may join the parts of a name."""
    spellings = [
        r"[\s\-_.]?".join(re.escape(part) for part in re.split(r"[\s\-_.]+", name) if part)
        for name in sorted(names, key=lambda name: (-len(name), name))
    ]
    return re.compile(rf"(?<!\w)(?:{'|'.join(spellings)})(?!\w)", re.IGNORECASE) if spellings else None

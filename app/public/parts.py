"""What public pages are made of. Every text that is put in is escaped: names, words of models and of experts stay words."""

from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

_ANSWER = Markup('<p class="ib-answer"><strong>{}</strong>{}</p>')
_TEXT = Markup("<p>{}</p>")
_NOTE = Markup('<p class="ib-note">{}</p>')
_LINK = Markup('<a href="{}">{}</a>')
_HEADING = Markup("<h2>{}</h2>")
_FOLDED = Markup("<details><summary>{}</summary>{}</details>")
_WARNING = Markup('<p class="ib-warning">{}</p>')


@dataclass(frozen=True, slots=True)
class Sheet:
    """What stands on a page below its title."""

    title: str
    parts: Iterable[Markup]


def answer(sentence: str, *more: str) -> Markup:
    """The sentence that answers the question of a page, and what follows it."""
    return _ANSWER.format(sentence, "".join(f" {one}" for one in more))


def text(words: str | Markup) -> Markup:
    return _TEXT.format(words)


def note(words: str) -> Markup:
    """What stands beside the matter, smaller."""
    return _NOTE.format(words)


def warning(words: str) -> Markup:
    return _WARNING.format(words)


def heading(words: str) -> Markup:
    return _HEADING.format(words)


def link(words: str, where: str) -> Markup:
    return _LINK.format(where, words)


def folded(words: str, inside: Markup) -> Markup:
    """What is opened by whoever wants it."""
    return _FOLDED.format(words, inside)

"""People type with slips. Edits that a seeded generator makes to a finished message, and never to its meaning."""

import re
from dataclasses import dataclass

import numpy as np

_NEIGHBOURS = {
    "a": "sq", "b": "vn", "c": "xv", "d": "sf", "e": "wr", "f": "dg", "g": "fh", "h": "gj", "i": "uo", "j": "hk", "k": "jl",
    "l": "ko", "m": "nk", "n": "bm", "o": "ip", "p": "ol", "q": "wa", "r": "et", "s": "ad", "t": "ry", "u": "yi", "v": "cb",
    "w": "qe", "x": "zc", "y": "tu", "z": "xa",
}  # fmt: skip
_WORD = re.compile(r"(?<![\w./:@#-])[A-Za-z]{4,}(?![\w./:@-])")
"""Words that may get a slip: not short ones, which it would change, and no parts of addresses, names of files, numbers."""


@dataclass(frozen=True, slots=True)
class TypingHabits:
    """How often what happens; each is a probability."""

    small_first_letter: float = 0.35
    small_i: float = 0.4
    no_full_stop: float = 0.45
    no_apostrophe: float = 0.25
    slip: float = 0.015
    """In each longer word: two letters swapped, one left out, or the key beside."""


def edit(message: str, generator: np.random.Generator, *, habits: TypingHabits | None = None) -> str:
    """A message as somebody might have typed it. The same generator, the same message, the same slips.

    >>> edit("I don't know. Should I call them?", np.random.default_rng(3))
    "i don't know. Should i call them?"
    """
    habits = habits or TypingHabits()
    small, i, stop, apostrophe = generator.random(4)
    if i < habits.small_i:
        message = re.sub(r"\bI\b(?!\.\w)", "i", message)
    if small < habits.small_first_letter and len(message) > 1 and not message[:2].isupper():
        message = message[0].lower() + message[1:]
    if apostrophe < habits.no_apostrophe:
        message = re.sub(r"(?<=[a-z])['’](?=(?:t|s|m|re|ve|ll|d)\b)", "", message)
    if stop < habits.no_full_stop and message.endswith(".") and not message.endswith(".."):
        message = message[:-1]
    return _WORD.sub(lambda found: _slip(found.group(), generator, habits.slip), message)


def _slip(word: str, generator: np.random.Generator, share: float) -> str:
    if generator.random() >= share or word.isupper():
        return word
    place = int(generator.integers(1, len(word) - 1))
    kind = int(generator.integers(3))
    if kind == 0:
        return word[:place] + word[place + 1] + word[place] + word[place + 2 :]
    if kind == 1:
        return word[:place] + word[place + 1 :]
    beside = _NEIGHBOURS.get(word[place].lower())
    return word if beside is None else word[:place] + beside[int(generator.integers(2))] + word[place + 1 :]

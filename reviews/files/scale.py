"""The categories that a table of ratings or verdicts uses, and which of them pass or fail."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self

from impactbench.adapters import ImportRefused

Side = Literal["pass", "fail", "borderline"]
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)")
_KNOWN: dict[tuple[str, ...], tuple[str, str]] = {
    ("fail", "borderline", "pass"): ("fail", "pass"),
    ("absent", "present"): ("absent", "present"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Categories in scale order, with a number each; a cell may hold the word or, where numbers were given, the number."""

    words: tuple[str, ...]
    numbers: tuple[float, ...]
    """Where a category lies; its place from 0 where none was given."""
    numbered: bool
    """Whether the numbers were given, so that means and distances mean something."""
    passes: frozenset[str]
    fails: frozenset[str]
    """What neither passes nor fails is borderline."""

    @classmethod
    def parse(
        cls, text: str | None, *, passes: Sequence[str] = (), fails: Sequence[str] = (), seen: Sequence[str]
    ) -> Self:
        """The scale that somebody declared, or a known one that holds all words seen.

        Args:
            text: categories from worst to best, parted by commas, each with `=number` if it has one.
            passes, fails: the categories that pass, and fail; known for fail/borderline/pass and absent/present.
            seen: the different words of the files.

        Raises:
            ImportRefused: the scale is not known, or a category is on no scale or on both sides.
        """
        if text is None:
            known = next((words for words in _KNOWN if set(words) >= set(seen)), None)
            if known is None:
                raise ImportRefused(
                    f"the categories {', '.join(map(repr, sorted(seen)))} are no known scale; name all of them from worst to"
                    " best with --scale, such as --scale 'fail,borderline,pass' or --scale 'no=0,yes=1'"
                )
            text = ",".join(known)
        parts = [part.rsplit("=", 1) for part in text.split(",")]
        words = tuple(part[0].strip() for part in parts)
        values = [part[1].strip() if len(part) == 2 else "" for part in parts]
        if len(words) < 2 or len(set(words)) < len(words) or "" in words:
            raise ImportRefused(f"--scale {text!r} must name two or more different categories")
        if any(values) and not all(_NUMBER.fullmatch(value) for value in values):
            raise ImportRefused(f"--scale {text!r} must give every category a number (word=number), or none")
        numbers = tuple(map(float, values)) if any(values) else tuple(map(float, range(len(words))))
        if list(numbers) != sorted(set(numbers)):
            raise ImportRefused(f"--scale {text!r} must go from the lowest number to the highest")
        failing, passing = _KNOWN.get(words, ("", ""))
        good, bad = (
            frozenset(passes or ([passing] if passing else [])),
            frozenset(fails or ([failing] if failing else [])),
        )
        cls._require_sides(words, good, bad)
        return cls(words=words, numbers=numbers, numbered=any(values), passes=good, fails=bad)

    @staticmethod
    def _require_sides(words: tuple[str, ...], good: frozenset[str], bad: frozenset[str]) -> None:
        for option, side in (("--passes", good), ("--fails", bad)):
            if strange := sorted(side - set(words)):
                raise ImportRefused(
                    f"{option} {strange[0]!r} is not one of the categories {', '.join(words)}"
                )
            if not side:
                raise ImportRefused(
                    f"say with {option} which of the categories {', '.join(words)} do; nothing is guessed here"
                )
        if both := sorted(good & bad):
            raise ImportRefused(f"{both[0]!r} is under --passes and under --fails; it can be one of them")

    def place(self, cell: str) -> int | None:
        """The place of a cell's category; None where it is none.

        >>> scale = Scale.parse("no=-1,yes=1", passes=["yes"], fails=["no"], seen=[])
        >>> scale.place("yes"), scale.place("-1.0"), scale.place("maybe")
        (1, 0, None)
        """
        if cell in self.words:
            return self.words.index(cell)
        if self.numbered and _NUMBER.fullmatch(cell) and float(cell) in self.numbers:
            return self.numbers.index(float(cell))
        return None

    def side(self, place: int) -> Side:
        """What a category counts as, before polarity."""
        word = self.words[place]
        return "pass" if word in self.passes else "fail" if word in self.fails else "borderline"

"""How models and makers are named in running text, and how a model speaks of itself, in many languages and scripts.

Text is folded before it is searched: case, accents, zero-width characters and letters that only look alike are gone,
each character standing for at most one, so that every place found leads back to the original.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import yaml

from impactbench.resources import content, family_of

KNOWN, ORDINARY, EVERYDAY = "known", "ordinary", "everyday"
_JOINED = r"[\s\-_.·']?"
_SHORTEST_BEGINNING = 3
_WINDOW = 100
_ITSELF = "\0"
"""Stands for a name that a model gave itself, so that its maker's may follow."""
_INNOCENT_WINDOW = 30
_BETWEEN = r"[\s,:\"“„«*_(]+"
_BETWEEN_UNSPACED = r"[\s,:、\"“「『《【*_(]*"
_NEXT_WORDS = r"(?:\s+(?!(?:and|or|to|who|that|which|in|on|for|y|et|und|e|и)\b)[^\s,.;:!?()]+){1,3}"
_VERSION = re.compile(
    r"(?:[ \-_.·']?(?:v?\d+(?:\.\d+)*(?:[bkox]|rc)?|ai|pro|flash|ultra|nano|mini|micro|haiku|sonnet|opus|turbo|large|medium"
    r"|small|instruct|chat|plus|max|lite|preview|instant|scout|maverick|coder|reasoner|think|thinking|latest|omni)"
    r"(?![a-z0-9])){1,5}"
)
_SCRIPTS = {  # what may stand before and behind a name, by the script of its first letter
    "latin": (r"(?<![a-z0-9\u0370-\u052f])", r"(?![a-z0-9\u0370-\u052f])"),
    "cyrillic": (r"(?<!\w)", "FOLDED(?:а|у|ом|е|ы|и|ю|я|ой|ем|ью|ь)?(?!\\w)"),
    "joining": (r"(?<![^\Wובלהמשכوفبلكا])", r"(?!\w)"),
    "unspaced": ("", ""),
}
_LOOK_ALIKE = str.maketrans(
    "аеорсхуіѕјһԁӏкмтвнαορνικετυχ‐‑‒–—―−’‘ʼ׳ʹ´`کیىةßıł", "aeopcxyisjhdlkmtbhaopviketux-------'''''''كييهsil"
)


class _Fold(dict[int, str]):
    """A translation that works each character out when it is first met."""

    def __missing__(self, point: int) -> str:
        self[point] = folded = _fold_character(chr(point))
        return folded


def _fold_character(character: str) -> str:
    if unicodedata.category(character) in {"Cf", "Mn", "Mc", "Me"}:
        return ""
    for change in (lambda c: unicodedata.normalize("NFKC", c), str.lower):
        changed = change(character)
        character = changed if len(changed) == 1 else character
    if ord(character) < 0x0700 or 0x1E00 <= ord(character) < 0x2000:
        character = unicodedata.normalize("NFD", character)[0].lower()
    return character.translate(_LOOK_ALIKE)


_FOLD = _Fold()


def fold(text: str) -> str:
    r"""Text as it is searched.

    >>> fold("Cl\u200ba\u0301ude"), fold("ＣＬАＵＤＥ")
    ('claude', 'claude')
    """
    return text.translate(_FOLD)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A place in a message that may give a model away; `start` and `end` count code points of the original."""

    start: int
    end: int
    found: str
    names_itself: bool
    """Whether it stands where a model says its name or its maker's."""
    phrase: bool
    """Whether it is a turn of phrase in which a model speaks of itself, without a name that is known."""
    own: bool
    """Whether a model of the study is so named."""
    certain: bool
    """Whether it can mean nothing else."""


@dataclass(frozen=True, slots=True)
class _Languages:
    cues: tuple[str, ...]
    naming: re.Pattern[str]
    unless: re.Pattern[str]
    after: re.Pattern[str]
    phrases: re.Pattern[str]


class Detector:
    """Finds names and turns of phrase, given the models of a study as (slug, family, provider)."""

    def __init__(self, own_names: Iterable[str], families: Iterable[str]) -> None:
        content = _content()
        kinds = {
            _key(name): kind
            for entry in content["names"]
            for kind in (EVERYDAY, ORDINARY, KNOWN)
            for name in entry.get(kind, [])
        }
        spelled = [name for entry in content["names"] for kind in kinds_of(entry) for name in entry[kind]]
        own = set(families)
        self._own = {_key(name) for name in own_names} | {
            _key(name)
            for entry in content["names"]
            if entry["family"] in own
            for kind in kinds_of(entry)
            for name in entry[kind]
        }
        own_names = list(own_names)
        self._kinds = {_key(name): KNOWN for name in own_names} | kinds
        self._names = _any_name([*spelled, *own_names])
        self._innocent = re.compile("|".join(_spelling(name, r"[\W_]{0,3}") for name in content["innocent"]))
        self._words = {_key(word) for word in content["words"]}
        self._languages = _languages()
        self._quick = _quick([*spelled, *own_names], self._languages.cues)
        self._quick_ascii = _quick([*spelled, *own_names], self._languages.cues, ascii_only=True)

    def find(self, text: str, *, by_chatbot: bool) -> list[Finding]:
        """Everything in a message that may give a model away, in order, without overlaps.

        Turns of phrase count only in what the chatbot says.
        """
        folded = text.translate(_FOLD)
        quick = self._quick_ascii if folded.isascii() else self._quick
        hits = list(quick.finditer(folded))
        if not hits:
            return []
        places = (
            range(len(text))
            if len(folded) == len(text)
            else [place for place, character in enumerate(text) if _FOLD[ord(character)]]
        )
        phrases = self._phrases(folded, hits) if by_chatbot else []
        named, behind = [], 0
        for hit in hits:
            match = self._names.match(folded, hit.start()) if hit.start() >= behind else None
            if match is None or self._is_innocent(folded, match.span()):
                continue
            behind = match.end()
            name = self._name(match, text, folded, places, phrases if by_chatbot else None)
            if name is None:
                continue
            named.append(name)
            if name.names_itself:
                start, end = match.span()
                folded = folded[:start] + _ITSELF * (end - start) + folded[end:]
        spoken = [_finding(text, places, span, phrase=True) for span in phrases]
        spoken = [one for one in spoken if not any(n.start < one.end and one.start < n.end for n in named)]
        return sorted([*named, *spoken], key=lambda one: one.start)

    def _phrases(self, folded: str, hits: list[re.Match[str]]) -> list[tuple[int, int]]:
        """The turns of phrase around the cues, without overlaps."""
        found: list[tuple[int, int]] = []
        for hit in hits:
            if hit.lastgroup is None:
                continue
            start, end = max(0, hit.start() - _WINDOW), hit.end() + _WINDOW
            for match in self._languages.phrases.finditer(folded, start, end):
                if not found or match.start() >= found[-1][1]:
                    found.append(match.span())
        return found

    def _is_innocent(self, folded: str, span: tuple[int, int]) -> bool:
        start, end = max(0, span[0] - _INNOCENT_WINDOW), span[1] + _INNOCENT_WINDOW
        return _within(span, [m.span() for m in self._innocent.finditer(folded, start, end)])

    def _name(
        self,
        match: re.Match[str],
        text: str,
        folded: str,
        places: "range | list[int]",
        phrases: list[tuple[int, int]] | None,
    ) -> Finding | None:
        """What a name in the text amounts to; None where it is an ordinary word."""
        word = match.group(str(match.lastgroup))
        key = _key(word)
        kind, own = self._kinds.get(key, KNOWN), key in self._own
        start, end = match.span()
        version = _VERSION.match(folded, end)
        capital = not text[places[start]].islower()
        if version and (
            kind == KNOWN or capital or not version.group()[0].isspace() or "." in version.group()
        ):
            end = version.end()
        else:
            version = None
        rest = text[places[end - 1] + 1 :][:8]
        followed = re.match(r"\s+[A-ZÀ-Ý]\w", rest) is not None
        compound = re.match(r"-[a-z]{3}", rest) is not None and not version
        names_itself = (
            phrases is not None
            and not (kind == ORDINARY and followed and not version)
            and (
                _within((start, match.end()), phrases)
                or (
                    self._languages.naming.search(folded, max(0, start - 120), start) is not None
                    and self._languages.unless.match(folded, match.end()) is None
                )
                or self._languages.after.match(folded, end) is not None
            )
        )
        unmistakable = kind == KNOWN or (kind == ORDINARY and version is not None)
        if not names_itself and not unmistakable:
            if kind == EVERYDAY and not (own and capital):
                return None
            if kind == ORDINARY and (compound or not (capital or (own and key not in self._words))):
                return None
        certain = names_itself or (own and unmistakable)
        return _finding(text, places, (start, end), names_itself=names_itself, own=own, certain=certain)


def kinds_of(entry: dict[str, Any]) -> Iterator[str]:
    return (kind for kind in (KNOWN, ORDINARY, EVERYDAY) if kind in entry)


@lru_cache(maxsize=16)
def detector(names: frozenset[str], models: frozenset[tuple[str, str, str]]) -> Detector:
    """The detector of a study: its models' names as they stand, and what is known of their families."""
    known = [row for slug, _, _ in models if (row := family_of(slug))]
    families = {row.family for row in known}
    for entry in _content()["names"]:
        spelled = {_key(name) for kind in kinds_of(entry) for name in entry[kind]} | {_key(entry["family"])}
        if spelled & {_key(word) for _, family, provider in models for word in (family, provider) if word}:
            families.add(entry["family"])
    return Detector(sorted(names), sorted(families))


def _finding(
    text: str,
    places: "range | list[int]",
    span: tuple[int, int],
    *,
    names_itself: bool = False,
    phrase: bool = False,
    own: bool = False,
    certain: bool = False,
) -> Finding:
    start, end = places[span[0]], places[span[1] - 1] + 1
    while end < len(text) and not _FOLD[ord(text[end])]:
        end += 1
    return Finding(
        start=start,
        end=end,
        found=text[start:end],
        names_itself=names_itself,
        phrase=phrase,
        own=own,
        certain=certain,
    )


def _within(span: tuple[int, int], spans: list[tuple[int, int]]) -> bool:
    return any(start <= span[0] and span[1] <= end for start, end in spans)


def _key(name: str) -> str:
    """A name without its case, accents and joints."""
    return re.sub(r"[\W_]+", "", fold(name))


def _spelling(name: str, joint: str = _JOINED) -> str:
    """The pattern of a name: its words and numbers, joined by a space, a hyphen or nothing."""
    return joint.join(re.findall(r"[^\W\d_]+|\d+", fold(name)))


def _script(name: str) -> str:
    letter = unicodedata.name(next((c for c in name if c.isalnum()), "x"), "").split(" ")[0]
    if letter in {"LATIN", "DIGIT", "FULLWIDTH"}:
        return "latin"
    if letter in {"ARABIC", "HEBREW", "DEVANAGARI"}:
        return "joining"
    return "cyrillic" if letter in {"CYRILLIC", "GREEK"} else "unspaced"


def _any_name(names: Iterable[str]) -> re.Pattern[str]:
    """A pattern of all names, the longest first; the group that matched says which script it is in."""
    by_script: dict[str, set[str]] = {script: set() for script in _SCRIPTS}
    for name in names:
        by_script[_script(name)].add(_spelling(name))
    branches = []
    for script, spellings in by_script.items():
        before, behind = _SCRIPTS[script]
        behind = fold(behind.removeprefix("FOLDED")) if behind.startswith("FOLDED") else behind
        ordered = sorted(filter(None, spellings), key=lambda spelling: (-len(spelling), spelling))
        if ordered:
            branches.append(rf"{before}(?P<{script}>{'|'.join(ordered)}){behind}")
    return re.compile("|".join(branches))


def _quick(names: Iterable[str], cues: Iterable[str], *, ascii_only: bool = False) -> re.Pattern[str]:
    """Where a closer look is worth it: the cues of phrases, and the beginnings of names as a tree of letters."""
    first = {beginning for name in names for beginning in _beginnings(name)}
    cues = set(cues)
    plain = [{word for word in words if word.isascii()} for words in (cues, first)]
    pattern = rf"(?<![a-z0-9])(?:(?P<cue>{_tree(plain[0])})|{_tree(plain[1])})"
    if not ascii_only:
        pattern += rf"|(?P<foreign>{_tree(cues - plain[0])})|{_tree(first - plain[1])}"
    return re.compile(pattern)


def _beginnings(name: str) -> list[str]:
    """How a name may begin: its first word, or its first two in every way of joining them where that is short."""
    first, *more = re.findall(r"[^\W\d_]+|\d+", fold(name)) or [""]
    if len(first) >= _SHORTEST_BEGINNING or not first.isascii() or not more:
        return [first] if first else []
    return [first + joint + more[0] for joint in ("", " ", "-", "_", ".", "'")]


def _tree(words: Iterable[str]) -> str:
    """An alternation in which words share their beginnings, so that each letter is looked at once."""
    branches: dict[str, set[str]] = {}
    for word in words:
        branches.setdefault(word[0], set()).add(word[1:])
    parts = []
    for first, rest in sorted(branches.items()):
        inner = "" if "" in rest else _tree(rest)
        forks = len({word[:1] for word in rest}) > 1
        parts.append(re.escape(first) + (f"(?:{inner})" if inner and forks else inner))
    return "|".join(parts)


@cache
def _content(name: str = "families") -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(content(f"suite/{name}.yaml").read_text(encoding="utf-8"))
    return found


@cache
def _languages() -> _Languages:
    cues: list[str] = []
    naming: list[str] = []
    after: list[str] = []
    phrases: list[str] = []
    unless: list[str] = []
    for language in _content("speaking_of_itself")["languages"].values():
        spaced = language.get("spaced", True)
        between = _BETWEEN if spaced else _BETWEEN_UNSPACED
        edge = r"(?<!\w)" if spaced else ""
        filling = "|".join([*language["fill"], f"{_ITSELF}+"])
        made = rf"{edge}(?:{'|'.join(language['self'])})(?:{between}(?:{filling}))*{between}(?:{'|'.join(language['made_by'])})"
        parts = {"{made}": made, "{x}": _NEXT_WORDS, "{s}": between, "{fill}": filling}
        cues += language["cues"]
        naming += [
            rf"{edge}(?:{_filled('|'.join(language['naming']), parts)}){between}$",
            rf"{made}{between}$",
        ]
        after += [rf"{between}{_filled(one, parts)}" for one in language.get("after", [])]
        after += [_filled(one, parts) for one in language.get("joined", [])]
        unless += language.get("unless", [])
        phrases += [_filled(one, parts) for one in language["phrases"]]
    return _Languages(
        cues=tuple(fold(cue) for cue in cues),
        naming=re.compile("|".join(map(_fold_pattern, naming))),
        unless=re.compile("|".join(map(_fold_pattern, unless))),
        after=re.compile("|".join(map(_fold_pattern, after))),
        phrases=re.compile("|".join(map(_fold_pattern, phrases))),
    )


def _filled(pattern: str, parts: Mapping[str, str]) -> str:
    """A pattern of the content with what its braces stand for."""
    for brace, part in parts.items():
        pattern = pattern.replace(brace, part)
    return pattern


def _fold_pattern(pattern: str) -> str:
    """Fold the letters of a pattern and leave its classes (such as not-a-word) as they are."""
    return re.sub(
        r"\\.|[^\\]+", lambda part: part.group() if part.group()[0] == "\\" else fold(part.group()), pattern
    )

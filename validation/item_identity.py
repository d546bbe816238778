"""Whether two sources of labels speak of the same texts.

A judge's score of one text says nothing of a person's label of another, however alike their names.
"""

import hashlib
import unicodedata
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from validation.integrity import Finding, finding

Item = TypeVar("Item", bound=Hashable)


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemIdentity:
    """Whether two sources speak of the same texts."""

    same: tuple[Hashable, ...]
    """Items whose texts are identical: only these may be compared."""
    different: tuple[Hashable, ...]
    """Items of one name with different texts: refused."""
    unknown: tuple[Hashable, ...]
    """Items of which one side recorded no text: refused."""
    only_first: tuple[Hashable, ...]
    """Items that only the first source has."""
    only_second: tuple[Hashable, ...]
    """Items that only the second source has."""

    @property
    def comparable(self) -> bool:
        """Whether the two may be compared as they are: they share items, and every shared item has one text."""
        return bool(self.same) and not self.different and not self.unknown

    @property
    def findings(self) -> tuple[Finding, ...]:
        """One finding for each item refused."""
        return (
            *(
                finding("other_text", item, "was judged on another text than people read")
                for item in self.different
            ),
            *(finding("text_unknown", item, "has no recorded text on one side") for item in self.unknown),
        )


def text_hash(text: str) -> str:
    r"""The identity of a text: SHA-256 after Unicode NFC, with line ends as one newline and outer white space gone.

    >>> text_hash("one\r\ntwo ") == text_hash("one\ntwo"), text_hash("one") == text_hash("One")
    (True, False)
    """
    settled = unicodedata.normalize("NFC", text).replace("\r\n", "\n").replace("\r", "\n").strip()
    return hashlib.sha256(settled.encode("utf-8")).hexdigest()


def item_identity(first: Mapping[Item, str | None], second: Mapping[Item, str | None]) -> ItemIdentity:
    """Compare the texts behind two sources of labels by their hashes.

    Args:
        first: for each item the hash of the text that people read; None where it was not recorded.
        second: for each item the hash of the text that the judge scored.

    >>> people = {1: text_hash("Hello"), 2: text_hash("Bye"), 3: None}
    >>> judged = {1: text_hash("Hello"), 2: text_hash("Goodbye"), 3: text_hash("So")}
    >>> found = item_identity(people, judged)
    >>> found.same, found.different, found.unknown, found.comparable
    ((1,), (2,), (3,), False)
    """
    shared = [item for item in first if item in second]
    unknown = [item for item in shared if first[item] is None or second[item] is None]
    known = [item for item in shared if first[item] is not None and second[item] is not None]
    return ItemIdentity(
        same=tuple(item for item in known if first[item] == second[item]),
        different=tuple(item for item in known if first[item] != second[item]),
        unknown=tuple(unknown),
        only_first=tuple(item for item in first if item not in second),
        only_second=tuple(item for item in second if item not in first),
    )

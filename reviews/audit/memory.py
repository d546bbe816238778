"""What was computed for the same ratings before: changing one label computes one metric anew and leaves the others."""

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from validation.ratings import Ratings

Result = TypeVar("Result")


class Memory:
    """Results by the ratings that they were computed from, whatever study, page or moment these come from.

    It holds so many results at most; the one that was asked for longest ago goes first. Several threads may ask.
    """

    def __init__(self, most: int = 50_000) -> None:
        self._kept: OrderedDict[tuple[str, bytes], Any] = OrderedDict()
        self._contents: WeakKeyDictionary[Ratings, bytes] = WeakKeyDictionary()
        self._most = most
        self._lock = Lock()
        self.computed = 0
        """How often something was computed."""

    def __call__(
        self,
        name: str,
        tables: Sequence[Ratings],
        compute: Callable[[Sequence[Ratings]], Sequence[Result]],
    ) -> list[Result]:
        """The result of `name` for each table of ratings; those that are not known are computed, all at once."""
        keys = [(name, self._content(ratings)) for ratings in tables]
        with self._lock:
            known: dict[tuple[str, bytes], Result] = {
                key: self._kept[key] for key in keys if key in self._kept
            }
            for key in known:
                self._kept.move_to_end(key)
        unknown = {key: ratings for key, ratings in zip(keys, tables, strict=True) if key not in known}
        new = dict(zip(unknown, compute(list(unknown.values())), strict=True)) if unknown else {}
        with self._lock:
            self.computed += len(new)
            self._kept |= new
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        known |= new
        return [known[key] for key in keys]

    def _content(self, ratings: Ratings) -> bytes:
        """The hash of what stands in a table, which is asked for once for each figure."""
        found = self._contents.get(ratings)
        if found is None:
            found = self._contents[ratings] = _content(ratings)
        return found


def _content(ratings: Ratings) -> bytes:
    """A hash of what a coefficient over items reads: categories, codes, clusters; names of units and raters do not matter."""
    digest = hashlib.blake2b(digest_size=20)
    for part in (repr(ratings.categories), repr(ratings.codes.shape)):
        digest.update(part.encode() + b"\0")
    digest.update(ratings.codes.tobytes())
    if ratings.clusters is not None:
        digest.update(b"clusters" + ratings.clusters.tobytes())
    return digest.digest()

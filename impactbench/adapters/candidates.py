"""Candidate metrics: what another benchmark looks for, proposed for the suite, with the passage that it comes from.

Nothing enters the suite without a person. Candidates go into a review file; somebody marks each one accept, edit or
reject; only then do the accepted ones become a file of the suite.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from impactbench.domain import Content, MetricDefinition

_LONGEST_SLUG = 48
_LONGEST_NAME = 90


class Candidate(Content):
    """A proposed metric beside what it was made from."""

    benchmark: str
    slug: str
    source_file: str
    source_place: str
    """Where in the file, in words that a person can find again."""
    passage: str
    """The words of the source, unchanged."""
    definition: MetricDefinition
    subareas: tuple[str, ...] = ()
    matters: str = ""
    sources: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """What could not be carried over, and what a person must look at."""
    drafted_by: str = ""
    """The model that drafted the proposal; empty where its words are the source's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapted:
    """What was read from one source."""

    format: str
    source_file: str
    title: str
    construct: str = ""
    candidates: tuple[Candidate, ...]
    notes: tuple[str, ...] = ()
    """What is true of the source as a whole and was not carried over."""


def slug_of(text: str) -> str:
    """A name as a slug.

    >>> slug_of("Respect User Attention (+1.0)"), slug_of("Qualité: l'été")
    ('respect-user-attention-1-0', 'qualite-l-ete')
    """
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    words = re.sub(r"[^a-z0-9]+", "-", plain.casefold()).strip("-")
    if len(words) > _LONGEST_SLUG:
        words = words[:_LONGEST_SLUG].rpartition("-")[0] or words[:_LONGEST_SLUG]
    return words or "metric"


def name_of(text: str) -> str:
    """The first words of a criterion, as a name that fits on a line.

    >>> name_of("States that it cannot help.  It then offers a number.")
    'States that it cannot help'
    """
    first = re.split(r"(?<=[.!?;])\s|\n", text.strip(), maxsplit=1)[0].strip().rstrip(".;:")
    if len(first) <= _LONGEST_NAME:
        return first
    return first[:_LONGEST_NAME].rpartition(" ")[0].rstrip(",;:") + " ..."


def with_own_slugs(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """The candidates, numbered where two of a benchmark would have the same slug."""
    taken: set[tuple[str, str]] = set()
    named = []
    for candidate in candidates:
        slug, number = candidate.slug, 1
        while (candidate.benchmark, slug) in taken:
            number += 1
            slug = f"{candidate.slug}-{number}"
        taken.add((candidate.benchmark, slug))
        named.append(candidate if slug == candidate.slug else candidate.model_copy(update={"slug": slug}))
    return tuple(named)

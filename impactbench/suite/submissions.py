"""A metric that somebody suggests, in three parts: why it matters, where it shows, how it is scored."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError, field_validator

from impactbench.adapters.documents import read_yaml, why_unfit
from impactbench.domain import Content, ImpactBenchError, MetricDefinition, Polarity
from impactbench.metrics import Difficulty, Suite, SuiteMetric, evidence_text
from impactbench.resources import subareas
from impactbench.suite.check import Finding, Rule, check_metric, near_duplicates_of

LONGEST_TEXT = 4_000
MOST_LISTED = 20


class SubmissionRefused(ImpactBenchError):
    """A suggestion that cannot be read, sent, tried, reviewed or decided as it is."""


class Part(Content):
    """One of the three parts. Everything may be empty while somebody is still writing."""

    @field_validator("*", mode="after")
    @classmethod
    def _can_be_kept(cls, value: Any) -> Any:
        texts = value if isinstance(value, tuple) else (value,)
        if len(texts) > MOST_LISTED:
            raise ValueError(f"there are {len(texts)} entries, at most {MOST_LISTED} can be kept")
        for text in texts:
            if isinstance(text, str) and len(text) > LONGEST_TEXT:
                raise ValueError(
                    f"the text has {len(text):,} characters, at most {LONGEST_TEXT:,} can be kept"
                )
            if isinstance(text, str) and (unfit := why_unfit(text)):
                raise ValueError(f"the text holds {unfit}, which no database can keep: take it out")
        return value


class Justification(Part):
    """Why the behaviour matters, and to which construct it belongs."""

    benchmark: str = ""
    """Slug of a benchmark, or the name of a new one."""
    phenomenon: str = ""
    """The construct behind the behaviour, in a sentence or two."""
    subareas: tuple[str, ...] = ()
    matters: str = ""
    literature: tuple[str, ...] = ()


class ScenarioDetails(Part):
    """Where the behaviour shows: who writes to the chatbot, and what it can and cannot know."""

    who: str = ""
    known_context: str = ""
    unknown_context: str = ""
    messages: tuple[str, ...] = ()
    """What the person may write, in their words."""


class Scoring(Part):
    """What the judge looks for, and examples that show whether it can tell."""

    name: str = ""
    polarity: Polarity | None = None
    definition: str = ""
    question: str = ""
    interpretive_clause: str = ""
    examples_present: tuple[str, ...] = ()
    examples_absent: tuple[str, ...] = ()
    difficulty: Difficulty = Difficulty.MODERATE


class SubmissionContent(Content):
    """The three parts together."""

    justification: Justification = Justification()
    scenario: ScenarioDetails = ScenarioDetails()
    scoring: Scoring = Scoring()

    @property
    def definition(self) -> MetricDefinition:
        """The metric as it would enter the suite.

        Raises:
            SubmissionRefused: it is not said whether the behaviour is wanted.
        """
        scoring = self.scoring
        if scoring.polarity is None:
            raise SubmissionRefused(
                "it is not said whether the behaviour is wanted (positive) or not (negative)"
            )
        return MetricDefinition(
            name=scoring.name.strip(),
            polarity=scoring.polarity,
            definition=scoring.definition.strip(),
            interpretive_clause=scoring.interpretive_clause.strip(),
            question=scoring.question.strip(),
            examples_present=scoring.examples_present,
            examples_absent=scoring.examples_absent,
            evidence=evidence_text(self.justification.matters.strip(), self.justification.literature),
        )

    @property
    def metric(self) -> SuiteMetric:
        """The metric with its place in the suite."""
        return SuiteMetric(
            benchmark=slugged(self.justification.benchmark),
            slug=slugged(self.scoring.name),
            definition=self.definition,
            subareas=self.justification.subareas,
            difficulty=self.scoring.difficulty,
            matters=self.justification.matters,
            sources=self.justification.literature,
        )


_NEEDED: dict[str, dict[str, str]] = {
    "justification": {
        "benchmark": "the benchmark it belongs to",
        "phenomenon": "the construct behind it",
        "subareas": "a subarea",
        "matters": "why it matters",
        "literature": "at least one source",
    },
    "scenario": {
        "who": "who the person is",
        "known_context": "what the chatbot can know",
        "unknown_context": "what the chatbot cannot know",
        "messages": "at least one message of the person",
    },
    "scoring": {
        "name": "a name",
        "polarity": "whether the behaviour is wanted",
        "definition": "the definition",
        "question": "the question",
        "interpretive_clause": "the rules for conflicting evidence",
        "examples_present": "examples with the behaviour present",
        "examples_absent": "examples with the behaviour absent",
    },
}


def missing(content: SubmissionContent) -> dict[str, tuple[str, ...]]:
    """What is still empty, by part; empty for a suggestion that can be sent.

    >>> missing(SubmissionContent())["scenario"][0]
    'who the person is'
    """
    empty = {
        part: tuple(
            words for field, words in fields.items() if not _said(getattr(getattr(content, part), field))
        )
        for part, fields in _NEEDED.items()
    }
    return {part: words for part, words in empty.items() if words}


def findings(content: SubmissionContent, suite: Suite) -> tuple[Finding, ...]:
    """What the rules of the suite find in a suggestion that says enough to be read as a metric."""
    if content.scoring.polarity is None or not content.scoring.definition.strip():
        return ()
    metric = content.metric
    return (*check_metric(metric, file=""), *near_duplicates_of(metric, suite))


def require_complete(content: SubmissionContent) -> None:
    """Refuse what cannot be sent.

    Raises:
        SubmissionRefused: something is missing, or an example is on both sides.
    """
    if lacking := missing(content):
        listed = "; ".join(f"{part}: {', '.join(words)}" for part, words in lacking.items())
        raise SubmissionRefused(f"something is still missing: {listed}")
    if not slugged(content.scoring.name) or not slugged(content.justification.benchmark):
        raise SubmissionRefused("the name and the benchmark must have letters or digits in them")
    known = {place.slug for place in subareas()}
    if unknown := sorted(set(content.justification.subareas) - known):
        raise SubmissionRefused(f"{unknown[0]!r} is no subarea; they are {', '.join(sorted(known))}")
    blocking = {Rule.EXAMPLES_CONTRADICT, Rule.EXAMPLES_MISSING}
    for finding in check_metric(content.metric, file=""):
        if finding.rule in blocking:
            raise SubmissionRefused(f"{finding.sentence}; {finding.remedy}")


def read_submission(file: Path) -> SubmissionContent:
    """Read a suggestion from the YAML template.

    Raises:
        SubmissionRefused, ImportRefused: it cannot be read; the text names file, field and value.
    """
    return content_of(read_yaml(file).fields, where=str(file))


def content_of(fields: Mapping[str, Any], *, where: str) -> SubmissionContent:
    """A suggestion from a mapping, such as a draft or a file.

    Raises:
        SubmissionRefused: a field is unknown, or holds what it must not; the text says which.
    """
    try:
        return SubmissionContent.model_validate(_without_empty(fields))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise SubmissionRefused(
            f"{where}: {place} is {str(first['input'])[:60]!r}: {first['msg'].removeprefix('Value error, ')}"
        ) from None


def slugged(name: str) -> str:
    """A name as it stands in addresses and files.

    >>> slugged("Asks for the person's own reasons!")
    'asks-for-the-persons-own-reasons'
    """
    plain = re.sub(r"['’]", "", name.strip().casefold())
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:80].strip("-")


def _without_empty(fields: Mapping[str, Any]) -> dict[str, Any]:
    """A template's empty fields are null, and its lists may hold empty entries: neither says anything."""
    plain: dict[str, Any] = {}
    for name, value in fields.items():
        if isinstance(value, Mapping):
            plain[str(name)] = _without_empty(value)
        elif isinstance(value, list | tuple):
            plain[str(name)] = [entry for entry in value if entry not in (None, "")]
        elif value not in (None, ""):
            plain[str(name)] = value
    return plain


def _said(value: Any) -> bool:
    return any(text.strip() for text in value) if isinstance(value, tuple) else bool(str(value or "").strip())

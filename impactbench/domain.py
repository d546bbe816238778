"""The nouns of the study: content that people author, and the one place where polarity is applied.

Content is a frozen value. What the system records about it (a conversation, a judgment, a label) is a
row in `impactbench.store.tables`.
"""

import hashlib
import json
from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode


class ImpactBenchError(Exception):
    """A mistake that a user can mend; its text is one sentence that says where and how.

    ImpactBenchError
    ├── ImportRefused       a file that is not what it should be       impactbench.adapters
    ├── DatabaseBehind      the schema is older than the program       impactbench.store.engine
    ├── CallFailed          a model did not answer, and why            impactbench.llm
    ├── DesignRefused       a study file that cannot be run            impactbench.runs.design
    ├── BudgetReached       a call beyond the budget, not made         impactbench.runs.spending
    ├── Halted              a call of a run that is ending, not made   impactbench.runs
    ├── RunBusy             a run that another process works on        impactbench.runs.lock
    ├── ModelsUnavailable   a library or a key that calls need         impactbench.llm
    ├── ProviderUnknown     a word that names no provider              impactbench.providers.choosing
    ├── ScriptRefused       a script that cannot be read               impactbench.providers.scripted
    ├── ArmsRefused         arms that cannot be made or compared       impactbench.pipeline_studies.arms
    ├── SubmissionRefused   a suggestion that cannot go on as it is    impactbench.suite.submissions
    ├── PlanRefused         a review set that cannot be assigned       reviews.assignment
    ├── DispositionRefused  a decision about a metric                  reviews.contested.dispositions
    ├── RegistrationRefused an analysis plan that cannot be fixed      reviews.registration
    ├── ReportRefused       a report that cannot be made or checked    reviews.report.gathering
    ├── StatementRefused    what a study states about itself           reviews.report.statement
    ├── CardRefused         a judge card that breaks its schema        reviews.report.schema
    ├── AuditRefused        options of an audit of plain files         app.cli.audit
    ├── NotReleased         a study that the public does not see       reviews.public.releasing
    ├── CaseRefused         a mark in a conversation                   reviews.public.cases
    ├── PublishRefused      a site that cannot be written              app.public.site.writing
    └── LabelRefused        a label that may not be stored             reviews.desk
    """


class Polarity(StrEnum):
    """Whether a behaviour is wanted: a positive metric passes when present, a negative one when absent."""

    POSITIVE = "positive"
    NEGATIVE = "negative"


class AgeVariant(StrEnum):
    """Who the simulated user is."""

    TEEN = "teen"
    ADULT = "adult"


class LabelVerdict(StrEnum):
    """What a rater says about an item, in scale order."""

    FAIL = "fail"
    BORDERLINE = "borderline"
    PASS = "pass"


class LabelStatus(StrEnum):
    """Only a submitted label carries a verdict; the others say why there is none."""

    SUBMITTED = "submitted"
    ANSWERED = "answered"
    """The rubric asks for no verdict; what was said is in the responses."""
    CANNOT_JUDGE = "cannot_judge"
    SKIPPED = "skip"


class Panel(StrEnum):
    INTERNAL = "internal"
    EXTERNAL = "external"


class Role(StrEnum):
    """What somebody who signs in may see. Only an expert is given conversations to rate."""

    EXPERT = "expert"
    METHODOLOGIST = "methodologist"
    MAINTAINER = "maintainer"


class AssignmentReason(StrEnum):
    """Why a rater has an item: part of the random core, extra overlap, a hidden repeat, or a gold item."""

    CORE = "core"
    ADAPTIVE = "adaptive"
    REPEAT = "repeat"
    GOLD = "gold"


class DispositionKind(StrEnum):
    """What people decide about a metric that its evidence calls into question."""

    REVISE = "revise"
    """A new version is written, judged and reviewed."""
    ADOPT = "adopt"
    """The new version, having been reviewed, takes the place of the old."""
    KEEP = "keep"
    """It stays as it is, for a reason."""
    SPLIT = "split"
    """It holds several behaviours, which become metrics of their own."""
    MERGE = "merge"
    """It is the same behaviour as another metric."""
    RETIRE = "retire"
    """It is measured no more."""


class SubmissionDecision(StrEnum):
    """What becomes of a metric that somebody suggests."""

    ACCEPT = "accept"
    """It enters the suite as it stands."""
    REVISE = "revise"
    """It goes back to whoever wrote it."""
    MERGE = "merge"
    """It is taken up in a metric that is there already."""
    REJECT = "reject"


class Content(BaseModel):
    """A frozen value with a hash of its own: the same words, the same hash."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @property
    def content_hash(self) -> str:
        return content_hash(self.model_dump(mode="json"))


class Turn(Content):
    """One message; `number` counts exchanges from 1, so a person and the reply share it."""

    role: Literal["user", "assistant"]
    content: str


class Anchor(Content):
    """A user objective placed at a turn of a scenario."""

    turn: int
    instruction: str


class MetricDefinition(Content):
    """One immutable version of a metric. `question` is what an expert is asked, in plain words."""

    name: str
    polarity: Polarity
    definition: str
    interpretive_clause: str = ""
    question: str = ""
    examples_present: tuple[str, ...] = ()
    examples_absent: tuple[str, ...] = ()
    evidence: str = ""


def passes(present: bool, polarity: Polarity) -> bool:
    """Whether a conversation passes a metric, given that the behaviour is present in it.

    >>> passes(True, Polarity.POSITIVE), passes(True, Polarity.NEGATIVE)
    (True, False)
    >>> passes(False, Polarity.NEGATIVE)
    True
    """
    return present == (polarity is Polarity.POSITIVE)


def content_hash(value: Any) -> str:
    """SHA-256 of the canonical JSON of `value`: sorted keys, no white space, UTF-8.

    >>> content_hash({"a": 1, "b": 2}) == content_hash({"b": 2, "a": 1})
    True
    """
    return hashlib.sha256(_canonical(value).encode()).hexdigest()

"""What a rater can answer about an item, and the name of the operation that stores it."""

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from impactbench.domain import Content, ImpactBenchError, LabelStatus, LabelVerdict, content_hash

REASONS = {
    "missing_information": ("Something I would need to know is missing", LabelStatus.CANNOT_JUDGE),
    "outside_my_field": ("It is outside my field", LabelStatus.CANNOT_JUDGE),
    "question_unclear": ("I do not understand what is asked", LabelStatus.CANNOT_JUDGE),
    "not_readable": ("I cannot follow the conversation (language, broken text)", LabelStatus.CANNOT_JUDGE),
    "too_distressing": ("It is too distressing for me to read", LabelStatus.SKIPPED),
    "rather_not": ("I would rather not rate this one", LabelStatus.SKIPPED),
}
"""Why there may be no verdict: what the rater reads, and whether that is a judgment withheld or an item passed over."""

Reason = Literal[
    "missing_information",
    "outside_my_field",
    "question_unclear",
    "not_readable",
    "too_distressing",
    "rather_not",
]

DEFENSIBLE: dict[LabelVerdict, list[str]] = {
    LabelVerdict.PASS: ["pass"],
    LabelVerdict.BORDERLINE: ["pass", "fail"],
    LabelVerdict.FAIL: ["fail"],
}
"""The response set that a verdict stands for, where raters say which verdicts a colleague could defend."""


class LabelRefused(ImpactBenchError):
    """An answer that may not be stored."""


class StaleAnswer(LabelRefused):
    """Something newer was stored for the item since the page was opened, in another tab or on another device."""


class Passage(Content):
    """Words that a rater marked in a message: where they stand, in code points, and what they are."""

    message: int = Field(ge=0)
    start: int = Field(ge=0)
    end: int = Field(ge=1)
    quote: str = Field(max_length=20_000)


class Answer(Content):
    """One answer: a verdict, or the reason why there is none, or, where no verdict is asked, only responses."""

    verdict: LabelVerdict | None = None
    forced_choice: LabelVerdict | None = None
    """Pass or fail, where both could be defended and the rubric asks to choose all the same."""
    no_verdict_because: Reason | None = None
    confidence: int | None = Field(default=None, ge=1, le=4)
    """From 1, a guess, to 4, certain."""
    rationale: str = Field(default="", max_length=20_000)
    turns: tuple[int, ...] = Field(default=(), max_length=200)
    """The numbers of the exchanges that decided, counted from 1."""
    passages: tuple[Passage, ...] = Field(default=(), max_length=100)
    responses: dict[str, Any] = Field(default_factory=dict, max_length=100)
    """Answers to the rubric's other questions, by their ids."""
    active_seconds: float | None = Field(default=None, ge=0)
    revised_because: str = Field(default="", max_length=2_000)

    @model_validator(mode="after")
    def _not_both(self) -> Self:
        if self.verdict is not None and self.no_verdict_because is not None:
            raise ValueError("an answer is a verdict, or the reason why there is none, not both")
        if self.forced_choice is LabelVerdict.BORDERLINE:
            raise ValueError("a forced choice is pass or fail")
        return self

    @property
    def status(self) -> LabelStatus:
        if self.no_verdict_because is not None:
            return REASONS[self.no_verdict_because][1]
        return LabelStatus.ANSWERED if self.verdict is None else LabelStatus.SUBMITTED

    def operation(self, *, assignment_id: int, base_revision: int) -> str:
        """The name of storing this answer on top of that revision: the same click twice has the same name.

        Time spent is left out, for it grows between two clicks.
        """
        said = self.model_dump(mode="json", exclude={"active_seconds"})
        return content_hash({"assignment": assignment_id, "base": base_revision, "said": said})

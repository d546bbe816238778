"""What a rater can answer about an item, and the name of the operation that stores it."""

from typing import Literal, Self

from pydantic import Field, model_validator

from impactbench.domain import Content, ImpactBenchError, LabelStatus, LabelVerdict, content_hash

REASONS = {
    "missing_information": ("Something I would need to know is missing", LabelStatus.CANNOT_JUDGE),
    "outside_my_field": ("It is outside my field", LabelStatus.CANNOT_JUDGE),
    "question_unclear": ("I do not understand what is asked", LabelStatus.CANNOT_JUDGE),
    "not_readable": ("I cannot follow the conversation (language, broken text)", LabelStatus.CANNOT_JUDGE),
    "rather_not": ("I would rather not read this one", LabelStatus.SKIPPED),
}
"""Why there may be no verdict: what the rater reads, and whether that is a judgment withheld or an item passed over."""

Reason = Literal["missing_information", "outside_my_field", "question_unclear", "not_readable", "rather_not"]


class LabelRefused(ImpactBenchError):
    """An answer that may not be stored."""


class StaleAnswer(LabelRefused):
    """Something newer was stored for the item since the page was opened, in another tab or on another device."""


class Answer(Content):
    """One answer: a verdict, or the reason why there is none."""

    verdict: LabelVerdict | None = None
    no_verdict_because: Reason | None = None
    confidence: int | None = Field(default=None, ge=1, le=4)
    """From 1, a guess, to 4, certain."""
    rationale: str = Field(default="", max_length=20_000)
    turns: tuple[int, ...] = ()
    """The numbers of the exchanges that decided, counted from 1."""
    active_seconds: float | None = Field(default=None, ge=0)
    revised_because: str = Field(default="", max_length=2_000)

    @model_validator(mode="after")
    def _one_of_the_two(self) -> Self:
        if (self.verdict is None) == (self.no_verdict_because is None):
            raise ValueError("an answer is a verdict, or the reason why there is none")
        return self

    @property
    def status(self) -> LabelStatus:
        return (
            LabelStatus.SUBMITTED if self.no_verdict_because is None else REASONS[self.no_verdict_because][1]
        )

    def operation(self, *, assignment_id: int, base_revision: int) -> str:
        """The name of storing this answer on top of that revision: the same click twice has the same name.

        Time spent is left out, for it grows between two clicks.
        """
        said = self.model_dump(mode="json", exclude={"active_seconds"})
        return content_hash({"assignment": assignment_id, "base": base_revision, "said": said})

"""How well something was checked by experts, for everybody: a shape, a word and a sentence."""

from dataclasses import dataclass

from reviews.public.checks import Checked
from reviews.public.wording import count, in_hundred
from validation.contested import Status

SHAPES = {
    Status.CONTESTED: ("▲", "Contested"),
    Status.WATCH: ("◆", "Watch"),
    Status.NO_CONCERN_FOUND: ("●", "No concern found"),
    Status.NOT_ASSESSED: ("○", "Not assessed"),
}
"""A sign that no other state has, and its word."""
DRAWN = {
    Status.NO_CONCERN_FOUND: "checked",
    Status.WATCH: "watch",
    Status.CONTESTED: "contested",
    Status.NOT_ASSESSED: "unchecked",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceMark:
    """The state of the evidence behind a number."""

    shape: str
    """A sign that no other state has."""
    word: str
    sentence: str
    drawn: str
    """How a bar is drawn: one of `DRAWN`."""

    @property
    def short(self) -> str:
        """The sign and its word."""
        return f"{self.shape} {self.word}"


def evidence_mark(checked: Checked) -> EvidenceMark:
    """The state of the evidence in plain words; what nobody has looked at says so first."""
    shape, word = SHAPES[checked.status]
    if not checked.n_experts:
        word, sentence = "Not checked by experts yet", "The result is the automatic judge’s alone."
    else:
        sentence = f"{_concerns(checked)} {_agreement(checked)}".strip()
    return EvidenceMark(shape=shape, word=word, sentence=sentence, drawn=DRAWN[checked.status])


def _concerns(checked: Checked) -> str:
    """How many of the behaviours have the status that the whole is given for."""
    n, of = checked.by_status.get(checked.status, 0), checked.n_metrics
    if of == 1:
        return {
            Status.CONTESTED: "Experts disagree about it, or with the judge.",
            Status.WATCH: "Experts checked it and a doubt remains.",
            Status.NOT_ASSESSED: "Experts have read too few conversations to tell.",
            Status.NO_CONCERN_FOUND: "Experts checked it and found nothing of concern.",
        }[checked.status]
    return {
        Status.CONTESTED: f"{n} of {of} behaviours {'is' if n == 1 else 'are'} contested among experts, or between them and the judge.",
        Status.WATCH: f"A doubt remains about {n} of {of} behaviours.",
        Status.NOT_ASSESSED: f"{n} of {of} behaviours have not been checked enough.",
        Status.NO_CONCERN_FOUND: f"Experts checked all {of} behaviours and found nothing of concern.",
    }[checked.status]


def _agreement(checked: Checked) -> str:
    if not checked.n_items:
        return ""
    return (
        f"{count(checked.n_experts, 'expert')} read {count(checked.n_items, 'conversation')}; the judge agreed with"
        f" them on {in_hundred(checked.agreement)}."
    )

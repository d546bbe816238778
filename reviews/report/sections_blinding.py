"""The section of a report that says how far blinding held, as raters answered at the end."""

from collections.abc import Mapping, Sequence
from typing import Any

from reviews.blindness.recognition import Recognition
from reviews.report.document import Section, Table
from reviews.report.spelling import counted, spelled


def blinding_section(found: Sequence[Recognition], *, by_design: bool, shared: Mapping[str, Any]) -> Section:
    """Whether raters believe to have recognised a model.

    Args:
        found: what they answered, by review set.
        by_design: whether every rating was made at a desk that names no model.
        shared: what leaves the house: raters' words do only together with their reasons.
    """
    shown = (
        "Raters were shown conversations without the name of a model, at a desk that knows none."
        if by_design
        else "Some ratings come from outside, so this program cannot say what raters were shown."
    )
    words = tuple((one.review_set, remark) for one in found for remark in one.remarks)
    unshared = found and not shared["rationales"]
    return Section(
        "blinding",
        "How far blinding held",
        " ".join(map(_sentence, found))
        or "No rater was asked whether a model was recognised, so that is not known.",
        (shown, *(("What raters wrote about it is not part of this report.",) if unshared else ())),
        tables=(
            Table(
                "Did you recognise a model?",
                ("Review set", "Answers", "Not answered yet", "Recognised one"),
                tuple((one.review_set, _answers(one), str(one.waiting), _share(one)) for one in found),
            ),
            Table("Which, and by what, in the raters’ words", ("Review set", "A rater wrote"), words),
        ),
    )


def _sentence(one: Recognition) -> str:
    if not one.recognised.n:
        return f"Of {counted(one.asked, 'rater')} of {one.review_set}, none has answered yet whether a model was recognised."
    return (
        f"Of {counted(one.recognised.n, 'rater')} of {one.review_set} who answered,"
        f" {spelled(one.recognised, percent=True, n=False)} believe to have recognised a model."
    )


def _share(one: Recognition) -> str:
    return spelled(one.recognised, percent=True) if one.recognised.n else "nobody has answered yet"


def _answers(one: Recognition) -> str:
    return ", ".join(f"{answer}: {count}" for answer, count in one.answered.items()) or "none"

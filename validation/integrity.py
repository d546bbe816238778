"""What must be settled before any statistic is shown, and which metrics are the wrong way up.

The other checks are in `validation.item_identity` (the same texts) and `validation.coding` (the same codes).
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from validation.polarity import PolarityAlarm, polarity_tripwire


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that must be settled before a figure is shown."""

    code: str
    """`inverted_metric`, `inversion_suspected`, `other_text`, `text_unknown`, `miscoded_labels`."""
    subject: Hashable
    """The metric or the item."""
    sentence: str
    """What was found, in words."""


def inverted_metrics(
    reference: ArrayLike, judge_pass: ArrayLike, *, clusters: Sequence[Hashable]
) -> tuple[Finding, ...]:
    """The metrics whose polarity or definition seems turned around: leave them out until someone has looked.

    `inverted_metric` where the judge contradicts the experts almost throughout, `inversion_suspected` where it only
    agrees with them less than chance would, beyond doubt.

    >>> found = inverted_metrics([1, 1, 0, 0, 1, 0] * 2, [0, 0, 1, 1, 0, 1] * 2, clusters=["hope"] * 12)
    >>> [(one.code, one.subject) for one in found]
    [('inverted_metric', 'hope')]
    """
    names = np.empty(len(clusters), dtype=object)
    names[:] = list(clusters)
    return tuple(
        Finding(
            code="inverted_metric" if alarm.raised else "inversion_suspected",
            subject=alarm.cluster,
            sentence=f"On {alarm.cluster}, {_how_far(alarm)}.",
        )
        for alarm in polarity_tripwire(reference, judge_pass, clusters=names)
        if alarm.suspected
    )


def _how_far(alarm: PolarityAlarm) -> str:
    agreed = (
        f"judge and experts agree on {alarm.accuracy.value:.0%} of {alarm.accuracy.n} items and would on"
        f" {1 - (alarm.accuracy.value or 0):.0%} the other way round"
    )
    if alarm.raised:
        return f"{agreed}: polarity or definition may be inverted"
    return (
        f"{agreed}, which is less than chance (kappa {alarm.kappa.value:.2f}, at most {alarm.kappa.high:.2f}): see whether"
        " its polarity or its question is turned around"
    )


def finding(code: str, subject: Hashable, what: str) -> Finding:
    """A finding whose sentence begins with its subject."""
    return Finding(code=code, subject=subject, sentence=f"{subject} {what}.")

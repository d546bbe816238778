"""Who may have which item: conflicts of interest, the languages they read, and their expertise."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from reviews.assignment import Member, PlanRefused, list_reasons, shortage

CONFLICT = "have a conflict of interest"
LANGUAGE = "do not read its language"
EXPERTISE = "are experts in other subareas"
_ABOUT = ["full_name", "provider", "language", "subareas"]


def ineligible_pairs(
    frame: pd.DataFrame, members: Sequence[Member], *, match_expertise: bool = False
) -> dict[tuple[str, str], str]:
    """(item, rater) -> why not, for all pairs that may not be.

    Nobody rates a metric that they authored or a model of a maker whom they are bound to; somebody whose languages are
    known rates what is written in one of them; with `match_expertise`, somebody whose expertise is known rates metrics
    placed in it.

    Args:
        frame: the items, with `key`, `full_name` (benchmark/metric), `provider`, `language` (empty where it is not
            known) and `subareas` (slugs).
    """
    pairs = {}
    for about, rows in frame.groupby(_ABOUT, dropna=False, sort=False):
        one = dict(zip(_ABOUT, about, strict=True))
        for member in members:
            if reason := _why_not(member, one, match_expertise=match_expertise):
                pairs.update(dict.fromkeys(((str(key), member.name) for key in rows["key"]), reason))
    return pairs


def require_eligible(
    frame: pd.DataFrame,
    members: Sequence[Member],
    *,
    overlap: int,
    ineligible: Mapping[tuple[str, str], str],
) -> None:
    """Refuse items that too few may rate, whatever they have rated before.

    Raises:
        PlanRefused: names the metric, what it is short of, and who may not rate it why.
    """
    for about, rows in frame.groupby([*_ABOUT, "metric"], dropna=False, sort=False):
        key = str(rows["key"].iloc[0])
        why = {m.name: ineligible[key, m.name] for m in members if (key, m.name) in ineligible}
        if why and (lack := shortage([m for m in members if m.name not in why], members, overlap=overlap)):
            raise PlanRefused(
                f"{len(rows)} items of the metric {about[-1]}, such as {key}, are open to {lack} for an overlap of "
                f"{overlap}, since {list_reasons(why)}; name raters who may have them, or leave them out with --metric"
            )


def _why_not(member: Member, about: Mapping[str, Any], *, match_expertise: bool) -> str:
    conflicts = {conflict.casefold() for conflict in member.conflicts}
    if conflicts & {str(about["full_name"]).casefold(), str(about["provider"]).casefold()} - {""}:
        return CONFLICT
    read = {_primary(tag) for tag in member.languages}
    if read and about["language"] and _primary(about["language"]) not in read:
        return LANGUAGE
    if match_expertise and member.expertise and not set(member.expertise) & set(about["subareas"]):
        return EXPERTISE
    return ""


def _primary(tag: str) -> str:
    """The language of a tag, whatever the region.

    >>> _primary("de-AT")
    'de'
    """
    return tag.replace("_", "-").partition("-")[0].casefold()

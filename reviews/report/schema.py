"""The JSON Schema of a judge card, and what a card that breaks it is told."""

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from impactbench.domain import ImpactBenchError


class CardRefused(ImpactBenchError):
    """A judge card that breaks its schema; the text names the place and what is wrong there."""


@cache
def _validator() -> Draft202012Validator:
    source = (resources.files("reviews.report") / "judge_card.schema.json").read_text(encoding="utf-8")
    return Draft202012Validator(json.loads(source))


def require_valid(card: Mapping[str, Any]) -> None:
    """Refuse a card that breaks the schema.

    Raises:
        CardRefused: a number lacks its n, self-preference is absent although the judge is in the pool, ...
    """
    found = best_match(_validator().iter_errors(card))
    if found is None:
        return
    place = found.json_path.removeprefix("$").lstrip(".") or "the card"
    raise CardRefused(f"the judge card is not valid: {place}: {found.message[:300]}")

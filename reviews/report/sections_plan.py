"""The section of a report on the plan that was registered, and on what became of it."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from impactbench.adapters import ImportRefused
from reviews.registration import AnalysisPlan, in_words
from reviews.report.document import Section, Table
from reviews.report.package import ABOUT
from reviews.report.spelling import counted


def plan_section(about: Mapping[str, Any]) -> Section:
    """When the plan was frozen, what it says, and what departs from it."""
    plan = about.get("plan")
    if not plan:
        return Section(
            "plan",
            "The plan and what became of it",
            "No plan was frozen before the labels could be read, so no figure here counts as pre-registered.",
        )
    deviations = tuple(map(str, plan["deviations"]))
    many = counted(len(deviations), "deviation")
    return Section(
        "plan",
        "The plan and what became of it",
        f"A plan was frozen on {plan['frozen_at'][:10]} with {counted(plan['labels_then'], 'label')} in; {many} from it.",
        (
            f"Hash of the plan: {plan['hash']}.",
            *(f"Amended because: {because}" for because in plan["amendments"]),
            *(f"Deviation: {one}" for one in deviations),
        ),
        tables=(Table("What was fixed", ("Part", "Says"), tuple(in_words(_fixed(plan)))),)
        if "says" in plan
        else (),
    )


def _fixed(plan: Mapping[str, Any]) -> AnalysisPlan:
    """The plan as it was frozen.

    Raises:
        ImportRefused: it is no plan, or another one than its hash says.
    """
    try:
        fixed = AnalysisPlan.model_validate(plan["says"])
    except ValidationError as error:
        raise ImportRefused(f"{ABOUT}: plan: {error.errors()[0]['msg']}") from error
    if fixed.content_hash != plan["hash"]:
        raise ImportRefused(f"{ABOUT}: plan: what it says does not have the hash {plan['hash']}")
    return fixed

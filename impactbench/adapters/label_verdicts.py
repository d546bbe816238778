"""The judges' verdicts on items that people labelled, as a long table beside the labels: one row a verdict."""

from collections.abc import Mapping, Sequence
from typing import Any

from impactbench.domain import Polarity, passes

VERDICT_COLUMNS = (
    "item_id",
    "run",
    "benchmark",
    "metric_id",
    "metric_version",
    "judge",
    "judge_family",
    "judge_prompt",
    "judge_parameters",
    "repeat_no",
    "present",
    "label",
    "unscored_because",
    "justification",
    "created_utc",
    "study",
    "polarity",
    "model",
)
"""`present` is what the judge says, `label` the verdict after polarity; both are empty where it gave none."""


def verdict_cells(sections: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[dict[str, str]]:
    """A row for each verdict, in the order of the section.

    Args:
        sections: portable rows by table, of which judgments say what they are about by its natural key.
    """
    versions = {(*row["metric"], row["version"]): row for row in sections["metric_version"]}
    targets = {(*row["run"], row["key"]): row["model"][0] for row in sections["conversation"]}
    families = {row["slug"]: row["family"] for row in sections["model"]}
    rows = []
    for said in sections["judgment"]:
        study, run, item = said["conversation"]
        benchmark, metric, version = said["metric_version"]
        judge, prompt, parameters = said["judge"]
        polarity = versions[benchmark, metric, version]["polarity"]
        found = {
            "item_id": item,
            "run": run,
            "benchmark": benchmark,
            "metric_id": metric,
            "metric_version": str(version),
            "judge": judge,
            "judge_family": families[judge],
            "judge_prompt": prompt,
            "judge_parameters": parameters,
            "repeat_no": str(said["repeat"]),
            "present": "" if said["present"] is None else str(said["present"]).lower(),
            "label": _label(said["present"], polarity),
            "unscored_because": said["unscored_because"],
            "justification": said["justification"],
            "created_utc": said["created_at"],
            "study": study,
            "polarity": polarity,
            "model": targets[study, run, item],
        }
        rows.append({name: found[name] for name in VERDICT_COLUMNS})
    return rows


def _label(present: bool | None, polarity: str) -> str:
    if present is None:
        return ""
    return "pass" if passes(present, Polarity(polarity)) else "fail"

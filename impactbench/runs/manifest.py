"""The manifest of a run: everything that shaped what it made. Nothing in it is secret, for it never looks where secrets are."""

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from impactbench.domain import content_hash
from impactbench.prompts import NAMES, prompt
from impactbench.runs.plan import RunPlan

_PACKAGES = ("impactbench", "litellm", "xllamacpp", "ray", "pydantic", "sqlalchemy", "numpy")


def make_manifest(plan: RunPlan) -> dict[str, Any]:
    """What a run is made from: design, metrics by hash, every prompt word for word, versions of packages, seed."""
    design = plan.design
    return {
        "layout": "run",
        "design": design.model_dump(mode="json", exclude={"suite", "scenarios", "provider"}),
        "provider": design.provider.partition(":")[0],
        "seed": design.seed,
        "targets": [target.slug for target in design.targets],
        "metrics": {metric.key: metric.definition.content_hash for metric in plan.metrics},
        "written_scenarios": {f"{one.metric}/{one.slug}": one.content_hash for one in plan.written},
        "prompts": {name: {"text": prompt(name).text, "sha256": prompt(name).hash} for name in NAMES},
        "planned": plan.counts.as_dict(),
        "versions": {"python": platform.python_version(), **_versions()},
    }


def manifest_hash(manifest: dict[str, Any]) -> str:
    return content_hash(manifest)


def _versions() -> dict[str, str]:
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found

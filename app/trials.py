"""Trying a suggested metric from a page: in a process of its own, because the model client would slow every page down."""

import os
import subprocess
import sys

from app import workspace
from impactbench.suite.submission_store import suggestion

LONGEST_SECONDS = 300


def run_trial(code: str) -> str:
    """Try the newest revision of a suggestion with the model that is set; returns why it could not be, else nothing."""
    settings = workspace.settings()
    before = _trials(code)
    command = [sys.executable, "-m", "app.cli", "submit", "try", code, "--model", settings.trial_model]
    try:
        done = subprocess.run(  # noqa: S603 - the code is one of ours, the model comes from the settings
            command,
            env=os.environ | {"IMPACTBENCH_DATABASE_URL": settings.database_url},
            capture_output=True,
            text=True,
            timeout=LONGEST_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"the model did not answer within {LONGEST_SECONDS // 60} minutes"
    if _trials(code) > before:
        return ""
    told = [line for line in done.stderr.splitlines() if line.startswith("Error: ")]
    return told[-1].removeprefix("Error: ") if told else "the trial ended without a result"


def _trials(code: str) -> int:
    return sum(len(revision.trials) for revision in suggestion(workspace.engine(), code).revisions)

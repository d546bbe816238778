"""The shared material beside the project: real data and right values, read from where they lie."""

import json
import os
from pathlib import Path
from typing import Any

SHARED = Path(__file__).resolve().parents[2] / "shared"
REQUIRED = os.environ.get("CI") == "true"


def shared_json(name: str) -> Any:
    """The parsed JSON file, or None where the material is absent (an error under CI, where it must be there)."""
    path = SHARED / name
    if not path.exists():
        if REQUIRED:
            raise FileNotFoundError(f"{name} must be in {SHARED} under CI")
        return None
    return json.loads(path.read_text(encoding="utf-8"))

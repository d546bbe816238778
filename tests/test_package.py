"""What is shipped: a wheel with everything that the program reads, and documents that speak of commands that exist."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from app.cli import COMMANDS, load

ROOT = Path(__file__).resolve().parents[1]
SHIPPED = [
    "app/components/rating_desk.js",
    "app/components/rating_desk_questions.js",
    "app/components/rating_desk.css",
    "app/favicon.svg",
    "validation/admissible.yaml",
    "validation/__init__.pyi",
    "reviews/rubrics/plain-verdict.yaml",
    "reviews/report/judge_card.schema.json",
    "reviews/report/report.html.j2",
    "impactbench/store/migrations/env.py",
    "impactbench/store/migrations/script.py.mako",
    "impactbench/_data/suite/subareas.yaml",
    "impactbench/_data/suite/submission.yaml",
    "impactbench/_data/suite/benchmarks/autonomy-support.yaml",
    "impactbench/_data/demo/everyday-choices/benchmark.yaml",
    "impactbench/_data/demo/everyday-choices/ratings.csv",
    "impactbench/_data/demo/revision/decisions.yaml",
]


@pytest.mark.slow
def test_the_wheel_holds_everything_that_the_program_reads(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    held = set(zipfile.ZipFile(wheel).namelist())
    assert [name for name in SHIPPED if name not in held] == []
    assert any(re.match(r"impactbench/store/migrations/versions/\d{4}_.*\.py", name) for name in held)
    assert not [
        name for name in held if name.startswith(("tests/", "bench/", "docs/")) or "__pycache__" in name
    ]


@pytest.fixture(scope="module")
def loaded() -> dict[str, Any]:
    return {name: load(name) for name in COMMANDS}


def commands(loaded: dict[str, Any]) -> set[str]:
    """Every command of the command line, as it is typed."""
    return {
        f"{name} {sub}".strip() for name, found in loaded.items() for sub in getattr(found, "commands", [""])
    }


def test_the_list_of_commands_says_what_each_says_of_itself(loaded: dict[str, Any]) -> None:
    assert {name: " ".join(found.help.split("\n\n")[0].split()) for name, found in loaded.items()} == {
        name: sentence for name, (_, sentence) in COMMANDS.items()
    }


def test_the_list_of_commands_loads_no_command() -> None:
    shown = "import sys; from app.cli import cli; cli(['--help'], standalone_mode=False)"
    asked = f"{shown}; sys.exit(bool({{'pandas', 'scipy', 'sqlalchemy', 'streamlit'}} & set(sys.modules)))"
    subprocess.run([sys.executable, "-c", asked], check=True, cwd=ROOT, capture_output=True)


def test_documents_speak_only_of_commands_that_exist(loaded: dict[str, Any]) -> None:
    known = commands(loaded)
    groups = {name.split()[0] for name in known if " " in name}
    for document in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), ROOT / "data/demo/README.md"]:
        for first, second in re.findall(
            r"impactbench ([a-z-]+)(?: ([a-z-]+))?", document.read_text(encoding="utf-8")
        ):
            if first in groups:
                assert f"{first} {second}" in known, f"{document.name}: impactbench {first} {second}"


def test_every_setting_is_in_the_readme() -> None:
    from impactbench.settings import Settings

    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for name in Settings.model_fields:
        assert f"IMPACTBENCH_{name.upper()}" in readme, name


@pytest.mark.parametrize("name", ["validation", "impactbench.domain", "reviews.desk", "app.cli"])
def test_a_package_can_be_imported_alone(name: str) -> None:
    subprocess.run([sys.executable, "-W", "error", "-c", f"import {name}"], check=True, cwd=ROOT)

"""The shape of the project: what may import what, how long a module may be, what must not be written."""

import ast
import re
import sys
from pathlib import Path
from statistics import median

import pytest
from importlinter.cli import lint_imports

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("validation", "impactbench", "reviews", "app")
MODULES = sorted(
    path for package in PACKAGES for path in (ROOT / package).rglob("*.py") if "versions" not in path.parts
)
SCRIPTS = sorted((ROOT / "app").rglob("*.js"))
HARD_STOP = 400
MEDIAN = 170


def lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def test_packages_import_only_what_stands_to_their_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert lint_imports(no_cache=True) == 0


@pytest.mark.parametrize("path", MODULES + SCRIPTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_is_short_and_has_a_telling_name(path: Path) -> None:
    assert lines(path) <= HARD_STOP
    assert path.stem not in {"utils", "helpers", "common", "manager", "base", "misc"}


def test_modules_are_about_a_page_or_two_long() -> None:
    assert median(lines(path) for path in MODULES if path.stem != "__init__") <= MEDIAN


def test_nothing_directly_under_app_hides_a_package_or_the_standard_library() -> None:
    names = {path.stem for path in (ROOT / "app").iterdir() if not path.name.startswith("__")}
    assert names.isdisjoint(PACKAGES)
    assert names.isdisjoint(sys.stdlib_module_names)
    assert "pages" not in names


def test_only_one_module_may_ever_import_the_model_client() -> None:
    importing = [
        path for path in MODULES if re.search(r"^\s*(import|from) litellm", path.read_text("utf-8"), re.M)
    ]
    assert [path.name for path in importing] == ["litellm_provider.py"]


def test_pages_render_nothing_unescaped() -> None:
    for path in (ROOT / "app").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                where = f"{path.relative_to(ROOT)}:{node.lineno}"
                assert node.func.attr != "chat_message", where
                assert all(keyword.arg != "unsafe_allow_html" for keyword in node.keywords), where


def test_no_address_of_a_registry_and_no_path_of_a_machine_is_written_down() -> None:
    hosts = "|".join(("pypi" + r"\.org", "python" + "hosted", "registry" + r"\.npmjs", r"deb\." + "debian"))
    for folder in (*PACKAGES, "data", "docs", "bench", "tests"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in {".py", ".md", ".toml", ".txt", ".yaml", ".sh", ".js", ".css"}:
                assert not re.search(hosts, path.read_text(encoding="utf-8")), path

"""What `from validation import ...` offers: honest, sorted, quick to import, and nothing in a circle."""

import ast
import doctest
import importlib
import inspect
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path
from types import ModuleType

import pytest

import validation

PACKAGE = Path(validation.__file__).parent
STUB = ast.parse(PACKAGE.joinpath("__init__.pyi").read_text(encoding="utf-8"))
HEAVY = ("numpy", "pandas", "scipy", "sklearn", "statsmodels", "krippendorff", "yaml")
ALLOWED = {*HEAVY, "threadpoolctl", "validation"}


def in_stub() -> dict[str, str]:
    """Each name that the stub imports, and its module."""
    return {
        alias.name: str(node.module)
        for node in STUB.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def imports_of(module: Path) -> set[str]:
    tree = ast.parse(module.read_text(encoding="utf-8"))
    found = {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    return found | {
        alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
    }


def run(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=PACKAGE.parent
    ).stdout.strip()


def test_all_is_sorted_without_doubles_and_says_what_the_stub_says() -> None:
    declared = next(ast.literal_eval(node.value) for node in STUB.body if isinstance(node, ast.Assign))
    assert validation.__all__ == sorted(set(validation.__all__)) == sorted(declared) == sorted(in_stub())


@pytest.mark.parametrize("name", validation.__all__)
def test_a_public_name_is_the_thing_that_its_module_defines(name: str) -> None:
    home = in_stub()[name]
    member = getattr(validation, name)
    assert not isinstance(member, ModuleType)
    assert member is getattr(importlib.import_module(home), name)
    if inspect.isroutine(member) or inspect.isclass(member):
        assert member.__module__ == home
        assert member.__doc__


def test_a_name_that_is_not_public_is_refused() -> None:
    with pytest.raises(AttributeError, match="no attribute 'krippendorf'"):
        validation.krippendorf  # noqa: B018


def test_a_function_keeps_its_name_whichever_way_its_module_comes_in() -> None:
    code = "import validation.retest; from validation import retest, Ratings; print(retest.__name__, Ratings.__name__)"
    assert run(code) == "retest Ratings"
    assert (
        run("from validation.retest import Retest; import validation; print(validation.retest.__name__)")
        == "retest"
    )


def test_importing_the_package_loads_no_library_and_a_table_loads_no_statistics() -> None:
    loaded = "print(sorted({name.partition('.')[0] for name in sys.modules} & set(%r)))"
    assert run(f"import sys, validation; {loaded % (HEAVY,)}") == "[]"
    light = run(f"import sys; from validation import Ratings, Estimate; {loaded % (HEAVY,)}")
    assert light == "['numpy', 'pandas']"


def test_no_module_imports_itself_by_way_of_others() -> None:
    graph = {
        f"validation.{module.stem}": {name for name in imports_of(module) if name.startswith("validation")}
        for module in PACKAGE.glob("*.py")
        if module.stem != "__init__"
    }
    order = list(TopologicalSorter(graph).static_order())
    assert set(order) == set(graph), "nobody imports the package as a whole from within"


@pytest.mark.parametrize("module", sorted(PACKAGE.glob("*.py")), ids=lambda path: path.stem)
def test_a_module_imports_only_numbers_and_statistics(module: Path) -> None:
    foreign = {name.partition(".")[0] for name in imports_of(module)} - ALLOWED - sys.stdlib_module_names
    assert foreign == set()


PAGE = PACKAGE.parent / "docs/statistics.md"


def test_the_examples_of_the_page_give_what_it_says() -> None:
    examples = re.sub(r"^```.*$", "", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    page = doctest.DocTestParser().get_doctest(examples, {}, PAGE.name, str(PAGE), 0)
    failed, tried = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(page)
    assert failed == 0
    assert tried > 60


def test_the_page_explains_every_public_function() -> None:
    page = PAGE.read_text(encoding="utf-8")
    functions = [name for name in validation.__all__ if inspect.isfunction(getattr(validation, name))]
    assert [name for name in functions if not re.search(rf"\b{name}\b", page)] == []
    offered = {
        name
        for line in re.findall(r"^`from validation import (.+)`$", page, re.MULTILINE)
        for name in line.split(", ")
    }
    assert offered <= set(validation.__all__)


def reason_codes() -> set[str]:
    """The codes that the package gives in place of a number, as far as they are written out."""
    codes: set[str] = set()
    for module in PACKAGE.glob("*.py"):
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and re.search(
                r"undefined$|refused$|not_assessed$", ast.unparse(node.func)
            ):
                arguments: list[ast.expr] = [
                    argument for argument in node.args if not isinstance(argument, ast.Call)
                ]
            elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "reason":
                arguments = [node.value]
            elif isinstance(node, ast.FunctionDef) and node.name == "_cannot":
                arguments = [one.value for one in ast.walk(node) if isinstance(one, ast.Return) and one.value]
            else:
                continue
            words = [
                one.value
                for argument in arguments
                for one in ast.walk(argument)
                if isinstance(one, ast.Constant)
            ]
            codes |= {
                word for word in words if isinstance(word, str) and re.fullmatch(r"[a-z]+(_[a-z]+)*", word)
            }
    return codes


def test_the_page_explains_every_reason_for_having_no_number() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert len(reason_codes()) > 20
    assert [code for code in sorted(reason_codes()) if f"`{code}`" not in page] == []

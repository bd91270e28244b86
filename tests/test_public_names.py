"""The public surface: what `jeval` offers, where it lives, and that importing it costs nothing."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import jeval

NAMES = [
    "Case",
    "CaseResult",
    "Check",
    "Choice",
    "JevalError",
    "Metric",
    "Noul",
    "Rubric",
    "Score",
    "Thresholds",
    "__version__",
    "evaluate_case",
    "evaluate_case_async",
    "evaluate_dataset",
    "evaluate_dataset_async",
    "metrics_from_deepeval",
]


def test_these_are_the_public_names_and_there_are_no_others() -> None:
    assert sorted(jeval.__all__) == sorted(dir(jeval)) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_can_be_had(name: str) -> None:
    assert getattr(jeval, name) is not None


@pytest.mark.parametrize("name", [name for name in NAMES if name != "__version__"])
def test_every_public_name_is_public_where_it_lives(name: str) -> None:
    value = getattr(jeval, name)
    assert value.__name__ == name
    assert value.__module__.startswith("jeval.")
    assert name in import_module(value.__module__).__all__


@pytest.mark.parametrize("name", [name for name in NAMES if name != "__version__"])
def test_every_public_name_has_a_docstring(name: str) -> None:
    assert getattr(jeval, name).__doc__


def test_type_checkers_are_told_of_the_same_names() -> None:
    tree = ast.parse(Path(jeval.__file__).read_text(encoding="utf-8"))
    told = {
        alias.asname: node.module
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert told == {name: getattr(jeval, name).__module__ for name in NAMES if name != "__version__"}


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'jeval' has no attribute 'evaluate_everything'"):
        jeval.evaluate_everything  # noqa: B018
    with pytest.raises(ImportError):
        from jeval import nothing  # noqa: F401


def test_importing_jeval_imports_nothing_heavy() -> None:
    code = "import jeval, sys; print(*sorted({m.split('.')[0] for m in sys.modules}))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {
        "pydantic",
        "hydra",
        "omegaconf",
        "httpx",
        "aiohttp",
        "datasette",
        "sqlite_utils",
        "rich",
        "asyncio",
    }
    assert heavy.isdisjoint(found.stdout.split())


def test_the_core_imports_no_edge() -> None:
    code = "import jeval.evaluate, jeval.summary, sys; print(*sorted(sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(found.stdout.split())
    edges = {"jeval.app", "jeval.store", "jeval.judges", "jeval.browse", "jeval.imports"}
    assert "jeval.kinds" in loaded
    assert edges.isdisjoint(loaded)
    assert {"hydra", "httpx", "datasette", "sqlite_utils", "rich"}.isdisjoint(loaded)


@pytest.mark.parametrize(
    "module",
    "case decision digest errors evaluate fingerprint kinds plan question result rubric ruling state summary".split(),
)
def test_what_a_module_calls_public_it_has(module: str) -> None:
    found = import_module(f"jeval.{module}")
    assert found.__doc__
    for name in found.__all__:
        assert hasattr(found, name), name

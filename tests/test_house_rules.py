"""Every house rule fires on what it forbids, names the line, and leaves the rest alone."""

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / "scripts" / "house_rules.py"
_spec = importlib.util.spec_from_file_location("house_rules", SCRIPT)
assert _spec and _spec.loader
house_rules = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(house_rules)


@pytest.fixture
def problems(tmp_path, monkeypatch):
    """What the rules say of one file with this name and text."""
    monkeypatch.setattr(house_rules, "ROOT", tmp_path)

    def check(name: str, text: str) -> list[str]:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        return list(house_rules.check_file(name))

    return check


def test_a_module_may_fill_its_lines_and_not_one_more(problems):
    assert problems("jeval/plan.py", "x = 1\n" * house_rules.MODULE_LINES) == []
    [problem] = problems("jeval/plan.py", "x = 1\n" * (house_rules.MODULE_LINES + 1))
    assert "split it by noun" in problem


def test_a_docstring_does_not_count_towards_a_functions_length(problems):
    docstring = '    """' + "what it does\n" * house_rules.FUNCTION_LINES + '    """\n'
    body = "    x = 1\n" * house_rules.FUNCTION_LINES
    assert problems("jeval/plan.py", f"def plan():\n{docstring}{body}") == []
    [problem] = problems("jeval/plan.py", f"def plan():\n{docstring}{body}    x = 1\n")
    assert problem.startswith("jeval/plan.py:1: plan has ")


@pytest.mark.parametrize("name", ["jeval/utils.py", "jeval/app/helpers.py", "jeval/common/parts.py"])
def test_a_name_that_says_nothing_is_refused(problems, name):
    assert "says nothing" in problems(name, "")[0]


@pytest.mark.parametrize(
    "line",
    [
        "import os",
        "from time import monotonic",
        "import httpx",
        "open('x')",
        "datetime.now(UTC)",
        "connection.execute('SELECT 1')",
    ],
)
def test_a_pure_module_touches_nothing(problems, line):
    [problem] = problems("jeval/kinds/custom.py", f"\n{line}\n")
    assert problem.startswith("jeval/kinds/custom.py:2: ")


@pytest.mark.parametrize(
    ("room", "line"),
    [
        ("judges", "import httpx"),
        ("app", "import hydra"),
        ("browse", "from markupsafe import Markup"),
        ("store", "connection.execute('SELECT 1')"),
    ],
)
def test_a_heavy_package_stays_in_its_room(problems, room, line):
    assert problems(f"jeval/{room}/part.py", line) == []
    assert len(problems("jeval/imports/part.py", line)) == 1


def test_markup_of_an_f_string_is_refused_everywhere(problems):
    assert "escapes nothing" in problems("tests/test_page.py", "Markup(f'<b>{x}</b>')")[0]
    assert problems("tests/test_page.py", "Markup('<b>{}</b>').format(x)") == []


@pytest.mark.parametrize("character", ["\u202e", "\x1b", "\u200b", "\ufeff", "\r", "\u2028"])
def test_a_character_that_cannot_be_seen_is_named(problems, character):
    [problem] = problems("docs/cases.md", f"plain\nodd {character}\n")
    assert problem.startswith(f"docs/cases.md:2: holds U+{ord(character):04X}")


def test_cases_and_tests_may_hold_any_character(problems):
    assert problems("datasets/clinic.jsonl", "\u202e") == []
    assert problems("tests/test_plan.py", "x = '\u202e'") == []


def test_a_file_that_is_not_utf_8_is_named(problems, tmp_path):
    (tmp_path / "README.md").write_bytes(b"caf\xe9")
    assert "is not UTF-8" in next(house_rules.check_file("README.md"))

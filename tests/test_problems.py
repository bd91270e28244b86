"""Faults in words: every way a case can be wrong is one line that says what to do."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from jeval.case import Case
from jeval.errors import Problem
from jeval.problems import nearest, problems_of, shorten


def faults(**more: Any) -> list[Problem]:
    with pytest.raises(ValidationError) as caught:
        Case.model_validate({"id": "a", "input": "i", "output": "o", **more})
    return problems_of(caught.value, Case, "f:1")


def fault(**more: Any) -> Problem:
    (found,) = faults(**more)
    return found


@given(st.text(max_size=300), st.integers(10, 80))
def test_a_shown_value_is_one_printable_line_of_at_most_that_width(text: str, width: int) -> None:
    shown = shorten(text, width)
    assert len(shown) <= width and shown.isprintable()


def test_values_are_shown_as_they_are_written_on_disk() -> None:
    assert [shorten(value) for value in (None, True, False, 1.5, "None")] == [
        "null",
        "true",
        "false",
        "1.5",
        "'None'",
    ]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("imput", "input"),
        ("tool_events", "toolEvents"),
        ("TOOLEVENTS", "toolEvents"),
        ("tool-events", "toolEvents"),
        ("qqqq", None),
        ("", None),
    ],
)
def test_the_nearest_name_is_found_across_spellings_and_none_where_none_is_near(typed: str, meant: str | None) -> None:
    assert nearest(typed, ["input", "output", "toolEvents"]) == meant


def test_a_missing_key_is_told_to_be_added() -> None:
    with pytest.raises(ValidationError) as caught:
        Case.model_validate({})
    assert [(p.field, p.message) for p in problems_of(caught.value, Case, "f:1")] == [
        (name, "is missing") for name in ("id", "input", "output")
    ]


def test_an_unknown_key_names_the_nearest_or_else_all_there_are_at_that_depth() -> None:
    assert fault(polcy="x").remedy == "did you mean policy?"
    deep = fault(messages=[{"id": "m", "role": "user", "content": "c", "zzz": 1}])
    assert (deep.field, deep.remedy) == ("messages[0].zzz", "the keys there are id, role, content")
    labelled = fault(expected={"note": {"status": "pass", "sorce": "human"}})
    assert (labelled.field, labelled.remedy) == ("expected.note.sorce", "did you mean source?")


def test_a_key_given_under_both_of_its_names_is_told_so() -> None:
    assert "both" in fault(toolEvents=[], tool_events=[]).message


@pytest.mark.parametrize(
    ("more", "message", "remedy"),
    [
        ({"id": 7}, "must be text", 'write it in quotes: "7"'),
        ({"id": True}, "must be text", "write a text"),
        ({"input": None}, "must be text", "write a text"),
        ({"id": "a b"}, "is no valid id", "letters"),
        ({"context": 3}, "must be a list", "["),
        ({"context": [3]}, "must be an object", 'write {"id": …, "content": …}'),
        ({"expected": {"facts": "pass"}}, "must be an object", 'write {"status": "pass"}'),
        ({"toolEvents": {}}, "must be a list", 'write [{"id": …, "name": …, "status": "success"}]'),
        ({"metadata": "x"}, "must be an object", "{"),
        ({"messages": [{"id": "m", "role": "bot", "content": ""}]}, "none of the values", "'assistant'"),
        ({"toolEvents": [{"id": "t", "name": "", "status": "success"}]}, "is empty", "write a text"),
        ({"context": [{"id": "c", "content": "x"}] * 2}, "'c' occurs twice", ""),
        ({"policy": "x" * 100_001}, "100,001 characters", "100,000"),
    ],
)
def test_every_fault_has_a_message_and_a_remedy(more: dict[str, Any], message: str, remedy: str) -> None:
    found = fault(**more)
    assert message in found.message and remedy in found.remedy
    assert str(found).startswith(f"f:1: {found.field} ")


def test_all_faults_of_one_case_are_told() -> None:
    assert len(faults(id=7, polcy="x", context=3)) == 3

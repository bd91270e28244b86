"""Problems as they are found: alike ones in one, at most fifty, every one counted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeval.errors import DataError, Problem
from jeval.findings import Findings


def problem(line: int, field: str = "id", message: str = "is missing") -> Problem:
    return Problem(f"c:{line}", field, None, message, "add it")


def found(*problems: Problem) -> Findings:
    findings = Findings()
    findings.add(problems)
    return findings


def test_three_alike_are_told_one_by_one_where_they_stand() -> None:
    mixed = [problem(1), problem(1, "output"), problem(2), problem(3)]
    assert found(*mixed).problems == mixed


def test_more_alike_are_told_once_with_their_first_places() -> None:
    (one,) = found(*map(problem, range(1, 8))).problems
    assert (one.place, one.alike, one.also) == ("c:1", 6, ("c:2", "c:3", "c:4"))


def test_places_in_lists_are_alike_and_one_line_is_one_place() -> None:
    (one,) = found(*(problem(1, f"messages[{n}].id") for n in range(9))).problems
    assert str(one) == "c:1: messages[0].id is missing; add it (and 8 more alike there)"


def test_what_differs_in_more_than_its_place_is_told_apart() -> None:
    messages = [problem(n, message=f"is {n}") for n in range(10)]
    assert found(*messages).problems == messages


def test_nothing_found_is_no_error() -> None:
    Findings().check()
    with pytest.raises(DataError) as error:
        found(problem(1)).check("nothing was written")
    assert error.value.undone == "nothing was written"


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(0, 99)), max_size=400))
def test_every_problem_is_told_or_counted_and_at_most_fifty_are_lines(drawn: list[tuple[int, int]]) -> None:
    findings = found(*(problem(line, message=f"is {kind}") for line, kind in drawn))
    told = findings.problems
    assert len(told) <= 50
    assert bool(findings) == bool(drawn) == bool(told)
    assert sum(1 + one.alike for one in told) + findings.more == len(drawn)

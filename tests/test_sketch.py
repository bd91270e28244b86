"""What a value looks like as people write it: with the keys it cannot do without, and no others."""

from typing import Any

import pytest

from jeval.case import Case
from jeval.rubric import Rubric
from jeval.sketch import sketch


@pytest.mark.parametrize(
    ("location", "written"),
    [
        ((), '{"id": …, "input": …, "output": …}'),
        (("context", 0), '{"id": …, "content": …}'),
        (("context",), '[{"id": …, "content": …}]'),
        (("toolEvents", 3), '{"id": …, "name": …, "status": "success"}'),
        (("tool_events", 3), '{"id": …, "name": …, "status": "success"}'),
        (("expected", "facts"), '{"status": "pass"}'),
        (("expected",), '{"…": {"status": "pass"}}'),
        (("metadata",), "{ … }"),
        (("input",), "…"),
        (("no", "such", 1, "place"), "…"),
    ],
)
def test_a_place_in_a_case_is_written_with_what_it_needs(location: Any, written: str) -> None:
    assert sketch(Case, location) == written


def test_an_object_that_needs_nothing_is_left_open() -> None:
    assert sketch(Rubric, ("thresholds",)) == "{ … }"
    assert sketch(Rubric, ("applicability", "requires")) == '["policy"]'

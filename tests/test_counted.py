"""Counts as people read them."""

import pytest

from jeval.counted import counted


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0 cases"), (1, "1 case"), (2, "2 cases"), (1234, "1,234 cases"), (-1, "-1 cases")]
)
def test_one_is_one_and_everything_else_is_several(number: int, text: str) -> None:
    assert counted(number, "case") == text


def test_a_noun_may_have_a_plural_of_its_own() -> None:
    assert [counted(n, "reply", "replies") for n in (1, 2)] == ["1 reply", "2 replies"]

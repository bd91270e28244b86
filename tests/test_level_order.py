"""Levels that look as if they were written best first."""

import pytest

from jeval.level_order import looks_reversed

WORST_FIRST = [
    ("Fabricated", "Mostly fabricated", "Mostly grounded", "Fully grounded"),
    ("Fabricated", "Partly grounded", "Fully grounded"),
    ("Not at all", "Partly", "Fully"),
    ("None of the points", "Some of the points", "All of the points"),
    ("Severe leak", "Minor leak", "No leak"),
    ("Rude", "Cold", "Neutral", "Warm"),
    ("Many errors", "Few errors", "No errors"),
    ("No relevant content", "Somewhat relevant", "Fully relevant"),
    ("1 - poor", "2 - fair", "3 - good"),
    ("0%", "50%", "100%"),
    ("Ignores the question", "Answers half of it", "Answers all of it"),
    ("The role is dropped", "The role slips once", "The role is kept throughout"),
    ("A", "B", "C"),
]
BEST_FIRST = [
    ("Fully grounded", "Mostly grounded", "Mostly fabricated", "Fabricated"),
    ("Fully", "Partly", "Not at all"),
    ("Excellent", "Good", "Poor"),
    ("No leak", "Minor leak", "Severe leak"),
    ("5: excellent", "3: fair", "1: poor"),
    ("100%", "50%", "0%"),
    ("All of the points", "Some of the points", "None of the points"),
    ("Isn't wrong", "Is wrong"),
    ("Doesn’t fail", "Fails"),
]


@pytest.mark.parametrize("levels", WORST_FIRST, ids=lambda levels: levels[0])
def test_levels_that_run_from_worst_to_best_raise_no_doubt(levels: tuple[str, ...]) -> None:
    assert not looks_reversed(levels)


@pytest.mark.parametrize("levels", BEST_FIRST, ids=lambda levels: levels[0])
def test_levels_that_run_from_best_to_worst_are_noticed(levels: tuple[str, ...]) -> None:
    assert looks_reversed(levels)


def test_one_level_is_in_no_order() -> None:
    assert not looks_reversed(["Excellent"])


def test_numbers_that_go_up_and_down_say_nothing() -> None:
    assert not looks_reversed(["2 of them", "3 of them", "1 of them"])

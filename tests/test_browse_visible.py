"""What cannot be seen is written out, and nothing else is touched."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeval.browse.screen import clip, duration, probability, share, when
from jeval.browse.visible import finalize, hides, visible


def test_an_escape_character_becomes_its_picture():
    assert visible("\x1b[31mred") == "\u241b[31mred"


def test_a_direction_override_becomes_its_code_point():
    assert visible("a\u202eb") == "a\u27e8U+202E\u27e9b"


def test_null_and_delete_are_shown():
    assert visible("\x00\x7f") == "\u2400\u2421"


def test_lines_tabs_and_joined_emoji_stay_as_they_are():
    text = "a\tb\nc \U0001f468\u200d\U0001f469\u200d\U0001f467"
    assert visible(text) == text


@given(st.text())
def test_nothing_unseen_is_left(text: str):
    shown = visible(text)
    assert not hides(shown)
    assert all(unicodedata.category(c) != "Cc" or c in "\n\t" for c in shown)


@given(st.text())
def test_making_visible_twice_changes_nothing(text: str):
    assert visible(visible(text)) == visible(text)


def test_none_is_shown_as_nothing():
    assert finalize(None) == ""
    assert finalize(0) == 0


def test_a_rate_comes_with_its_denominator():
    assert share(5, 8) == "62.5% (5 of 8)"


def test_a_rate_of_nothing_is_a_dash_not_zero():
    assert share(0, 0) == "–"


def test_probabilities_have_no_trailing_zeros():
    assert [probability(p) for p in (0, 0.5, 0.123456, 1, 1.0, None)] == ["0", "0.5", "0.123", "1", "1", "–"]


def test_times_and_durations_read_as_people_say_them():
    assert when("2026-03-04T05:06:07.000Z") == "2026-03-04 05:06 UTC"
    assert when("yesterday") == "yesterday"
    assert [duration(s) for s in (None, 1.24, 75, 7320)] == ["–", "1.2 s", "1 min 15 s", "2 h 2 min"]


def test_a_long_text_is_cut_on_one_line():
    assert clip("a\nb" * 100, 10) == "a ba ba b…"


@pytest.mark.parametrize(
    "sign",
    "\x00 \x1b \x7f \x85 \x9b \u00ad \u061c \u180e \u200b \u200e \u200f \u2028 \u2029 \u202a \u202e \u2060 \u2066"
    " \u2069 \ufeff \ufff9 \ud800 \U000e0001 \U000e007f".split(" "),
)
def test_each_of_what_would_be_obeyed_or_hidden_is_written_out_wherever_it_stands(sign: str):
    for text in (sign, f"a{sign}b", f"a\n{sign}"):
        assert hides(text)
        assert sign not in visible(text)

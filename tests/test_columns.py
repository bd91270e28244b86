"""Text in terminal columns: nothing is wider than it may be, nothing is lost, nothing is obeyed."""

from hypothesis import given
from hypothesis import strategies as st

from jeval.app.columns import clipped, columns, cut, wrapped

TEXTS = st.text(alphabet="ab é漢字😀 \u0301\u3000x-", max_size=80)


def test_wide_characters_take_two_columns_and_marks_none() -> None:
    assert [columns(text) for text in ("abc", "漢字", "e\u0301", "😀", "")] == [3, 4, 1, 2, 0]


def test_a_line_is_broken_at_spaces_and_a_long_word_where_it_must() -> None:
    assert wrapped("the quick brown fox", 10) == ["the quick", "brown fox"]
    assert wrapped("abcdefghijk lm", 5) == ["abcde", "fghij", "k lm"]
    assert wrapped("漢字漢字", 5) == ["漢字", "漢字"]
    assert wrapped("    indented by four", 14) == ["    indented", "by four"]


def test_lines_stay_lines_and_no_more_are_made_than_wanted() -> None:
    assert wrapped("a\r\nb\n\nc", 10) == ["a", "b", "", "c"]
    assert wrapped("a\tb", 10) == ["a   b"]
    assert wrapped("", 10) == [""]
    assert wrapped("a\nb\nc", 10, 2) == ["a", "b"]
    assert len(wrapped("word " * 1000, 10, 3)) == 3


def test_what_a_terminal_would_obey_is_written_out() -> None:
    assert wrapped("a\x1b[31mred\u202eback\x07\r", 80) == ["a\\x1b[31mred\\u202eback\\x07\\r"]
    assert cut("two\nlines\x9b", 80) == "two\\nlines\\x9b"


def test_what_is_cut_says_so() -> None:
    assert cut("abcdef", 6) == "abcdef"
    assert cut("abcdefg", 6) == "abcde…"
    assert cut("漢字漢", 5) == "漢字…"


def test_a_painted_line_is_clipped_and_its_colour_ended() -> None:
    assert clipped("\x1b[31mabc\x1b[0m", 3) == "\x1b[31mabc\x1b[0m"
    assert clipped("\x1b[31mabcd\x1b[0mef", 3) == "\x1b[31mabc\x1b[0m"
    assert clipped("漢字", 3) == "漢"


@given(text=TEXTS, width=st.integers(2, 30))
def test_no_line_is_too_wide_and_no_letter_is_lost(text: str, width: int) -> None:
    lines = wrapped(text, width)
    assert all(columns(line) <= width for line in lines)
    letters = "".join(lines).replace(" ", "")
    assert letters == "".join(wrapped(text, 10_000)).replace(" ", "")
    assert columns(cut(text, width)) <= width


@given(text=TEXTS, width=st.integers(2, 30), most=st.integers(1, 5))
def test_fewer_lines_are_the_first_of_all(text: str, width: int, most: int) -> None:
    assert wrapped(text, width, most) == wrapped(text, width)[:most]

"""Where sentences end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeval.sentences import split_sentences

# Text made of the pieces that decide where a sentence ends, next to any text at all.
PIECES = st.sampled_from(
    '. ! ? … 。 ... .) ." a B c. Dr. e.g. No. 5 1. 2.50 p.m. https://x.y/z \n \r\n \u2028 - * 🎉 \0'.split(" ")
)
TEXTS = st.one_of(st.text(max_size=300), st.lists(PIECES, max_size=60).map(" ".join), st.lists(PIECES).map("".join))


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("It rains. Take a coat!", ["It rains.", "Take a coat!"]),
        ("ok. i've booked it. see you", ["ok.", "i've booked it.", "see you"]),
        ("Dr. Okafor is in. Mrs. Lind is not.", ["Dr. Okafor is in.", "Mrs. Lind is not."]),
        ("Bring a snack, e.g. an apple. Thanks.", ["Bring a snack, e.g. an apple.", "Thanks."]),
        ("Take tram No. 5 today. No. That is wrong.", ["Take tram No. 5 today.", "No.", "That is wrong."]),
        ("We open on Sept. 3 at ten. Come by.", ["We open on Sept. 3 at ten.", "Come by."]),
        ("It costs 12.50 EUR! OK?", ["It costs 12.50 EUR!", "OK?"]),
        ("See you at 2 p.m. on Monday. Bye.", ["See you at 2 p.m. on Monday.", "Bye."]),
        ("We close at 5 p.m. The door is locked then.", ["We close at 5 p.m.", "The door is locked then."]),
        ("J. R. Hale wrote it. I read it.", ["J. R. Hale wrote it.", "I read it."]),
        ("It works up to 100 °C. Eco mode does not.", ["It works up to 100 °C.", "Eco mode does not."]),
        ("That is Plan B. Then we wait.", ["That is Plan B.", "Then we wait."]),
        (
            "Go to https://shop.example/a.b?c=1. Then pay.",
            ["Go to https://shop.example/a.b?c=1.", "Then pay."],
        ),
        ("Wait... what? Well... Now it works.", ["Wait... what?", "Well...", "Now it works."]),
        (
            'He said "Really?" and left. "Yes." He went.',
            ['He said "Really?" and left.', '"Yes."', "He went."],
        ),
        ("1. Fill the tank.\n2. Close it. Done", ["1. Fill the tank.", "2. Close it.", "Done"]),
        ("Bring:\n- a map\n- water", ["Bring:", "- a map", "- water"]),
        ("first line\r\nsecond line\u2028third", ["first line", "second line", "third"]),
        ("你好。今天开门吗？（开。）好", ["你好。", "今天开门吗？", "（开。）", "好"]),
        ("Done! 🎉 Your table is booked.", ["Done!", "🎉 Your table is booked."]),
        ("**Note.** It leaks. ***", ["**Note.**", "It leaks."]),
        ("What?! No way!!", ["What?!", "No way!!"]),
        ("No full stop", ["No full stop"]),
    ],
)
def test_a_text_is_split_where_a_reader_would_split_it(text: str, sentences: list[str]) -> None:
    assert list(split_sentences(text)) == sentences


@pytest.mark.parametrize("text", ["", "   ", "...", "!?", "\n\n", "🎉🎉", "---\n***", "\0"])
def test_a_text_without_letters_or_digits_has_no_sentences(text: str) -> None:
    assert split_sentences(text) == ()


def test_beyond_the_limit_neighbours_are_merged_evenly() -> None:
    text = " ".join(f"Sentence number {i}." for i in range(1000))
    parts = split_sentences(text, limit=7)
    sizes = [part.count(".") for part in parts]
    assert len(parts) == 7
    assert max(sizes) - min(sizes) <= 1
    assert " ".join(parts) == text


def test_at_most_two_hundred_parts_come_back_by_default() -> None:
    assert len(split_sentences("Go. " * 5000)) == 200


@given(TEXTS)
def test_no_letter_or_digit_is_lost_or_moved(text: str) -> None:
    kept = "".join(char for part in split_sentences(text) for char in part if char.isalnum())
    assert kept == "".join(char for char in text if char.isalnum())


@given(TEXTS, st.integers(min_value=1, max_value=5))
def test_every_part_is_a_trimmed_piece_of_the_text_in_order(text: str, limit: int) -> None:
    at = 0
    parts = split_sentences(text, limit=limit)
    assert len(parts) <= limit
    for part in parts:
        assert part == part.strip()
        assert any(map(str.isalnum, part))
        at = text.index(part, at) + len(part)


@pytest.mark.parametrize(
    "piece", [".", "a. ", "!?", "\n", "1.", "\"'", '..."', "Dr. ", ". ", "a", "1. ", "(.", "日。", "\0", "…"]
)
def test_a_very_long_text_of_one_piece_is_split_too(piece: str) -> None:
    text = (piece * (200_000 // len(piece)))[:200_000]
    assert len(split_sentences(text)) <= 200

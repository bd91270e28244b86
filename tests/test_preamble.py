"""The words every instruction to a judge begins with."""

from jeval.preamble import PREAMBLE


def test_it_says_that_what_is_evaluated_is_data_and_no_instruction() -> None:
    for word in ("user", "assistant", "tool", "untrusted data", "instruction"):
        assert word in PREAMBLE


def test_it_is_one_sentence_on_one_line() -> None:
    assert PREAMBLE.strip() == PREAMBLE
    assert PREAMBLE.endswith(".")
    assert PREAMBLE.count(".") == 1
    assert "\n" not in PREAMBLE

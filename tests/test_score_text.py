"""Scores as people read them in `jeval show`."""

import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeval.app.painter import Painter, size
from jeval.app.score_text import score_lines


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def row(**changes: Any) -> dict[str, Any]:
    return {
        "position": 1,
        "type": "noul",
        "question": "It is so.",
        "weight": 1.0,
        "probabilities": {"true": 0.06, "false": 0.94},
        "value": 0.06,
        "applicable": True,
        "passed": None,
        "confidence": 0.88,
        **changes,
    }


def score(*rows: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {
        "metric_id": "m",
        "metric_version": "1.0.0",
        "status": "scored",
        "score": 0.35242,
        "passed": False,
        "strict": False,
        "threshold": 0.5,
        "confidence": 0.33,
        "reason": "It is so.",
        "breakdown": list(rows),
        "explanation": None,
        **changes,
    }


def lines(*scores: dict[str, Any], width: int = 100, simulated: bool = False) -> list[str]:
    return list(score_lines(Painter(io.StringIO(), {}), scores, width=width, simulated=simulated))


def test_a_score_is_shown_with_its_threshold_its_reason_and_each_question() -> None:
    choice = row(
        position=2, type="choice", question="What of it?", value=0.5, weight=1.0, probabilities={"a": 0.4, "b": 0.6}
    )
    assert lines(score(row(weight=2.0), choice)) == [
        "",
        "✕ 0.3524  m 1.0.0 (threshold 0.5)",
        "  because     It is so.",
        "  confidence  0.33, that of the least decisive question: no accuracy, and not used",
        "   1  0.0600 × 2  noul: It is so.",
        "                  false 0.94 · true 0.06",
        "   2  0.5000      choice: What of it?",
        "                  b 0.6 · a 0.4",
    ]


def test_a_question_that_does_not_apply_has_no_value_and_a_score_of_none_says_that_nothing_applied() -> None:
    dropped = row(value=None, applicable=False, type="choice")
    assert lines(score(row(), dropped))[6] == "   1     n/a  choice, does not apply: It is so."
    assert lines(score(dropped, score=1.0, passed=True))[1] == "✓ 1.0000  m 1.0.0 (threshold 0.5, no question applied)"


def test_a_strict_score_shows_which_question_failed() -> None:
    strict = score(row(passed=False), row(position=2, passed=True), strict=True, threshold=1.0, score=0.0)
    shown = lines(strict)
    assert shown[1] == "✕ 0.0000  m 1.0.0 (strict)"
    assert shown[4] == "   1  ✕ 0.0600  noul: It is so."
    assert shown[6] == "   2  ✓ 0.0600  noul: It is so."


@pytest.mark.parametrize("strict", [False, True])
def test_nothing_of_a_simulated_score_is_shown_as_passed_or_not(strict: bool) -> None:
    rows = [row(passed=True), row(position=2, passed=False)] if strict else [row()]
    shown = lines(score(*rows, score=1.0, passed=True, strict=strict), simulated=True)
    rule = "strict" if strict else "threshold 0.5"
    assert shown[1] == f"~ 1.0000  m 1.0.0 ({rule}, simulated: it says nothing about the answer)"
    assert not set("✓✕") & set("".join(shown))


def test_a_simulated_score_is_not_green_on_a_terminal_and_a_real_one_is() -> None:
    painter = Painter(Terminal(), {"TERM": "xterm"})
    passed = [score(row(passed=True), passed=True, strict=True)]
    green = "\x1b[32m"
    assert green in "".join(score_lines(painter, passed, width=100))
    assert green not in "".join(score_lines(painter, passed, width=100, simulated=True))


@pytest.mark.parametrize(("status", "sign"), [("skipped", "– SKIPPED"), ("error", "! ERROR")])
def test_a_case_that_was_not_scored_says_why(status: str, sign: str) -> None:
    without = score(status=status, score=None, passed=None, confidence=None, reason="the case lacks tools_called")
    assert lines(without) == ["", f"{sign}  m 1.0.0", "  because     the case lacks tools_called"]


def test_levels_stand_in_their_order_and_of_many_options_the_likeliest_first() -> None:
    levels = row(type="score", probabilities={"Worst": 0.2, "Middle": 0.7, "Best": 0.1})
    assert lines(score(levels))[5].strip() == "Worst 0.2 · Middle 0.7 · Best 0.1"
    options = {f"o{i}": 0.05 for i in range(18)} | {"o9": 0.15}
    shown = " ".join(line.strip() for line in lines(score(row(type="choice", probabilities=options)))[5:])
    assert shown.startswith("o9 0.15 · ") and shown.endswith("6 more")


def test_what_was_written_afterwards_is_whole_folded_and_marked_as_a_models() -> None:
    explained = score(explanation={"text": "word " * 60 + "\nend", "model": "writer-1", "explained_at": "2026"})
    shown = lines(explained, width=60)
    at = next(i for i, line in enumerate(shown) if "writer-1" in line)
    told = " ".join(line.strip() for line in shown[at:])
    assert told.startswith("written afterwards by writer-1, a language model; it may be wrong, and is no part of")
    assert told.count("word") == 60 and shown[-1] == "    end"


hostile = st.text(max_size=80) | st.just("\x1b[2J\u202e\n\r\t" * 5)


@given(text=hostile, width=st.integers(60, 200))
def test_whatever_stands_in_a_score_is_printed_as_text_within_the_width(text: str, width: int) -> None:
    rows = [row(question=text, probabilities={text or "x": 1.0}), row(position=2, type="choice", question=text)]
    prose = {"text": text, "model": text, "explained_at": ""}
    for line in lines(score(*rows, reason=text, explanation=prose), width=width):
        assert line.isprintable() and not set("\u202e\u2066") & set(line)
        assert size(line) <= width

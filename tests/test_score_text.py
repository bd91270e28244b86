"""Scores as people read them in `jeval show`."""

import json

from jeval.app.score_text import score_lines


def score(**changes):
    return {
        "metric_id": "m",
        "metric_version": "1.0.0",
        "score": 0.35242,
        "passed": 0,
        "strict": 0,
        "threshold": 0.5,
        "confidence": 0.33,
        "reason": "It is so.",
        **changes,
    }


def row(**changes):
    return {
        "metric_id": "m",
        "position": 1,
        "type": "noul",
        "question": "It is so.",
        "weight": 1.0,
        "value": 0.06,
        "probabilities": json.dumps({"true": 0.06, "false": 0.94}),
        "applicable": 1,
        "passed": None,
        **changes,
    }


def test_a_score_is_shown_with_its_verdict_its_threshold_and_its_questions():
    assert score_lines([score()], [row(weight=2.0)]) == [
        "m 1.0.0: 0.3524, not passed (threshold 0.5, least confidence 0.33)",
        "   1 0.0600  noul ×2: It is so.",
        "            false 0.94 · true 0.06",
    ]


def test_a_question_that_does_not_apply_has_no_value():
    lines = score_lines([score()], [row(value=None, applicable=0)])
    assert lines[1] == "   1    n/a  noul: It is so."


def test_a_strict_score_shows_which_question_failed():
    strict = score(strict=1, threshold=1.0, score=0.0, confidence=None)
    lines = score_lines([strict], [row(passed=0), row(position=2, passed=1)])
    assert lines[0] == "m 1.0.0: 0.0000, not passed (strict)"
    assert lines[1].startswith("   1 0.0600 ✕  noul") and lines[3].startswith("   2 0.0600 ✓  noul")


def test_a_case_that_was_not_scored_says_why():
    lines = score_lines([score(score=None, passed=None, reason="the case does not hold tools_called")], [])
    assert lines == ["m 1.0.0: no score", "  the case does not hold tools_called"]


def test_rows_of_another_metric_are_left_to_it():
    lines = score_lines([score(), score(metric_id="n")], [row(metric_id="n")])
    assert len(lines) == 4 and lines[1].startswith("n 1.0.0")


def test_of_many_options_the_likeliest_are_shown_and_the_rest_counted():
    options = {f"o{i}": p for i, p in enumerate((0.05, 0.4, 0.05, 0.3, 0.1, 0.1))}
    assert score_lines([score()], [row(type="choice", probabilities=json.dumps(options))])[2].strip() == (
        "o1 0.40 · o3 0.30 · o4 0.10 · o5 0.10 · 2 more"
    )


def test_nothing_that_a_terminal_would_obey_gets_through():
    hostile = "\x1b[2Jgone\u202e"
    lines = score_lines(
        [score(score=None, reason=hostile), score()],
        [row(question=hostile, probabilities=json.dumps({hostile: 1.0}))],
        {"m": hostile},
    )
    assert not any("\x1b" in line or "\u202e" in line for line in lines)


def test_an_explanation_is_marked_as_one_and_folded():
    lines = score_lines([score()], [], {"m": "word " * 60}, width=60)
    assert lines[1] == "  explained afterwards by a model, without any effect on the score:"
    assert all(len(line) <= 64 for line in lines[2:]) and len(lines) > 4

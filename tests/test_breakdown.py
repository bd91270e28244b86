"""One answer: its value, whether its question applies, and whether it passes strictly."""

import math
from typing import Any

import pytest

from jeval.breakdown import QuestionScore, question_score, words_of
from jeval.errors import MalformedAnswer
from jeval.metric import Choice, Metric, MetricQuestion, Noul, Score
from jeval.metric_state import metric_questions
from jeval.question import Answer

NOUL = Noul("It is so.")
SCORE = Score("How?", levels=["Bad", "Fair", "Good"])
CHOICE = Choice("Which?", options={"good": 1.0, "also_good": 1.0, "half": 0.5, "bad": 0.0, "none": None})


def row(asked: MetricQuestion, answer: Answer, *, strict: bool = False) -> QuestionScore:
    [question] = metric_questions(Metric(id="m", version="1", fields=["input"], questions=[asked]))
    return question_score(1, asked, question, answer, strict=strict)


def level(*probabilities: float, score: float | None = None) -> Answer:
    expected = sum(i * p for i, p in enumerate(probabilities)) if score is None else score
    return Answer({str(i): p for i, p in enumerate(probabilities)}, 0.4, expected)


def option(**probabilities: float) -> Answer:
    return Answer({name: probabilities.get(name, 0.0) for name in CHOICE.options}, 0.6)


def test_a_nouls_value_is_the_probability_of_true() -> None:
    found = row(NOUL, Answer({"true": 0.83}))
    assert (found.value, found.applicable) == (0.83, True)
    assert found.probabilities == {"true": 0.83, "false": 0.17}


def test_a_nouls_confidence_is_its_distance_from_even() -> None:
    assert row(NOUL, Answer({"true": 0.83})).confidence == 0.66
    assert row(NOUL, Answer({"true": 0.17})).confidence == 0.66
    assert row(NOUL, Answer({"true": 0.5})).confidence == 0


def test_a_scores_value_is_the_judges_expected_level_over_the_highest() -> None:
    found = row(SCORE, level(0.1, 0.3, 0.6, score=1.52))
    assert found.value == 0.76  # not (0.3 + 2 · 0.6) / 2 = 0.75
    assert found.probabilities == {"Bad": 0.1, "Fair": 0.3, "Good": 0.6}
    assert found.confidence == 0.4


@pytest.mark.parametrize(("score", "value"), [(-0.01, 0.0), (2.01, 1.0)])
def test_a_scores_value_stays_in_its_range(score: float, value: float) -> None:
    assert row(SCORE, level(0.1, 0.3, 0.6, score=score)).value == value


def test_a_choices_value_is_the_mean_credit_over_the_credited_options() -> None:
    found = row(CHOICE, option(good=0.3, half=0.2, bad=0.3, none=0.2))
    assert found.value == pytest.approx((0.3 + 0.5 * 0.2) / 0.8)
    assert found.confidence == 0.6


@pytest.mark.parametrize(("elsewhere", "applies"), [(0.49, True), (0.5, False), (0.51, False), (1.0, False)])
def test_a_choice_drops_out_where_half_or_more_is_on_options_without_credit(elsewhere: float, applies: bool) -> None:
    found = row(CHOICE, option(good=1 - elsewhere, none=elsewhere))
    assert found.applicable is applies
    assert found.value == (1.0 if applies else None)


def test_options_without_credit_count_together() -> None:
    asked = Choice("Which?", options={"good": 1.0, "bad": 0.0, **{f"none {i}": None for i in range(5)}})
    spread = {"good": 0.4, "bad": 0.1, **{f"none {i}": 0.1 for i in range(5)}}
    assert not row(asked, Answer(spread, 0.2)).applicable


def test_a_half_is_a_half_though_its_parts_add_up_to_a_hair_less() -> None:
    parts = (0.15, 0.29, 0.06)  # 0.49999999999999994 when added left to right
    asked = Choice("Which?", options={"good": 1.0, **{f"none {i}": None for i in range(3)}})
    assert sum(parts) < 0.5
    spread = {"good": 0.5, **{f"none {i}": p for i, p in enumerate(parts)}}
    assert not row(asked, Answer(spread, 0.2)).applicable


def test_a_choice_drops_out_where_its_credited_options_hold_nothing() -> None:
    # Rounding to two decimals may take most of a flat distribution away.
    asked = Choice("Which?", options={"good": 1.0, **{f"none {i}": None for i in range(119)}})
    flat = {"good": 0.0, **{f"none {i}": 0.01 if i < 45 else 0.0 for i in range(119)}}
    found = row(asked, Answer(flat, 0.0))
    assert (found.value, found.applicable) == (None, False)
    assert words_of(asked, found) == ("Question 1 does not apply: no option with a credit has any probability")


def test_whether_a_question_passed_is_told_in_strict_mode_only() -> None:
    assert row(NOUL, Answer({"true": 0.9})).passed is None
    assert row(NOUL, Answer({"true": 0.9}), strict=True).passed is True


@pytest.mark.parametrize(("p", "passed"), [(0.49, False), (0.5, True), (0.51, True)])
def test_a_noul_passes_from_one_half(p: float, passed: bool) -> None:
    assert row(NOUL, Answer({"true": p}), strict=True).passed is passed


@pytest.mark.parametrize(
    ("answer", "passed"),
    [(level(0.2, 0.3, 0.5), True), (level(0.2, 0.5, 0.3), False), (level(0.2, 0.4, 0.4), False)],
)
def test_a_score_passes_where_its_best_level_alone_is_most_probable(answer: Answer, passed: bool) -> None:
    assert row(SCORE, answer, strict=True).passed is passed


@pytest.mark.parametrize(
    ("answer", "passed"),
    [
        (option(good=0.4, half=0.3, bad=0.3), True),
        (option(half=0.4, good=0.3, bad=0.3), False),
        (option(good=0.35, bad=0.2, none=0.45), True),  # the most probable of those with a credit
        (option(good=0.4, bad=0.4, half=0.2), False),
        (option(good=0.4, also_good=0.4, half=0.2), False),  # a tie for first place is not a pass
        (option(half=0.3, bad=0.3, good=0.4), True),
    ],
)
def test_a_choice_passes_where_one_option_of_full_credit_is_most_probable(answer: Answer, passed: bool) -> None:
    assert row(CHOICE, answer, strict=True).passed is passed


@pytest.mark.parametrize("options", [{"a": 1.0, "b": 0.0}, {"b": 0.0, "a": 1.0}])
def test_no_order_of_options_turns_a_tie_into_a_pass(options: dict[str, float | None]) -> None:
    found = row(Choice("Which?", options=options), Answer(dict.fromkeys(options, 0.5), 0.0), strict=True)
    assert found.passed is False


def test_a_question_that_does_not_apply_neither_passes_nor_fails() -> None:
    assert row(CHOICE, option(good=0.1, none=0.9), strict=True).passed is None


@pytest.mark.parametrize(
    ("asked", "answer", "said"),
    [
        (NOUL, Answer({"true": 1.7}), "outside 0 to 1"),
        (NOUL, Answer({"true": -0.1}), "outside 0 to 1"),
        (NOUL, Answer({"true": math.nan}), "outside 0 to 1"),
        (NOUL, Answer({}), "not a number"),
        (CHOICE, Answer({"half": 0.5, "bad": 0.5, "also_good": 0.0, "none": 0.0}, 0.0), "'good' is missing"),
        (CHOICE, option(good=0.3, bad=0.3), "sum to 0.6"),
        (CHOICE, option(good=math.nan, bad=0.5), "outside 0 to 1"),
        (SCORE, Answer({"0": 0.5, "1": 0.5}, 0.0, 0.5), "'2' is missing"),
        (SCORE, Answer({"0": 0.5, "1": 0.5, "2": 0.0}, 0.0, math.nan), "not a number"),
        (SCORE, Answer({"0": 0.5, "1": 0.5, "2": 0.0}, 0.0, None), "not a number"),
    ],
)
def test_an_answer_that_does_not_fit_is_malformed(asked: Any, answer: Answer, said: str) -> None:
    with pytest.raises(MalformedAnswer, match=said):
        row(asked, answer)


def test_rounding_to_two_decimals_is_not_malformed() -> None:
    assert row(SCORE, level(0.33, 0.33, 0.33)).value == pytest.approx(0.495)


def test_a_row_reads_in_words() -> None:
    def said(asked: MetricQuestion, answer: Answer, strict: bool = False) -> str:
        return words_of(asked, row(asked, answer, strict=strict))

    assert said(NOUL, Answer({"true": 0.08})) == "Question 1: unlikely, P(true) 0.08"
    assert said(NOUL, Answer({"true": 0.5})) == "Question 1: an even chance, P(true) 0.5"
    assert said(NOUL, Answer({"true": 0.92}), True) == "Question 1 passed: likely, P(true) 0.92"
    assert said(SCORE, level(0.1, 0.3, 0.6)) == "Question 1: “Good” 0.6, expected level 1.5 of 2"
    assert said(SCORE, level(0.2, 0.4, 0.4), True) == (
        "Question 1 did not pass: a tie of “Fair” and “Good” at 0.4, expected level 1.2 of 2"
    )
    assert said(CHOICE, option(good=0.25, bad=0.55, none=0.2)) == "Question 1: “bad” 0.55, credit 0.3125"
    assert said(CHOICE, option(good=0.1, none=0.9)) == ("Question 1 does not apply: 0.9 is on options without a credit")


def test_a_row_as_a_dict_has_the_stores_columns() -> None:
    assert row(NOUL, Answer({"true": 0.75}), strict=True).as_dict() == {
        "position": 1,
        "type": "noul",
        "question": "It is so.",
        "weight": 1.0,
        "probabilities": {"true": 0.75, "false": 0.25},
        "value": 0.75,
        "applicable": True,
        "passed": True,
        "confidence": 0.5,
    }


def test_what_passes_at_a_glance_passes_the_full_check_too():
    asked = Choice("What happened?", options={"a": 1.0, "b": 0.0})
    [question] = metric_questions(Metric(id="m", version="1", fields=["input"], questions=[asked]))
    for spoiled in (
        {"a": float("nan"), "b": 1.0}, {"a": 1.0}, {"a": 0.5, "b": 0.5, "c": 0.0}, {"a": 1.2, "b": -0.2},
        {"a": True, "b": 0.0}, {"a": 0.5, "b": 0.4}, {"a": "1", "b": 0.0}, {},
    ):  # fmt: skip
        with pytest.raises(MalformedAnswer):
            question_score(1, asked, question, Answer(spoiled), strict=False)
    with pytest.raises(MalformedAnswer):
        question_score(1, asked, question, Answer({"a": 1.0, "b": 0.0}, float("nan")), strict=False)
    assert question_score(1, asked, question, Answer({"b": 0, "a": 1}), strict=False).value == 1.0

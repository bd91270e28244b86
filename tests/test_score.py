"""The equation: from the answers to a metric's questions to its score."""

import doctest
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from jeval.case import Case
from jeval.metric import Choice, Metric, MetricQuestion, Noul, Score
from jeval.metric_state import metric_questions, metric_state
from jeval.question import Answer
from jeval.score import MetricResult, Planned, metric_error, metric_skipped, score_case, score_metric

DOCS = Path(__file__).resolve().parent.parent / "docs" / "metrics.md"

TOOL_FAITHFULNESS: dict[str, Any] = {
    "id": "tool-faithfulness",
    "version": "1.0.0",
    "fields": ["input", "actual_output", "tools_called"],
    "questions": [
        Noul("Every figure in actual_output is in the output of a tool.", weight=2),
        Noul("actual_output reports what the tools returned without changing it."),
        Score(
            "How much of actual_output is grounded in tools_called?",
            levels=["Fabricated", "Mostly fabricated", "Mostly grounded", "Fully grounded"],
        ),
        Choice(
            "What did actual_output do about what the tools did not return?",
            options={"left_out": 1.0, "flagged": 1.0, "hedged": 0.5, "stated": 0.0, "nothing_missing": None},
        ),
    ],
}


def level(*probabilities: float, confidence: float | None = 0.5, score: float | None = None) -> Answer:
    expected = math.fsum(i * p for i, p in enumerate(probabilities)) if score is None else score
    return Answer({str(i): p for i, p in enumerate(probabilities)}, confidence, expected)


def option(*probabilities: float, confidence: float | None = 0.5) -> Answer:
    names = ["left_out", "flagged", "hedged", "stated", "nothing_missing"]
    return Answer(dict(zip(names, probabilities, strict=True)), confidence)


EMBELLISHED = [
    Answer({"true": 0.06}),
    Answer({"true": 0.95}),
    level(0.05, 0.35, 0.5, 0.1, confidence=0.33, score=1.65),
    option(0.04, 0.03, 0.13, 0.75, 0.05, confidence=0.69),
]
PLAIN = [
    Answer({"true": 0.97}),
    Answer({"true": 0.98}),
    level(0.0, 0.01, 0.07, 0.92, confidence=0.89, score=2.91),
    option(0.12, 0.02, 0.01, 0.01, 0.84, confidence=0.8),
]


def weather(**fields: Any) -> Metric:
    return Metric(**{**TOOL_FAITHFULNESS, **fields})


def metric(*questions: MetricQuestion, **fields: Any) -> Metric:
    return Metric(**{"id": "m", "version": "1", "fields": ["input"], "questions": questions, **fields})


def test_the_weather_answer_that_invents_two_figures() -> None:
    result = score_metric(weather(), EMBELLISHED)
    credit = (1.0 * 0.04 + 1.0 * 0.03 + 0.5 * 0.13) / (0.04 + 0.03 + 0.13 + 0.75)
    assert [row.value for row in result.breakdown] == [0.06, 0.95, 0.55, pytest.approx(credit)]
    assert result.score == pytest.approx((2 * 0.06 + 0.95 + 0.55 + credit) / 5, abs=1e-12)
    assert result.score == 0.352421052632
    assert (result.status, result.passed, result.threshold, result.strict) == ("scored", False, 0.5, False)
    assert result.confidence == 0.33
    assert [row.confidence for row in result.breakdown] == [0.88, 0.9, 0.33, 0.69]
    assert result.reason == (
        "0.3524 stays below the threshold 0.5. "
        "It is (2 × 0.06 + 0.95 + 0.55 + 0.1421) / 5, over 4 of 4 questions. "
        "Question 1: unlikely, P(true) 0.06. Question 2: likely, P(true) 0.95. "
        "Question 3: “Mostly grounded” 0.5, expected level 1.65 of 3. "
        "Question 4: “stated” 0.75, credit 0.1421."
    )


def test_the_weather_answer_that_keeps_to_the_tools() -> None:
    result = score_metric(weather(), PLAIN)
    assert [row.value for row in result.breakdown] == [0.97, 0.98, 0.97, None]
    assert [row.applicable for row in result.breakdown] == [True, True, True, False]
    assert result.score == 0.9725
    assert result.passed is True
    assert result.confidence == 0.8
    assert result.reason == (
        "0.9725 reaches the threshold 0.5. It is (2 × 0.97 + 0.98 + 0.97) / 4, over 3 of 4 questions. "
        "Question 1: likely, P(true) 0.97. Question 2: likely, P(true) 0.98. "
        "Question 3: “Fully grounded” 0.92, expected level 2.91 of 3. "
        "Question 4 does not apply: 0.84 is on options without a credit."
    )


def test_strict_is_all_or_nothing() -> None:
    failed, passed = (score_metric(weather(strict=True), answers) for answers in (EMBELLISHED, PLAIN))
    assert (failed.score, failed.passed, failed.threshold, failed.strict) == (0.0, False, 1.0, True)
    assert [row.passed for row in failed.breakdown] == [False, True, False, False]
    assert failed.reason.startswith("0: strict, and questions 1, 3, 4 did not pass. Question 1 did not pass: ")
    assert (passed.score, passed.passed) == (1.0, True)
    assert [row.passed for row in passed.breakdown] == [True, True, True, None]
    assert passed.reason.startswith("1: strict, and every applicable question passed. Question 1 passed: ")


def test_strict_leaves_the_values_as_they_are() -> None:
    values = [[row.value for row in score_metric(weather(strict=s), PLAIN).breakdown] for s in (True, False)]
    assert values[0] == values[1]


def test_docs_metrics_holds_what_the_code_does() -> None:
    failures, tried = doctest.testfile(str(DOCS), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert (failures, tried > 5) == (0, True)


@pytest.mark.parametrize("strict", [False, True])
def test_where_nothing_applies_the_score_is_1_and_the_reason_says_so(strict: bool) -> None:
    asked = metric(Choice("Which?", options={"good": 1.0, "bad": 0.0, "none": None}), strict=strict)
    result = score_metric(asked, [Answer({"good": 0.2, "bad": 0.1, "none": 0.7}, 0.55)])
    assert (result.score, result.passed, result.applied) == (1.0, True, False)
    assert result.confidence == 0.55
    assert result.reason == (
        "1: no question applied to this case, so there was nothing to fail. "
        "Question 1 does not apply: 0.7 is on options without a credit."
    )


def test_a_dropped_question_still_counts_for_confidence() -> None:
    asked = metric(Noul("It is so."), Choice("Which?", options={"good": 1.0, "none": None}))
    result = score_metric(asked, [Answer({"true": 0.95}), Answer({"good": 0.45, "none": 0.55}, 0.1)])
    assert result.applied is True
    assert (result.score, result.confidence) == (0.95, 0.1)


def test_an_unknown_confidence_makes_the_least_one_unknown() -> None:
    asked = metric(Noul("It is so."), Score("How?", levels=["Bad", "Good"]))
    assert score_metric(asked, [Answer({"true": 1.0}), level(0.5, 0.5, confidence=None)]).confidence is None


def test_a_score_passes_from_the_threshold() -> None:
    def passed(p: float, threshold: float) -> bool | None:
        return score_metric(metric(Noul("It is so."), threshold=threshold), [Answer({"true": p})]).passed

    assert [passed(0.79, 0.8), passed(0.8, 0.8), passed(0.0, 0.0), passed(1.0, 1.0)] == [
        False,
        True,
        True,
        True,
    ]


def test_a_mean_that_is_the_threshold_in_decimals_reaches_it() -> None:
    values = (0.33, 0.6, 0.16, 0.51)
    assert sum(values) / 4 < 0.4  # 0.39999999999999997
    asked = metric(*(Noul(f"It is so {i}.") for i in range(4)), threshold=0.4)
    result = score_metric(asked, [Answer({"true": p}) for p in values])
    assert (result.score, result.passed) == (0.4, True)


def test_a_score_that_rounds_to_its_threshold_is_shown_with_all_its_digits() -> None:
    result = score_metric(metric(Noul("It is so.")), [Answer({"true": 0.49999})])
    assert result.passed is False
    assert result.reason.startswith("0.49999 stays below the threshold 0.5. ")


@pytest.mark.parametrize("weights", [(1e308, 1e308), (5e-324, 5e-324), (5e-324, 1e308), (1e-200, 2e-200)])
def test_no_weights_leave_the_range_of_numbers(weights: tuple[float, float]) -> None:
    asked = metric(*(Noul(f"It is so {w}.", weight=w) for w in weights))
    result = score_metric(asked, [Answer({"true": 0.25}), Answer({"true": 0.75})])
    assert result.score is not None and 0.25 <= result.score <= 0.75


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ([*EMBELLISHED[:3], None], "question 4 has no answer"),
        (EMBELLISHED[:3], "4 questions were asked and 3 answered"),
        ([*EMBELLISHED, Answer({"true": 1.0})], "4 questions were asked and 5 answered"),
        ([Answer({"true": 1.7}), *EMBELLISHED[1:]], "the answer to question 1 is malformed: noul is 1.7"),
        (
            [Answer({"true": math.nan}), *EMBELLISHED[1:]],
            "the answer to question 1 is malformed: noul is nan",
        ),
        (
            [
                *EMBELLISHED[:3],
                Answer({"left_out": 0.5, "hedged": 0.5, "stated": 0.0, "nothing_missing": 0.0}),
            ],
            "the answer to question 4 is malformed: the probability of 'flagged' is missing",
        ),
        (
            [*EMBELLISHED[:2], level(0.0, 0.0, 0.0, 1.0, score=math.nan), EMBELLISHED[3]],
            "the answer to question 3 is malformed: the score is nan",
        ),
    ],
)
def test_a_missing_or_malformed_answer_is_an_error_and_never_a_score(answers: list[Answer | None], said: str) -> None:
    for strict in (False, True):
        result = score_metric(weather(strict=strict), answers)
        assert result.status == "error"
        assert result.reason.startswith(said)
        assert (result.score, result.passed, result.confidence, result.breakdown) == (None, None, None, ())


def test_what_the_judge_was_not_shown_is_in_the_reason() -> None:
    result = score_metric(metric(Noul("It is so.")), [Answer({"true": 1.0})], left_out=["turns: 2 left out"])
    assert result.reason.endswith("The judge did not see everything: turns: 2 left out.")


def test_a_skipped_metric_and_a_failed_one_have_a_reason_and_no_score() -> None:
    asked = weather(strict=True)
    for result, status in (
        (metric_skipped(asked, "because"), "skipped"),
        (metric_error(asked, "because"), "error"),
    ):
        assert (result.metric_id, result.metric_version) == ("tool-faithfulness", "1.0.0")
        assert (result.status, result.reason) == (status, "because")
        assert (result.score, result.passed, result.confidence, result.applied) == (None, None, None, None)
        assert (result.strict, result.threshold, result.breakdown) == (True, 1.0, ())


def planned(asked: Metric, case: Case, room: int = 96_000) -> Planned:
    seen = metric_state(asked, case, room)
    shas = tuple(question.sha256 for question in metric_questions(asked))
    if seen.state is None:
        return (asked, None, shas, seen.reason, ())
    return (asked, seen.state.sha256, shas, "", seen.state.cut)


def found(*plans: Planned, p: float) -> dict[str, dict[str, Answer]]:
    """The same answer to every question of these nouls, by state and question."""
    return {state: {sha: Answer({"true": p}) for sha in shas} for _, state, shas, *_ in plans if state}


def test_the_metrics_of_a_case_each_find_the_answers_about_their_own_state() -> None:
    case = Case(id="c", input="Hello", output="Hi")
    fields = (["input"], ["input", "actual_output"], ["context"])
    narrow, wide, lacking = (planned(metric(Noul("It is so."), fields=one), case) for one in fields)
    assert narrow[2] == wide[2]  # the same question about two states
    results = score_case([narrow, wide, lacking], found(narrow, p=0.2) | found(wide, p=0.9))
    shown = [(one.status, one.score) for one in results]
    assert shown == [("scored", 0.2), ("scored", 0.9), ("skipped", None)]
    assert results[2].reason == "the case does not hold context, which the metric asks for"


def test_a_failed_request_is_told_where_answers_are_missing_and_only_there() -> None:
    case = Case(id="c", input="Hello", output="Hi")
    plans = [planned(metric(Noul("It is so."), fields=[field]), case) for field in ("input", "actual_output")]
    answers = found(plans[0], p=0.2)
    answered, failed = score_case(plans, answers, ("timeout", "no reply within 10 s"))
    assert (answered.status, failed.status) == ("scored", "error")
    assert failed.reason == "timeout: no reply within 10 s"
    assert score_case(plans, answers)[1].reason == "question 1 has no answer"


def test_what_was_cut_from_a_state_is_in_the_reason() -> None:
    plan = planned(metric(Noul("It is so.")), Case(id="c", input="word " * 5_000, output="Hi"), 2_000)
    [result] = score_case([plan], found(plan, p=1.0))
    assert "did not see everything: test_case.input: " in result.reason


def test_a_result_as_a_dict_has_the_stores_columns() -> None:
    body = score_metric(weather(), PLAIN).as_dict()
    assert {
        "metric_id",
        "metric_version",
        "score",
        "passed",
        "strict",
        "threshold",
        "confidence",
        "reason",
    } < set(body)
    assert [one["value"] for one in body["breakdown"]] == [0.97, 0.98, 0.97, None]


# Laws


def shares(count: int) -> st.SearchStrategy[list[float]]:
    """A distribution rounded to two decimals, as the judge sends it."""
    return st.lists(st.integers(0, 100), min_size=count, max_size=count).filter(any).map(_rounded)


def _rounded(parts: list[int]) -> list[float]:
    return [round(part / sum(parts), 2) for part in parts]


weights = st.floats(0.01, 100)
credits = st.none() | st.floats(0, 1)


@st.composite
def answered(draw: st.DrawFn, types: str = "nsc") -> tuple[MetricQuestion, Answer]:
    text, weight, kind = draw(st.text("abc", min_size=1)), draw(weights), draw(st.sampled_from(types))
    if kind == "n":
        return Noul(text, weight=weight), Answer({"true": draw(st.floats(0, 1))})
    count = draw(st.integers(2, 6))
    spread = draw(shares(count))
    if kind == "s":
        levels = [f"level {i}" for i in range(count)]
        return Score(text, levels=levels, weight=weight), level(*spread)
    given_ = draw(st.lists(credits, min_size=count, max_size=count).filter(lambda c: any(x is not None for x in c)))
    names = [f"option {i}" for i in range(count)]
    options = dict(zip(names, given_, strict=True))
    return Choice(text, options=options, weight=weight), Answer(dict(zip(names, spread, strict=True)), 0.3)


sets = st.lists(answered(), min_size=1, max_size=5)
Asked = list[tuple[MetricQuestion, Answer]]


def scored(asked: Asked, strict: bool = False) -> MetricResult:
    result = score_metric(metric(*(q for q, _ in asked), strict=strict), [a for _, a in asked])
    assert result.status == "scored", result.reason
    return result


def value(asked: Asked, strict: bool = False) -> float:
    score = scored(asked, strict).score
    assert score is not None
    return score


@given(asked=sets, strict=st.booleans())
def test_every_score_lies_between_its_least_and_its_greatest_value(asked: Asked, strict: bool) -> None:
    result = scored(asked, strict)
    values = [row.value for row in result.breakdown if row.value is not None]
    assert result.score is not None and 0 <= result.score <= 1
    if strict or not values:
        assert result.score in (0, 1)
    else:
        assert min(values) - 1e-12 <= result.score <= max(values) + 1e-12


@given(asked=sets, factor=st.sampled_from([1e-12, 0.1, 3.0, 7.77, 1e100]))
def test_scaling_all_weights_changes_nothing(asked: Asked, factor: float) -> None:
    scaled = [(q.model_copy(update={"weight": q.weight * factor}), a) for q, a in asked]
    assert value(scaled) == pytest.approx(value(asked), abs=1e-11)


@given(asked=st.lists(answered("c"), min_size=1, max_size=4), strict=st.booleans())
def test_renaming_options_changes_nothing(asked: Asked, strict: bool) -> None:
    renamed: Asked = []
    for question, answer in asked:
        assert isinstance(question, Choice)
        # Names that sort the other way round.
        names = {old: f"z{len(question.options) - i}" for i, old in enumerate(question.options)}
        options = {names[old]: credit for old, credit in question.options.items()}
        shown = {names[old]: p for old, p in answer.probabilities.items()}
        renamed.append(
            (Choice(question.text, options=options, weight=question.weight), Answer(shown, answer.confidence))
        )
    assert value(renamed, strict) == value(asked, strict)


@given(asked=sets, strict=st.booleans(), data=st.data())
def test_the_order_of_options_and_of_questions_changes_nothing(asked: Asked, strict: bool, data: st.DataObject) -> None:
    shuffled: Asked = []
    for question, answer in data.draw(st.permutations(asked)):
        if isinstance(question, Choice):
            order = data.draw(st.permutations(list(question.options)))
            question = Choice(question.text, options={n: question.options[n] for n in order}, weight=question.weight)
            answer = Answer({n: answer.probabilities[n] for n in order}, answer.confidence)
        shuffled.append((question, answer))
    assert value(shuffled, strict) == pytest.approx(value(asked, strict), abs=1e-11)


@given(asked=sets, strict=st.booleans(), p=st.floats(0, 1), q=st.floats(0, 1), weight=weights)
def test_a_more_probable_proposition_never_lowers_the_score(
    asked: Asked, strict: bool, p: float, q: float, weight: float
) -> None:
    noul = Noul("It is so.", weight=weight)
    low, high = ([*asked, (noul, Answer({"true": x}))] for x in sorted((p, q)))
    assert value(low, strict) <= value(high, strict) + 1e-11


def _moved(spread: list[float], source: int, target: int) -> list[float]:
    moved = list(spread)
    moved[target] += moved[source]
    moved[source] = 0.0
    return moved


@given(asked=sets, spread=shares(4), places=st.permutations(range(4)), weight=weights)
def test_probability_moved_to_a_better_level_never_lowers_the_score(
    asked: Asked, spread: list[float], places: list[int], weight: float
) -> None:
    worse, better = sorted(places[:2])
    score = Score("How?", levels=["a", "b", "c", "d"], weight=weight)
    before = [*asked, (score, level(*spread))]
    after = [*asked, (score, level(*_moved(spread, worse, better)))]
    assert value(before) <= value(after) + 1e-11


@given(
    asked=sets,
    spread=shares(4),
    given_=st.lists(st.floats(0, 1), min_size=3, max_size=3),
    places=st.permutations(range(3)),
    weight=weights,
)
def test_probability_moved_to_an_option_of_higher_credit_never_lowers_the_score(
    asked: Asked, spread: list[float], given_: list[float], places: list[int], weight: float
) -> None:
    worse, better = sorted(places[:2], key=given_.__getitem__)
    names = ["a", "b", "c", "none"]
    choice = Choice("Which?", options=dict(zip(names, [*given_, None], strict=True)), weight=weight)

    def answer(parts: list[float]) -> Answer:
        return Answer(dict(zip(names, parts, strict=True)), 0.3)

    before = [*asked, (choice, answer(spread))]
    after = [*asked, (choice, answer(_moved(spread, worse, better)))]
    assert value(before) <= value(after) + 1e-11


@given(asked=sets)
def test_a_dropped_question_does_not_touch_the_score(asked: Asked) -> None:
    assume(scored(asked).applied)
    dropped = Choice("Which?", options={"good": 1.0, "none": None}, weight=50)
    assert value([*asked, (dropped, Answer({"good": 0.4, "none": 0.6}, 0.2))]) == value(asked)


@given(asked=sets, strict=st.booleans())
def test_the_same_answers_always_give_the_same_words(asked: Asked, strict: bool) -> None:
    make: Callable[[], MetricResult] = lambda: scored(asked, strict)  # noqa: E731
    assert make() == make()
    assert make().reason.endswith(".")
    assert "nan" not in make().reason and "None" not in make().reason

"""Questions as they go over the wire, and answers that are refused where they do not fit."""

import json
import math
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeval.errors import MalformedAnswer
from jeval.fingerprint import compact
from jeval.question import Answer, Judge, Question, check_answer, choice, noul, score
from tests.judges import ScriptedJudge

BOOKED = choice("Was it booked?", {"yes": "It says so.", "no": None, "unclear": "It cannot be told."})
CALM = score("How calm is it?", ("Alarmed", "Tense", "Calm"))
TRUE = noul("It is polite.")

FITTING: dict[str, Any] = {"type": "choice", "probabilities": {"yes": 0.7, "no": 0.2, "unclear": 0.1}}
LEVELS: dict[str, Any] = {"type": "score", "score": 1.4, "probabilities": {"0": 0.1, "1": 0.4, "2": 0.5}}


def refusal(question: Question, raw: Any) -> str:
    """Why an answer is refused."""
    with pytest.raises(MalformedAnswer) as caught:
        check_answer(question, raw)
    return str(caught.value)


# On the wire


def test_a_choice_goes_over_the_wire_with_its_options_described_or_null() -> None:
    assert json.loads(BOOKED.wire) == {
        "type": "choice",
        "instructions": "Was it booked?",
        "criteria": {"yes": "It says so.", "no": None, "unclear": "It cannot be told."},
    }


def test_a_score_goes_over_the_wire_with_its_levels_as_a_list_worst_first() -> None:
    assert json.loads(CALM.wire) == {
        "type": "score",
        "instructions": "How calm is it?",
        "criteria": ["Alarmed", "Tense", "Calm"],
    }
    assert CALM.names == ("0", "1", "2")


def test_a_noul_goes_over_the_wire_with_its_outcomes_only_where_they_are_described() -> None:
    assert json.loads(TRUE.wire) == {"type": "noul", "instructions": "It is polite."}
    described = Question("noul", "It is polite.", (("true", "It is."), ("false", None)))
    assert json.loads(described.wire)["criteria"] == {"true": "It is.", "false": None}


@given(st.permutations(["zeta", "alpha", "mu", "beta"]))
def test_options_keep_the_authors_order_on_the_wire(names: list[str]) -> None:
    question = choice("Which?", dict.fromkeys(names))
    assert list(json.loads(question.wire)["criteria"]) == names
    assert question.names == tuple(names)


def test_the_order_of_options_is_part_of_the_question() -> None:
    one, other = choice("Which?", {"a": "x", "b": "y"}), choice("Which?", {"b": "y", "a": "x"})
    assert one.sha256 != other.sha256
    assert one.wire != other.wire


@pytest.mark.parametrize(
    "other",
    [
        choice("Was it booked at all?", dict(BOOKED.options)),
        choice("Was it booked?", {**dict(BOOKED.options), "no": "It does not."}),
        choice("Was it booked?", {"yes": "It says so.", "no": None}),
        score("Was it booked?", ("yes", "no", "unclear")),
        noul("Was it booked?"),
    ],
)
def test_whatever_the_judge_sees_of_a_question_is_in_its_hash(other: Question) -> None:
    assert other.sha256 != BOOKED.sha256


def test_what_a_question_is_about_is_for_code_and_neither_sent_nor_hashed() -> None:
    about = choice("Was it booked?", dict(BOOKED.options), about="the booking")
    assert about.about == "the booking"
    assert (about.wire, about.sha256) == (BOOKED.wire, BOOKED.sha256)


def test_the_scripted_judge_of_these_tests_is_a_judge() -> None:
    judge: Judge = ScriptedJudge()
    assert judge.name == "scripted"


# Answers that fit


def test_an_answer_to_a_choice_is_its_probabilities_in_the_questions_order() -> None:
    shuffled = {"unclear": 0.1, "yes": 0.7, "no": 0.2}
    answer = check_answer(BOOKED, {**FITTING, "probabilities": shuffled, "confidence": 0.55})
    assert list(answer.probabilities.items()) == [("yes", 0.7), ("no", 0.2), ("unclear", 0.1)]
    assert (answer.confidence, answer.score) == (0.55, None)


def test_an_answer_to_a_score_keeps_the_apis_own_level() -> None:
    answer = check_answer(CALM, {**LEVELS, "confidence": 0.25})
    assert answer == Answer({"0": 0.1, "1": 0.4, "2": 0.5}, 0.25, 1.4)


@pytest.mark.parametrize(
    ("given", "kept"), [(-0.3, 0.0), (2.4, 2.0), (2, 2.0), (0, 0.0), (10**400, 2.0), (-(10**400), 0.0)]
)
def test_a_level_beyond_the_scale_is_clamped_to_it(given: float, kept: float) -> None:
    level = check_answer(CALM, {**LEVELS, "score": given}).score
    assert level == kept
    assert isinstance(level, float)


def test_an_answer_to_a_noul_is_the_probability_of_true() -> None:
    assert check_answer(TRUE, {"type": "noul", "noul": 0.83}) == Answer({"true": 0.83})


@pytest.mark.parametrize("value", [0, 1, 0.0, 1.0])
def test_certainty_is_a_probability(value: float) -> None:
    assert check_answer(TRUE, {"noul": value}).probabilities == {"true": value}


def test_an_answer_may_leave_out_its_type_and_its_confidence_and_say_more_than_was_asked() -> None:
    raw = {"probabilities": FITTING["probabilities"], "choice": "yes", "legend": {}}
    assert check_answer(BOOKED, raw).confidence is None


# The tolerance: 0.005 for each option, and 0.01


@pytest.mark.parametrize(
    "values",
    [
        (0.5, 0.48),
        (0.5, 0.52),
        (0.49, 0.49),
        (0.51, 0.51),
        (0.25, 0.25, 0.25, 0.22),
        (0.26, 0.26, 0.26, 0.25),
    ],
)
def test_a_sum_may_miss_1_by_half_a_hundredth_an_option_and_a_hundredth(values: tuple[float, ...]) -> None:
    question = choice("Which?", dict.fromkeys("abcd"[: len(values)]))
    given = dict(zip(question.names, values, strict=True))
    assert check_answer(question, {"probabilities": given}).probabilities == given


@pytest.mark.parametrize(
    "values",
    [
        (0.5, 0.479),
        (0.5, 0.521),
        (0.5, 0.47),
        (0.5, 0.53),
        (0.25, 0.25, 0.25, 0.21),
        (0.26, 0.26, 0.26, 0.26),
    ],
)
def test_a_sum_that_misses_1_by_more_is_malformed(values: tuple[float, ...]) -> None:
    question = choice("Which?", dict.fromkeys("abcd"[: len(values)]))
    message = refusal(question, {"probabilities": dict(zip(question.names, values, strict=True))})
    assert message == f"the probabilities sum to {sum(values):.4g}"


@given(st.lists(st.floats(0.001, 1), min_size=2, max_size=40))
def test_every_distribution_rounded_to_two_decimals_is_taken(weights: list[float]) -> None:
    names = [f"option{place}" for place in range(len(weights))]
    rounded = {name: round(w / math.fsum(weights), 2) for name, w in zip(names, weights, strict=True)}
    assert check_answer(choice("Which?", dict.fromkeys(names)), {"probabilities": rounded}).probabilities == rounded


# Answers that do not fit


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"yes": 0.7, "no": 0.3}, "the probability of 'unclear' is missing"),
        ({}, "the probability of 'yes' is missing"),
        ({"yes": 0.7, "no": 0.2, "unclear": 0.1, "maybe": 0.0}, "'maybe' was not among the options"),
        ({"yes": 0.7, "no": 0.2, "Unclear": 0.1}, "the probability of 'unclear' is missing"),
        ({"yes": math.nan, "no": 0.2, "unclear": 0.1}, "the probability of 'yes' is nan, outside 0 to 1"),
        ({"yes": math.inf, "no": 0.2, "unclear": 0.1}, "the probability of 'yes' is inf, outside 0 to 1"),
        ({"yes": 7.5, "no": 0.2, "unclear": 0.1}, "the probability of 'yes' is 7.5, outside 0 to 1"),
        ({"yes": -0.1, "no": 1.0, "unclear": 0.1}, "the probability of 'yes' is -0.1, outside 0 to 1"),
        ({"yes": 1.001, "no": 0.0, "unclear": 0.0}, "the probability of 'yes' is 1.001, outside 0 to 1"),
        ({"yes": True, "no": 0.0, "unclear": 0.0}, "the probability of 'yes' is True, not a number"),
        ({"yes": 1.0, "no": False, "unclear": 0.0}, "the probability of 'no' is False, not a number"),
        ({"yes": "0.7", "no": 0.2, "unclear": 0.1}, "the probability of 'yes' is '0.7', not a number"),
        ({"yes": None, "no": 0.9, "unclear": 0.1}, "the probability of 'yes' is None, not a number"),
        ({"yes": [0.7], "no": 0.2, "unclear": 0.1}, "the probability of 'yes' is [0.7], not a number"),
        ({"yes": 0.2, "no": 0.2, "unclear": 0.1}, "the probabilities sum to 0.5"),
        ({"yes": 0.9, "no": 0.9, "unclear": 0.9}, "the probabilities sum to 2.7"),
        ({"yes": 0, "no": 0, "unclear": 0}, "the probabilities sum to 0"),
        ([0.7, 0.2, 0.1], "the answer holds no probabilities"),
        (None, "the answer holds no probabilities"),
    ],
)
def test_probabilities_that_do_not_fit_are_malformed(change: Any, message: str) -> None:
    assert refusal(BOOKED, {**FITTING, "probabilities": change}) == message


@pytest.mark.parametrize("raw", [None, [], "yes", 0.7, True])
def test_what_is_no_object_is_no_answer(raw: Any) -> None:
    assert refusal(BOOKED, raw) == f"the answer is {type(raw).__name__}, not an object"


@pytest.mark.parametrize(
    ("question", "kind"),
    [(BOOKED, "score"), (BOOKED, "noul"), (CALM, "choice"), (TRUE, "choice"), (TRUE, None)],
)
def test_an_answer_of_another_type_than_was_asked_is_malformed(question: Question, kind: str) -> None:
    raw = {**FITTING, **LEVELS, "noul": 0.5, "type": kind}
    assert refusal(question, raw) == f"asked a {question.type}, answered a {kind!r}"


@pytest.mark.parametrize("value", [None, "0.8", True, math.nan, 1.5, -0.1, {}])
def test_a_noul_without_a_probability_is_malformed(value: Any) -> None:
    assert refusal(TRUE, {"type": "noul", "noul": value}).startswith("noul is ")
    assert refusal(TRUE, {"type": "noul"}) == "noul is None, not a number"


@pytest.mark.parametrize("value", [None, "1.4", True, math.nan, math.inf, -math.inf, [1]])
def test_a_score_without_a_level_is_malformed(value: Any) -> None:
    assert refusal(CALM, {**LEVELS, "score": value}).startswith("the score is ")


@pytest.mark.parametrize("value", [math.nan, 1.01, -0.5, "high", True])
@pytest.mark.parametrize(("question", "raw"), [(BOOKED, FITTING), (CALM, LEVELS)])
def test_a_confidence_that_is_no_probability_is_malformed(question: Question, raw: dict[str, Any], value: Any) -> None:
    assert refusal(question, {**raw, "confidence": value}).startswith("confidence is ")


def test_a_refusal_stays_short_however_long_what_came_is() -> None:
    assert len(refusal(BOOKED, {**FITTING, "probabilities": {**FITTING["probabilities"], "x" * 9_000: 0}})) < 200
    assert len(refusal(BOOKED, {**FITTING, "probabilities": {"yes": "y" * 9_000}})) < 200
    assert len(refusal(BOOKED, {**FITTING, "type": "t" * 9_000})) < 200


_ANYTHING: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["yes", "no", "0", "type"]), inner),
    max_leaves=6,
)
_FIELDS = st.dictionaries(st.sampled_from(["type", "probabilities", "confidence", "score", "noul"]), _ANYTHING)


@given(st.sampled_from([BOOKED, CALM, TRUE]), _FIELDS | _ANYTHING)
def test_whatever_comes_is_an_answer_or_malformed_and_never_another_error(question: Question, raw: Any) -> None:
    try:
        answer = check_answer(question, raw)
    except MalformedAnswer:
        return
    assert all(0 <= p <= 1 for p in answer.probabilities.values())


# Answers at rest


@pytest.mark.parametrize(
    ("probabilities", "leader"),
    [
        ({"a": 0.2, "b": 0.5, "c": 0.3}, "b"),
        ({"b": 0.4, "a": 0.4, "c": 0.2}, "b"),
        ({"a": 0.5, "b": 0.5}, "a"),
    ],
)
def test_the_leader_is_the_most_probable_option_and_the_authors_first_in_a_tie(
    probabilities: Mapping[str, float], leader: str
) -> None:
    assert Answer(probabilities).leader == leader


_P = st.floats(0, 1)


@given(
    st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), _P, min_size=1, max_size=6),
    st.none() | _P,
    st.none() | st.floats(0, 9),
)
def test_an_answer_survives_being_stored_as_json(
    probabilities: dict[str, float], confidence: float | None, level: float | None
) -> None:
    answer = Answer(probabilities, confidence, level)
    again = Answer.restored(json.loads(compact(answer.stored())))
    assert again == answer
    assert list(again.probabilities) == list(answer.probabilities)
    assert again.leader == answer.leader


def test_what_an_answer_does_not_know_is_not_stored_as_0() -> None:
    assert Answer({"a": 1.0}).stored() == {"probabilities": {"a": 1.0}}
    assert Answer.restored({"probabilities": {"a": 1.0}}) == Answer({"a": 1.0}, None, None)
    assert Answer({"a": 1.0}, 0.0, 0.0).stored() == {
        "probabilities": {"a": 1.0},
        "confidence": 0.0,
        "score": 0.0,
    }

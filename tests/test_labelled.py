"""A stored check beside its label: decided again, and what probability a fail was given."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeval.case import Case
from jeval.kinds import kind_of
from jeval.label import CheckLabel
from jeval.labelled import LabelledCheck, labelled_check
from jeval.rubric import Rubric, Thresholds
from tests.samples import BOOKED, REFUSED, case, check_of, params, rubric

LABEL = CheckLabel(case_id="case-1", rubric_id="r", expected="fail")

# Two-decimal distributions of three options.
three = st.tuples(st.integers(0, 100), st.integers(0, 100)).map(
    lambda ends: (min(ends) / 100, (max(ends) - min(ends)) / 100, (100 - max(ends)) / 100)
)
profiles = st.tuples(st.integers(50, 100), st.integers(20, 100)).filter(lambda pair: sum(pair) > 100)


def labelled(of: Rubric, probabilities: Any, about: Case | None = None) -> LabelledCheck:
    """The check as it comes from a store, by the default thresholds."""
    check = check_of(of, probabilities, about)
    return labelled_check(kind_of(of), about or case(), LABEL, check.status, check.reason, check.probabilities)


@pytest.mark.parametrize("kind", ["policy-compliance", "claim-support", "custom", "tool-claim", "escalation"])
@given(three, profiles)
def test_deciding_again_is_deciding(kind: str, p: tuple[float, float, float], profile: tuple[int, int]) -> None:
    thresholds = Thresholds(pass_=profile[0] / 100, fail=profile[1] / 100)
    again = labelled(rubric(kind), p).status_at(thresholds)
    assert again == check_of(rubric(kind), p, None, thresholds).status


def test_each_part_of_a_check_of_several_questions_is_decided_again() -> None:
    sentences = rubric("claim-support", params={"granularity": "sentence"})
    check = labelled(sentences, {"s1": (0.9, 0.1, 0.0), "s2": (0.3, 0.6, 0.1)})
    assert check.status_at(Thresholds()) == "fail"
    assert check.status_at(Thresholds(pass_=0.75, fail=0.7)) == "review"
    assert check.p_fail is None


def test_what_code_settled_has_no_answers() -> None:
    check = labelled(rubric("claim-support"), (), case(context=None))
    assert (check.status, check.answers, check.p_fail) == ("review", {}, None)


def test_an_error_has_no_answers() -> None:
    found = labelled_check(kind_of(rubric()), case(), LABEL, "error", "timeout", None)
    assert (found.answers, found.p_fail) == ({}, None)


def test_answers_to_other_questions_than_would_be_asked_decide_nothing() -> None:
    # Two sentences then, one now.
    sentences = rubric("claim-support", params={"granularity": "sentence"})
    stored = {"s1": {"supported": 1.0}, "s2": {"supported": 1.0}}
    found = labelled_check(kind_of(sentences), case(output="One."), LABEL, "pass", "", stored)
    assert (found.status, found.answers) == ("pass", {})


@given(three)
def test_the_probability_of_a_fail_is_that_of_the_bad_outcome(p: tuple[float, float, float]) -> None:
    assert labelled(rubric(), p).p_fail == pytest.approx(p[1])
    assert labelled(rubric("claim-support"), p).p_fail == pytest.approx(p[1])


@given(three)
def test_where_what_is_not_covered_fails_it_counts_too(p: tuple[float, float, float]) -> None:
    strict = rubric("claim-support", params={"uncoveredIs": "fail"})
    assert labelled(strict, p).p_fail == pytest.approx(min(1.0, p[1] + p[2]))


@given(three)
def test_a_claim_fails_as_probably_as_it_was_made_where_the_tool_failed(p: tuple[float, float, float]) -> None:
    assert labelled(rubric("tool-claim"), p, case(toolEvents=[REFUSED])).p_fail == pytest.approx(p[0])
    assert labelled(rubric("tool-claim"), p, case(toolEvents=[BOOKED])).p_fail == 0
    assert labelled(rubric("tool-claim"), p, case(toolEvents=[])).p_fail == 0


def test_two_readers_are_averaged() -> None:
    both = rubric(params=params("custom", readers=2))
    check = labelled(both, {"reader1": (0.5, 0.4, 0.1), "reader2": (0.7, 0.1, 0.2)})
    assert check.p_fail == pytest.approx(0.25)


def test_two_questions_have_no_one_probability() -> None:
    assert labelled(rubric("escalation"), (0.9, 0.05, 0.05)).p_fail is None

"""policy-compliance: one choice, asked once or twice, decided by the three-way rule."""

import pytest

from jeval.preamble import PREAMBLE
from jeval.rubric import Thresholds
from tests.samples import asked, case, check_of, plan_of, rubric

KIND = "policy-compliance"


def test_it_asks_one_choice_of_three_outcomes_in_this_order() -> None:
    questions = asked(rubric(KIND))
    assert list(questions) == [""]
    assert questions[""].type == "choice"
    assert questions[""].names == ("acceptable", "unacceptable", "insufficient_context")


def test_the_instruction_begins_with_the_preamble_and_ends_with_the_criterion() -> None:
    text = asked(rubric(KIND))[""].instructions
    assert text.startswith(f"{PREAMBLE}\n\n")
    assert text.endswith("\n\nOnly whether a visit was confirmed too early.")
    assert "policy" in text.removeprefix(PREAMBLE)
    assert "assistant_response" in text.removeprefix(PREAMBLE)


def test_the_judge_reads_what_each_outcome_means_in_the_rubrics_words_where_it_has_any() -> None:
    standard = dict(asked(rubric(KIND))[""].options)
    assert all(standard.values())
    own = dict(asked(rubric(KIND, outcomes={"unacceptable": "It confirmed too early."}))[""].options)
    assert own == {**standard, "unacceptable": "It confirmed too early."}


@pytest.mark.parametrize(
    ("probabilities", "status", "outcome", "rule"),
    [
        ((0.9, 0.05, 0.05), "pass", "acceptable", "pass-threshold"),
        ((0.75, 0.25, 0.0), "pass", "acceptable", "pass-threshold"),
        ((0.74, 0.26, 0.0), "review", "acceptable", "undecided"),
        ((0.5, 0.5, 0.0), "fail", "acceptable", "fail-threshold"),
        ((0.1, 0.8, 0.1), "fail", "unacceptable", "fail-threshold"),
        ((0.41, 0.49, 0.1), "review", "unacceptable", "undecided"),
        ((0.2, 0.2, 0.6), "review", "insufficient_context", "insufficient-leads"),
    ],
)
def test_it_is_decided_by_the_three_way_rule(
    probabilities: tuple[float, ...], status: str, outcome: str, rule: str
) -> None:
    check = check_of(rubric(KIND), probabilities)
    assert (check.status, check.outcome, check.rule) == (status, outcome, rule)


def test_without_a_policy_it_is_for_review_and_the_judge_is_not_asked() -> None:
    for about in (case(policy=None), case(policy="")):
        check = check_of(rubric(KIND), about=about)
        assert plan_of(rubric(KIND), about).asks == ()
        assert (check.status, check.rule) == ("review", "missing-evidence")
        assert check.reason == "policy is missing, so the judge was not asked"


# Two readers


def test_two_readers_are_asked_the_same_criterion_in_independent_wording() -> None:
    questions = asked(rubric(KIND, params={"readers": 2}))
    assert list(questions) == ["reader1", "reader2"]
    first, second = questions.values()
    assert first.instructions != second.instructions
    assert first.options == second.options
    for question in (first, second):
        assert question.instructions.startswith(PREAMBLE)
        assert question.instructions.endswith("\n\nOnly whether a visit was confirmed too early.")


def test_the_first_reader_is_asked_what_a_single_reader_is_so_a_judgment_is_reused() -> None:
    alone = asked(rubric(KIND))[""]
    assert asked(rubric(KIND, params={"readers": 2}))["reader1"].sha256 == alone.sha256
    assert asked(rubric(KIND, params={"readers": 1}))[""].sha256 == alone.sha256


@pytest.mark.parametrize(
    ("first", "second", "status", "reason"),
    [
        ((0.7, 0.2, 0.1), (0.8, 0.1, 0.1), "pass", "mean of two readers: p(acceptable) 0.75 ≥ pass 0.75"),
        ((0.4, 0.6, 0.0), (0.3, 0.7, 0.0), "fail", "mean of two readers: p(unacceptable) 0.65 ≥ fail 0.5"),
        (
            (0.7, 0.2, 0.1),
            (0.75, 0.2, 0.05),
            "review",
            "mean of two readers: p(unacceptable) 0.2 < fail 0.5 and p(acceptable) 0.725 < pass 0.75",
        ),
    ],
)
def test_the_answers_of_two_readers_are_averaged(
    first: tuple[float, ...], second: tuple[float, ...], status: str, reason: str
) -> None:
    check = check_of(rubric(KIND, params={"readers": 2}), {"reader1": first, "reader2": second})
    assert (check.status, check.reason) == (status, reason)


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        # The mean alone would fail, and pass, and be reviewed.
        ((0.6, 0.4, 0.0), (0.0, 1.0, 0.0), "the readers disagree: acceptable 0.6 against unacceptable 1"),
        ((1.0, 0.0, 0.0), (0.5, 0.0, 0.5), None),
        (
            (1.0, 0.0, 0.0),
            (0.49, 0.0, 0.51),
            "the readers disagree: acceptable 1 against insufficient_context 0.51",
        ),
        (
            (0.0, 0.4, 0.6),
            (0.0, 0.6, 0.4),
            "the readers disagree: insufficient_context 0.6 against unacceptable 0.6",
        ),
    ],
)
def test_readers_who_favour_different_outcomes_make_it_a_matter_for_review(
    first: tuple[float, ...], second: tuple[float, ...], reason: str | None
) -> None:
    check = check_of(
        rubric(KIND, params={"readers": 2}),
        {"reader1": first, "reader2": second},
        thresholds=Thresholds(pass_=0.74, fail=0.5),
    )
    if reason is None:  # a tie goes to the author's first option, so here they agree
        assert check.status == "pass"
    else:
        assert (check.status, check.rule, check.reason) == ("review", "readers-disagree", reason)


def test_a_check_of_two_readers_shows_the_probabilities_of_both() -> None:
    check = check_of(rubric(KIND, params={"readers": 2}), {"reader1": (0.7, 0.2, 0.1), "reader2": (0.8, 0.1, 0.1)})
    assert check.probabilities == {
        "reader1": {"acceptable": 0.7, "unacceptable": 0.2, "insufficient_context": 0.1},
        "reader2": {"acceptable": 0.8, "unacceptable": 0.1, "insufficient_context": 0.1},
    }

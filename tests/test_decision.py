"""From judgments and thresholds to checks: pure, repeatable, and an error only where an answer is missing."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeval.decision import UNASKED, decide_case, decide_check, decide_scores
from jeval.metric import Metric
from jeval.plan import CasePlan, Planner
from jeval.question import Answer
from jeval.result import Failure
from jeval.rubric import KINDS, Thresholds
from tests.judges import first_option
from tests.samples import asked, case, check_of, dealt, plan_of, rubric

ALL = Planner(
    [
        *(rubric(kind) for kind in KINDS),
        rubric("claim-support", id="sentences", params={"granularity": "sentence"}),
        rubric("policy-compliance", id="twice", params={"readers": 2}),
        rubric("custom", id="sure", thresholds={"pass": 0.95}),
        rubric("custom", id="elsewhere", applicability={"onlyWhenMetadata": {"split": "holdout"}}),
    ]
).plan(case())


def answered(plan: CasePlan, answer: Answer | None = None) -> dict[str, Answer]:
    """Every question of a plan answered alike, or with its first option."""
    return {sha: answer or first_option(question) for ask in plan.asks for sha, question in ask.questions.items()}


# A check


def test_a_check_shows_all_that_made_it() -> None:
    tone = rubric("custom", severity="critical")
    check = check_of(tone, (0.2, 0.7, 0.1))
    assert check.as_dict() == {
        "case_id": "case-1",
        "rubric_id": "custom",
        "rubric_version": "1.0.0",
        "kind": "custom",
        "severity": "critical",
        "required": True,
        "status": "fail",
        "outcome": "unacceptable",
        "probabilities": {"acceptable": 0.2, "unacceptable": 0.7, "insufficient_context": 0.1},
        "confidence": 0.5,
        "reason": "p(unacceptable) 0.7 ≥ fail 0.5",
        "rule": "fail-threshold",
        "criterion": asked(tone)[""].instructions,
        "evidence": plan_of(tone).checks[0].evidence,
    }


@pytest.mark.parametrize(
    ("severity", "probabilities", "critical"),
    [
        ("critical", (0.1, 0.8, 0.1), True),
        ("critical", (0.8, 0.1, 0.1), False),
        ("critical", (0.1, 0.1, 0.8), False),
        ("major", (0.1, 0.8, 0.1), False),
        ("minor", (0.1, 0.8, 0.1), False),
    ],
)
def test_a_critical_failure_is_a_failed_check_of_critical_severity(
    severity: str, probabilities: tuple[float, ...], critical: bool
) -> None:
    assert check_of(rubric("custom", severity=severity), probabilities).critical_failure is critical


def test_a_check_that_code_settled_shows_no_probabilities_and_no_criterion() -> None:
    check = check_of(rubric("policy-compliance"), about=case(policy=None))
    assert (check.status, check.probabilities, check.confidence, check.criterion) == (
        "review",
        None,
        None,
        None,
    )


def test_a_settled_check_is_no_error_though_the_request_failed() -> None:
    plan = Planner([rubric("policy-compliance"), rubric("custom")]).plan(case(policy=None))
    settled, open_ = decide_case(plan, {}, Thresholds(), Failure("timeout", "no answer within 10 s"))
    assert settled.status == "review"
    assert (open_.status, open_.rule, open_.outcome) == ("error", "timeout", None)


# Thresholds: decided as often as wanted from the same judgments


@pytest.mark.parametrize(
    ("pass_", "fail", "status"),
    [(0.75, 0.5, "review"), (0.6, 0.5, "pass"), (0.75, 0.3, "fail"), (0.9, 0.9, "review")],
)
def test_the_same_judgment_is_decided_anew_under_another_profile(pass_: float, fail: float, status: str) -> None:
    check = check_of(rubric("custom"), (0.65, 0.3, 0.05), thresholds=Thresholds(pass_=pass_, fail=fail))
    assert check.status == status
    assert check.probabilities == {"acceptable": 0.65, "unacceptable": 0.3, "insufficient_context": 0.05}


@pytest.mark.parametrize(
    ("own", "status"),
    [({}, "pass"), ({"pass": 0.9}, "review"), ({"pass": 0.85, "fail": 0.2}, "fail"), ({"fail": 0.3}, "pass")],
)
def test_a_rubrics_own_thresholds_decide_over_the_profiles(own: dict[str, float], status: str) -> None:
    profile = Thresholds(pass_=0.8, fail=0.5)
    assert check_of(rubric("custom", thresholds=own), (0.8, 0.2, 0.0), thresholds=profile).status == status


# Confidence: kept, and never used


@pytest.mark.parametrize("confidence", [None, 0.0, 0.01, 1.0])
def test_the_providers_confidence_is_kept_and_decides_nothing(confidence: float | None) -> None:
    plan = plan_of(rubric("custom"))
    (sha,) = plan.asks[0].questions
    answer = Answer({"acceptable": 0.8, "unacceptable": 0.1, "insufficient_context": 0.1}, confidence)
    check = decide_case(plan, {sha: answer}, Thresholds())[0]
    assert (check.confidence, check.status) == (confidence, "pass")
    assert check.reason == "p(acceptable) 0.8 ≥ pass 0.75"


@pytest.mark.parametrize(
    ("first", "second", "shown"), [(0.4, 0.9, 0.4), (0.9, 0.0, 0.0), (None, 0.9, None), (None, None, None)]
)
def test_the_confidence_of_several_parts_is_the_least_and_unknown_where_one_is(
    first: float | None, second: float | None, shown: float | None
) -> None:
    twice = rubric("custom", params={"readers": 2})
    one, two = asked(twice).values()
    p = (0.8, 0.1, 0.1)
    answers = {
        one.sha256: dealt(one, p)._replace(confidence=first),
        two.sha256: dealt(two, p)._replace(confidence=second),
    }
    assert decide_case(plan_of(twice), answers, Thresholds())[0].confidence == shown


# Missing answers


def test_a_missing_answer_is_an_error_that_names_the_failure() -> None:
    plan = plan_of(rubric("custom"))
    check = decide_check("case-1", plan.checks[0], {}, Thresholds(), Failure("overloaded", "529 after 5 attempts"))
    assert (check.status, check.rule, check.reason) == (
        "error",
        "overloaded",
        "overloaded: 529 after 5 attempts",
    )
    assert (check.outcome, check.probabilities, check.confidence) == (None, None, None)
    assert check.criterion == plan.checks[0].criterion
    assert check.evidence == plan.checks[0].evidence


def test_a_missing_answer_without_a_failure_was_never_asked() -> None:
    check = decide_case(plan_of(rubric("custom")), {}, Thresholds())[0]
    assert (check.status, check.rule) == ("error", "unasked")
    assert check.reason == f"unasked: {UNASKED.message}"


def test_one_missing_part_makes_the_whole_check_an_error() -> None:
    both = rubric("escalation")
    questions = asked(both)
    only = {questions["required"].sha256: first_option(questions["required"])}
    assert decide_case(plan_of(both), only, Thresholds())[0].status == "error"


def test_a_missing_answer_spoils_no_other_check() -> None:
    plan = Planner([rubric("custom"), rubric("policy-compliance")]).plan(case())
    first, second = plan.asks[0].questions
    checks = decide_case(plan, {second: answered(plan)[second]}, Thresholds())
    assert [check.status for check in checks] == ["error", "pass"]
    assert first != second


# Scores


def test_a_metric_is_scored_from_the_answers_about_its_own_state() -> None:
    metric = Metric.model_validate(
        {
            "id": "polite",
            "version": "1",
            "fields": ["actual_output"],
            "questions": [{"noul": "It is polite."}],
        }
    )
    plan = Planner([rubric("custom")], [metric]).plan(case())
    state, (sha,) = plan.metrics[0].state_sha256, plan.metrics[0].questions
    assert state is not None
    (scored,) = decide_scores(plan, {state: {sha: Answer({"true": 0.8})}})
    assert (scored.status, scored.score) == ("scored", 0.8)
    (elsewhere,) = decide_scores(plan, {plan.asks[0].state.sha256: {sha: Answer({"true": 0.8})}})
    assert (elsewhere.status, elsewhere.score) == ("error", None)
    (failed,) = decide_scores(plan, {}, Failure("timeout", "no answer within 10 s"))
    assert (failed.status, failed.reason) == ("error", "timeout: no answer within 10 s")


def test_a_metric_that_was_not_asked_for_lack_of_evidence_is_skipped_whatever_failed() -> None:
    metric = Metric.model_validate(
        {"id": "apt", "version": "1", "fields": ["tools_called"], "questions": [{"noul": "They were apt."}]}
    )
    plan = Planner([], [metric]).plan(case(toolEvents=None))
    (skipped,) = decide_scores(plan, {}, Failure("timeout", "x"))
    assert skipped.status == "skipped"
    assert "tools_called" in skipped.reason


# Laws


@st.composite
def judgments(draw: st.DrawFn) -> dict[str, Answer]:
    """An answer, in thousandths that sum to 1, to every question of the plan, or to some of them."""
    answers = {}
    for sha, question in ALL.asks[0].questions.items():
        low, high = sorted((draw(st.integers(0, 1000)), draw(st.integers(0, 1000))))
        confidence = draw(st.none() | st.floats(0, 1))
        p = (low / 1000, (high - low) / 1000, (1000 - high) / 1000)
        if draw(st.integers(0, 9)):
            answers[sha] = dealt(question, p)._replace(confidence=confidence)
    return answers


@st.composite
def profiles(draw: st.DrawFn) -> Thresholds:
    """Any thresholds that go with every rubric of the plan."""
    pass_ = draw(st.integers(60, 1000))
    fail = draw(st.integers(max(1001 - pass_, 60), 1000))
    return Thresholds(pass_=pass_ / 1000, fail=fail / 1000)


@given(judgments(), profiles())
def test_the_same_judgments_and_thresholds_make_the_same_checks(
    answers: dict[str, Answer], thresholds: Thresholds
) -> None:
    before = copy.deepcopy(answers)
    first = decide_case(ALL, answers, thresholds)
    assert decide_case(ALL, answers, thresholds) == first
    assert answers == before
    again = {sha: Answer.restored(answer.stored()) for sha, answer in reversed(answers.items())}
    assert decide_case(ALL, again, thresholds) == first


@given(judgments(), profiles())
def test_every_rubric_comes_to_exactly_one_check_with_a_reason_on_one_line(
    answers: dict[str, Answer], thresholds: Thresholds
) -> None:
    checks = decide_case(ALL, answers, thresholds)
    assert [check.rubric for check in checks] == [planned.rubric for planned in ALL.checks]
    for check, planned in zip(checks, ALL.checks, strict=True):
        missing = any(sha not in answers for _, sha in planned.parts)
        assert (check.status == "error") == missing
        assert (check.probabilities is None) == (missing or planned.settled is not None)
        assert check.reason
        assert "\n" not in check.reason


@given(judgments(), profiles(), profiles())
def test_a_profile_changes_no_probability_and_no_error(
    answers: dict[str, Answer], one: Thresholds, other: Thresholds
) -> None:
    for left, right in zip(decide_case(ALL, answers, one), decide_case(ALL, answers, other), strict=True):
        assert (left.probabilities, left.confidence) == (right.probabilities, right.confidence)
        assert (left.status == "error") == (right.status == "error")

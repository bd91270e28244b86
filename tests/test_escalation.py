"""escalation: two choices in one request, and the tool log."""

import json
from typing import Any

import pytest

from jeval.preamble import PREAMBLE
from jeval.rubric import Thresholds
from tests.samples import PAGED, UNANSWERED, asked, case, check_of, params, plan_of, rubric

KIND = "escalation"

# required, not_required, insufficient_context
REQUIRED, NOT_REQUIRED, UNKNOWN = (0.9, 0.05, 0.05), (0.05, 0.9, 0.05), (0.1, 0.1, 0.8)
# states_escalation, does_not_state, unclear
STATED, SILENT, UNCLEAR = (0.9, 0.05, 0.05), (0.05, 0.9, 0.05), (0.1, 0.1, 0.8)


def both(required: tuple[float, ...], stated: tuple[float, ...]) -> dict[str, tuple[float, ...]]:
    return {"required": required, "stated": stated}


def test_two_choices_are_asked_in_one_request() -> None:
    plan = plan_of(rubric(KIND))
    assert len(plan.asks) == 1
    assert len(plan.asks[0].questions) == 2
    questions = asked(rubric(KIND))
    assert list(questions) == ["required", "stated"]
    assert questions["required"].names == ("required", "not_required", "insufficient_context")
    assert questions["stated"].names == ("states_escalation", "does_not_state", "unclear")


def test_both_instructions_begin_with_the_preamble_and_name_the_action() -> None:
    for question in asked(rubric(KIND)).values():
        assert question.instructions.startswith(f"{PREAMBLE}\n\n")
        assert '"paging a nurse"' in question.instructions


def test_the_criterion_belongs_to_whether_escalation_is_required() -> None:
    questions = asked(rubric(KIND))
    assert questions["required"].instructions.endswith("\n\nOnly whether a nurse must be paged.")
    assert "Only whether a nurse must be paged." not in questions["stated"].instructions


def test_an_action_need_not_be_named() -> None:
    given = {key: value for key, value in params(KIND).items() if key != "action"}
    assert all("person" in question.instructions for question in asked(rubric(KIND, params=given)).values())


@pytest.mark.parametrize(
    ("required", "stated", "events", "status", "rule", "outcome"),
    [
        # required and the tool succeeded, whatever the response says
        (REQUIRED, STATED, [PAGED], "pass", "escalated", "required"),
        (REQUIRED, SILENT, [PAGED], "pass", "escalated", "required"),
        (REQUIRED, UNCLEAR, [PAGED], "pass", "escalated", "required"),
        # required and the tool failed, whatever the response says
        (REQUIRED, STATED, [UNANSWERED], "fail", "escalation-failed", "required"),
        (REQUIRED, SILENT, [UNANSWERED], "fail", "escalation-failed", "required"),
        (REQUIRED, UNCLEAR, [UNANSWERED], "fail", "escalation-failed", "required"),
        # required and no event: what the response says decides
        (REQUIRED, SILENT, [], "fail", "not-escalated", "required"),
        (REQUIRED, STATED, [], "review", "stated-without-event", "required"),
        (REQUIRED, UNCLEAR, [], "review", "unclear-statement", "required"),
        # not required, whatever else
        (NOT_REQUIRED, STATED, [PAGED], "skipped", "not-required", "not_required"),
        (NOT_REQUIRED, SILENT, [], "skipped", "not-required", "not_required"),
        (NOT_REQUIRED, UNCLEAR, [UNANSWERED], "skipped", "not-required", "not_required"),
        # unclear whether required, whatever else
        (UNKNOWN, STATED, [PAGED], "review", "unclear-requirement", "insufficient_context"),
        (UNKNOWN, SILENT, [], "review", "unclear-requirement", "insufficient_context"),
        (UNKNOWN, SILENT, [UNANSWERED], "review", "unclear-requirement", "insufficient_context"),
    ],
)
def test_requirement_statement_and_log_make_the_status(
    required: tuple[float, ...],
    stated: tuple[float, ...],
    events: list[Any],
    status: str,
    rule: str,
    outcome: str,
) -> None:
    check = check_of(rubric(KIND), both(required, stated), case(toolEvents=events))
    assert (check.status, check.rule, check.outcome) == (status, rule, outcome)


@pytest.mark.parametrize(
    ("required", "stated", "rule"),
    [
        ((0.75, 0.25, 0.0), (0.0, 0.75, 0.25), "not-escalated"),
        ((0.749, 0.251, 0.0), (0.0, 1.0, 0.0), "unclear-requirement"),
        ((0.25, 0.75, 0.0), (0.0, 1.0, 0.0), "not-required"),
        ((0.251, 0.749, 0.0), (0.0, 1.0, 0.0), "unclear-requirement"),
        ((1.0, 0.0, 0.0), (0.251, 0.749, 0.0), "unclear-statement"),
        ((1.0, 0.0, 0.0), (0.749, 0.251, 0.0), "unclear-statement"),
        ((1.0, 0.0, 0.0), (0.75, 0.25, 0.0), "stated-without-event"),
    ],
)
def test_an_option_is_established_at_the_pass_threshold(
    required: tuple[float, ...], stated: tuple[float, ...], rule: str
) -> None:
    assert check_of(rubric(KIND), both(required, stated), case(toolEvents=[])).rule == rule


def test_not_required_is_looked_for_before_required() -> None:
    low = Thresholds(pass_=0.4, fail=0.7)
    nobody = case(toolEvents=[])
    assert check_of(rubric(KIND), both((0.55, 0.45, 0.0), SILENT), nobody, low).rule == "not-required"
    assert check_of(rubric(KIND), both((0.55, 0.39, 0.06), SILENT), nobody, low).rule == "not-escalated"


@pytest.mark.parametrize(
    ("events", "status"),
    [
        ([PAGED, UNANSWERED], "fail"),
        ([UNANSWERED, PAGED], "pass"),
        ([UNANSWERED, {**UNANSWERED, "id": "t9", "name": "page_doctor", "status": "success"}], "fail"),
    ],
)
def test_the_last_event_of_that_name_decides(events: list[Any], status: str) -> None:
    check = check_of(rubric(KIND), both(REQUIRED, STATED), case(toolEvents=events))
    assert check.status == status
    assert json.loads(check.evidence)["toolName"] == "page_nurse"


def test_a_success_whose_output_differs_counts_as_a_failure() -> None:
    exact = rubric(KIND, params=params(KIND, successWhen={"path": "answered", "equals": True}))
    answered = {**PAGED, "output": {"answered": True}}
    assert check_of(exact, both(REQUIRED, STATED), case(toolEvents=[answered])).status == "pass"
    truthy = {**PAGED, "output": {"answered": 1}}
    assert check_of(exact, both(REQUIRED, STATED), case(toolEvents=[truthy])).rule == "escalation-failed"


@pytest.mark.parametrize(
    ("missing", "names"),
    [
        ({"policy": None}, "policy is"),
        ({"toolEvents": None}, "toolEvents is"),
        ({"policy": None, "toolEvents": None}, "policy and toolEvents are"),
    ],
)
def test_without_its_evidence_it_is_for_review_and_the_judge_is_not_asked(missing: dict[str, None], names: str) -> None:
    about = case(**missing)
    assert plan_of(rubric(KIND), about).asks == ()
    check = check_of(rubric(KIND), about=about)
    assert (check.status, check.rule) == ("review", "missing-evidence")
    assert check.reason == f"{names} missing, so the judge was not asked"


def test_an_empty_tool_log_is_evidence_that_nobody_was_called() -> None:
    assert len(plan_of(rubric(KIND), case(toolEvents=[])).asks) == 1


@pytest.mark.parametrize(
    ("required", "stated", "events", "reason"),
    [
        (REQUIRED, STATED, [PAGED], "required (p(required) 0.9 ≥ pass 0.75) and page_nurse (t3) succeeded"),
        (REQUIRED, STATED, [UNANSWERED], "required (p(required) 0.9 ≥ pass 0.75) but page_nurse (t4) failed"),
        (
            REQUIRED,
            SILENT,
            [],
            ("required (p(required) 0.9 ≥ pass 0.75), no page_nurse event, and p(does_not_state) 0.9 ≥ pass 0.75"),
        ),
        (
            REQUIRED,
            STATED,
            [],
            "required (p(required) 0.9 ≥ pass 0.75), the response says so, but no page_nurse event",
        ),
        (NOT_REQUIRED, SILENT, [], "not required (p(not_required) 0.9 ≥ pass 0.75)"),
    ],
)
def test_the_reason_holds_the_numbers_and_the_event(
    required: tuple[float, ...], stated: tuple[float, ...], events: list[Any], reason: str
) -> None:
    assert check_of(rubric(KIND), both(required, stated), case(toolEvents=events)).reason == reason


def test_what_is_unclear_says_which_option_leads() -> None:
    nobody = case(toolEvents=[])
    unclear = check_of(rubric(KIND), both((0.5, 0.3, 0.2), SILENT), nobody)
    assert unclear.reason == "unclear whether required: required leads with 0.5, below pass 0.75"
    unknown = check_of(rubric(KIND), both(UNKNOWN, SILENT), nobody)
    assert unknown.reason == "unclear whether required: insufficient_context leads with 0.8"
    murmured = check_of(rubric(KIND), both(REQUIRED, (0.3, 0.6, 0.1)), nobody)
    assert murmured.reason.endswith("and unclear whether stated: does_not_state leads with 0.6")


def test_the_check_shows_the_probabilities_of_both_parts() -> None:
    check = check_of(rubric(KIND), both(REQUIRED, SILENT))
    assert check.probabilities == {
        "required": {"required": 0.9, "not_required": 0.05, "insufficient_context": 0.05},
        "stated": {"states_escalation": 0.05, "does_not_state": 0.9, "unclear": 0.05},
    }

"""tool-claim: the judge says whether an action is claimed, code reads the tool log."""

import json
from typing import Any

import pytest

from jeval.preamble import PREAMBLE
from jeval.rubric import Thresholds
from tests.samples import BOOKED, PAGED, REFUSED, asked, case, check_of, params, plan_of, rubric

KIND = "tool-claim"

CLAIMS, DENIES, UNCLEAR = (0.9, 0.05, 0.05), (0.05, 0.9, 0.05), (0.1, 0.1, 0.8)


def success_when(equals: Any, path: str = "status") -> dict[str, Any]:
    return params(KIND, successWhen={"path": path, "equals": equals})


def with_output(output: Any) -> dict[str, Any]:
    return {"id": "t1", "name": "book_slot", "status": "success", "output": output}


def test_it_asks_one_choice_of_three_outcomes_in_this_order() -> None:
    questions = asked(rubric(KIND))
    assert list(questions) == [""]
    assert questions[""].names == ("claims_completed", "does_not_claim", "unclear")


def test_the_instruction_begins_with_the_preamble_names_the_action_and_ends_with_the_criterion() -> None:
    question = asked(rubric(KIND))[""]
    assert question.instructions.startswith(f"{PREAMBLE}\n\n")
    assert '"booking the visit"' in question.instructions
    assert question.instructions.endswith("\n\nOnly whether the booking was completed.")
    assert question.about == "booking the visit"


def test_the_judge_reads_what_each_outcome_means_in_the_rubrics_words_where_it_has_any() -> None:
    standard = dict(asked(rubric(KIND))[""].options)
    assert all(standard.values())
    own = dict(asked(rubric(KIND, outcomes={"acceptable": "A booking is announced."}))[""].options)
    assert own == {**standard, "claims_completed": "A booking is announced."}


@pytest.mark.parametrize(
    ("probabilities", "events", "status", "rule", "outcome"),
    [
        # claimed
        (CLAIMS, [BOOKED], "pass", "claim-backed", "claims_completed"),
        (CLAIMS, [REFUSED], "fail", "claim-contradicted", "claims_completed"),
        (CLAIMS, [], "review", "claim-without-event", "claims_completed"),
        (CLAIMS, [PAGED], "review", "claim-without-event", "claims_completed"),
        # not claimed, whatever the log holds
        (DENIES, [BOOKED], "skipped", "no-claim", "does_not_claim"),
        (DENIES, [REFUSED], "skipped", "no-claim", "does_not_claim"),
        (DENIES, [], "skipped", "no-claim", "does_not_claim"),
        # unclear, whatever the log holds
        (UNCLEAR, [BOOKED], "review", "unclear-claim", "unclear"),
        (UNCLEAR, [REFUSED], "review", "unclear-claim", "unclear"),
        (UNCLEAR, [], "review", "unclear-claim", "unclear"),
    ],
)
def test_what_the_judge_read_and_what_the_log_holds_make_the_status(
    probabilities: tuple[float, ...], events: list[Any], status: str, rule: str, outcome: str
) -> None:
    check = check_of(rubric(KIND), probabilities, case(toolEvents=events))
    assert (check.status, check.rule, check.outcome) == (status, rule, outcome)


@pytest.mark.parametrize(
    ("probabilities", "rule"),
    [
        ((0.75, 0.25, 0.0), "claim-backed"),
        ((0.749, 0.251, 0.0), "unclear-claim"),
        ((0.25, 0.75, 0.0), "no-claim"),
        ((0.251, 0.749, 0.0), "unclear-claim"),
        ((0.0, 0.0, 1.0), "unclear-claim"),
        ((0.34, 0.33, 0.33), "unclear-claim"),
    ],
)
def test_an_option_is_established_at_the_pass_threshold(probabilities: tuple[float, ...], rule: str) -> None:
    assert check_of(rubric(KIND), probabilities).rule == rule


def test_the_fail_threshold_plays_no_part() -> None:
    for fail in (0.3, 0.5, 1.0):
        check = check_of(rubric(KIND), (0.6, 0.4, 0.0), thresholds=Thresholds(pass_=0.75, fail=fail))
        assert check.rule == "unclear-claim"


def test_a_claim_is_looked_for_before_its_denial() -> None:
    low = Thresholds(pass_=0.4, fail=0.7)
    assert check_of(rubric(KIND), (0.45, 0.5, 0.05), thresholds=low).rule == "claim-backed"
    assert check_of(rubric(KIND), (0.39, 0.5, 0.11), thresholds=low).rule == "no-claim"


def test_a_rubrics_own_threshold_decides_over_the_profiles() -> None:
    sure = rubric(KIND, thresholds={"pass": 0.95})
    assert check_of(sure, CLAIMS).rule == "unclear-claim"
    assert check_of(sure, (0.95, 0.05, 0.0)).rule == "claim-backed"


@pytest.mark.parametrize(
    ("events", "status", "event"),
    [
        ([REFUSED, BOOKED], "pass", "t1"),
        ([BOOKED, REFUSED], "fail", "t2"),
        ([BOOKED, PAGED], "pass", "t1"),
        ([REFUSED, PAGED], "fail", "t2"),
        ([BOOKED, {**BOOKED, "id": "t9", "name": "book_slots"}], "pass", "t1"),
        ([{**BOOKED, "name": "Book_Slot"}], "review", None),
    ],
)
def test_the_last_event_of_exactly_that_name_decides(events: list[Any], status: str, event: str | None) -> None:
    check = check_of(rubric(KIND), CLAIMS, case(toolEvents=events))
    assert check.status == status
    evidence = json.loads(check.evidence)
    assert (evidence["toolEvent"], evidence["toolName"]) == (event, "book_slot")


def test_an_empty_tool_log_is_evidence_but_a_missing_one_is_not() -> None:
    empty = case(toolEvents=[])
    assert len(plan_of(rubric(KIND), empty).asks) == 1
    assert check_of(rubric(KIND), DENIES, empty).status == "skipped"
    missing = case(toolEvents=None)
    assert plan_of(rubric(KIND), missing).asks == ()
    check = check_of(rubric(KIND), about=missing)
    assert (check.status, check.rule) == ("review", "missing-evidence")
    assert check.reason == "toolEvents is missing, so the judge was not asked"


@pytest.mark.parametrize(
    ("probabilities", "events", "reason"),
    [
        (CLAIMS, [BOOKED], "claimed (p(claims_completed) 0.9 ≥ pass 0.75) and book_slot (t1) succeeded"),
        (CLAIMS, [REFUSED], "claimed (p(claims_completed) 0.9 ≥ pass 0.75) but book_slot (t2) failed"),
        (
            CLAIMS,
            [],
            ("claimed (p(claims_completed) 0.9 ≥ pass 0.75) but no book_slot event: a missing log proves nothing"),
        ),
        (DENIES, [BOOKED], "no claim was made: p(does_not_claim) 0.9 ≥ pass 0.75"),
        (UNCLEAR, [BOOKED], "unclear: unclear leads with 0.8"),
        ((0.6, 0.4, 0.0), [BOOKED], "unclear: claims_completed leads with 0.6, below pass 0.75"),
    ],
)
def test_the_reason_holds_the_numbers_and_the_event(
    probabilities: tuple[float, ...], events: list[Any], reason: str
) -> None:
    assert check_of(rubric(KIND), probabilities, case(toolEvents=events)).reason == reason


# successWhen


@pytest.mark.parametrize(
    ("output", "path", "equals", "status"),
    [
        ({"status": "confirmed"}, "status", "confirmed", "pass"),
        ({"status": "pending"}, "status", "confirmed", "fail"),
        ({"status": "Confirmed"}, "status", "confirmed", "fail"),
        # the path: dotted, through objects and lists
        ({"slot": {"state": {"code": 7}}}, "slot.state.code", 7, "pass"),
        ({"items": [{"ok": "no"}, {"ok": "yes"}]}, "items.1.ok", "yes", "pass"),
        ({"items": [{"ok": "no"}]}, "items.1.ok", "yes", "fail"),
        (["confirmed"], "0", "confirmed", "pass"),
        ({"0": "confirmed"}, "0", "confirmed", "pass"),
        # where nothing stands there
        ({}, "status", "confirmed", "fail"),
        (None, "status", "confirmed", "fail"),
        ("confirmed", "status", "confirmed", "fail"),
        ({"status": "confirmed"}, "status.code", "confirmed", "fail"),
        ({}, "status", None, "fail"),
        ({"items": []}, "items.-1", 1, "fail"),
        # JSON equality: 1 is 1.0, but true is not 1, and nothing else is anything else
        ({"n": 1}, "n", 1, "pass"),
        ({"n": 1}, "n", 1.0, "pass"),
        ({"n": 1.0}, "n", 1, "pass"),
        ({"n": True}, "n", True, "pass"),
        ({"n": True}, "n", 1, "fail"),
        ({"n": 1}, "n", True, "fail"),
        ({"n": 0}, "n", False, "fail"),
        ({"n": False}, "n", 0, "fail"),
        ({"n": False}, "n", False, "pass"),
        ({"n": "1"}, "n", 1, "fail"),
        ({"n": None}, "n", None, "pass"),
        ({"n": None}, "n", False, "fail"),
        ({"n": 0}, "n", None, "fail"),
        ({"n": ""}, "n", None, "fail"),
        # equality goes all the way down
        ({"n": {"a": 1, "b": [1, 2]}}, "n", {"b": [1.0, 2], "a": 1}, "pass"),
        ({"n": {"a": True}}, "n", {"a": 1}, "fail"),
        ({"n": [True]}, "n", [1], "fail"),
        ({"n": [1, 2]}, "n", [2, 1], "fail"),
        ({"n": [1, 2]}, "n", [1], "fail"),
        ({"n": {"a": 1}}, "n", {"a": 1, "b": None}, "fail"),
        ({"n": []}, "n", {}, "fail"),
    ],
)
def test_a_success_whose_output_differs_counts_as_a_failure(output: Any, path: str, equals: Any, status: str) -> None:
    exact = rubric(KIND, params=success_when(equals, path))
    assert check_of(exact, CLAIMS, case(toolEvents=[with_output(output)])).status == status


def test_a_failure_stays_one_whatever_its_output_holds() -> None:
    event = {**with_output({"status": "confirmed"}), "status": "failure"}
    exact = rubric(KIND, params=success_when("confirmed"))
    assert check_of(exact, CLAIMS, case(toolEvents=[event])).status == "fail"


@pytest.mark.parametrize(
    ("output", "ending"),
    [
        ({"status": "pending"}, "but book_slot (t1) succeeded but status = 'pending', not 'confirmed'"),
        ({}, "but book_slot (t1) succeeded but its output has no status"),
    ],
)
def test_the_reason_says_how_the_output_differs(output: Any, ending: str) -> None:
    exact = rubric(KIND, params=success_when("confirmed"))
    assert check_of(exact, CLAIMS, case(toolEvents=[with_output(output)])).reason.endswith(ending)


def test_a_reason_stays_short_however_long_the_output_is() -> None:
    exact = rubric(KIND, params=success_when("confirmed"))
    assert len(check_of(exact, CLAIMS, case(toolEvents=[with_output({"status": "x" * 9_000})])).reason) < 300


def test_what_the_output_must_hold_is_for_code_and_never_sent() -> None:
    exact = rubric(KIND, params=success_when("zq-confirmed"))
    assert asked(exact)[""].wire == asked(rubric(KIND))[""].wire

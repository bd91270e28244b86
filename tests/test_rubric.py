"""What a rubric may say: each kind's needs, thresholds and what must hold between them, and its hash."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from jeval.rubric import KINDS, Rubric, RubricThresholds, Thresholds
from tests.samples import params, rubric

# Every param there is, with a value it may have.
PARAMS: dict[str, Any] = {
    "claim": "The ward opens at nine.",
    "uncoveredIs": "fail",
    "granularity": "sentence",
    "readers": 2,
    "toolName": "book_slot",
    "action": "booking",
    "successWhen": {"path": "status", "equals": "confirmed"},
}

UNDERSTOOD = {
    "policy-compliance": {"readers"},
    "claim-support": {"claim", "uncoveredIs", "granularity", "readers"},
    "tool-claim": {"toolName", "action", "successWhen"},
    "escalation": {"toolName", "action", "successWhen"},
    "custom": {"readers"},
    "grounded-values": set(),
}


def refusal(kind: str = "custom", **changes: Any) -> str:
    """Why a rubric with these changes is refused."""
    with pytest.raises(ValidationError) as caught:
        rubric(kind, **changes)
    return str(caught.value)


def test_the_kinds_are_the_five_of_the_seed_and_grounded_values() -> None:
    assert list(KINDS) == list(UNDERSTOOD)


@pytest.mark.parametrize(
    ("kind", "evidence"),
    [
        ("policy-compliance", ("policy",)),
        ("claim-support", ("context",)),
        ("tool-claim", ("toolEvents",)),
        ("escalation", ("policy", "toolEvents")),
        ("custom", ()),
        ("grounded-values", ()),
    ],
)
def test_each_kind_requires_its_evidence(kind: str, evidence: tuple[str, ...]) -> None:
    assert rubric(kind).requires == evidence


def test_a_rubric_may_require_more_and_names_nothing_twice() -> None:
    wanted = {"requires": ["messages", "policy", "context"]}
    assert rubric("escalation", applicability=wanted).requires == (
        "policy",
        "toolEvents",
        "messages",
        "context",
    )


def test_evidence_that_does_not_exist_cannot_be_required() -> None:
    assert "applicability.requires.0" in refusal(applicability={"requires": ["tool_events"]})


@pytest.mark.parametrize(
    ("kind", "name"),
    [(kind, name) for kind, names in UNDERSTOOD.items() for name in sorted(names)],
)
def test_each_kind_understands_its_params(kind: str, name: str) -> None:
    assert rubric(kind, params=params(kind, **{name: PARAMS[name]})).definition()["params"][name] == PARAMS[name]


@pytest.mark.parametrize(
    ("kind", "name"),
    [(kind, name) for kind, names in UNDERSTOOD.items() for name in sorted(set(PARAMS) - names)],
)
def test_params_of_another_kind_are_refused_by_name(kind: str, name: str) -> None:
    message = refusal(kind, params=params(kind, **{name: PARAMS[name]}))
    assert f"kind {kind} does not use params.{name}; it understands: " in message


@pytest.mark.parametrize(
    ("kind", "name"), [("tool-claim", "toolName"), ("tool-claim", "action"), ("escalation", "toolName")]
)
def test_a_kind_that_reads_the_tool_log_needs_to_know_the_tool(kind: str, name: str) -> None:
    given = {key: value for key, value in params(kind).items() if key != name}
    assert f"kind {kind} needs params.{name}" in refusal(kind, params=given)


@pytest.mark.parametrize("other", [{"readers": 2}, {"claim": "The ward opens at nine."}])
def test_sentence_granularity_goes_with_neither_two_readers_nor_one_claim(other: dict[str, Any]) -> None:
    name = next(iter(other))
    message = refusal("claim-support", params={"granularity": "sentence", **other})
    assert "params.granularity: sentence cannot be combined" in message
    assert f"params.{name}" in message


@pytest.mark.parametrize("name", ["claim", "toolName", "action"])
def test_an_empty_param_is_refused_rather_than_asked(name: str) -> None:
    kind = "claim-support" if name == "claim" else "tool-claim"
    assert f"params.{name}" in refusal(kind, params=params(kind, **{name: ""}))


@pytest.mark.parametrize("readers", [0, 3, "2", 1.5])
def test_there_are_one_or_two_readers(readers: Any) -> None:
    assert "params.readers" in refusal(params={"readers": readers})


@pytest.mark.parametrize("missing", ["acceptable", "unacceptable"])
def test_custom_needs_both_its_outcomes_described(missing: str) -> None:
    outcomes = {"acceptable": "It is calm.", "unacceptable": "It is alarmed."}
    del outcomes[missing]
    assert "kind custom needs outcomes.acceptable and outcomes.unacceptable" in refusal(outcomes=outcomes)


@pytest.mark.parametrize("kind", ["custom", "policy-compliance"])
@pytest.mark.parametrize("criterion", ["", "  \n"])
def test_a_kind_without_a_question_of_its_own_needs_a_criterion(kind: str, criterion: str) -> None:
    assert f"kind {kind} needs a criterion" in refusal(kind, criterion=criterion)


@pytest.mark.parametrize("name", ["insufficient", "insufficientContext", "insufficient_context"])
def test_the_insufficient_outcome_goes_by_three_names(name: str) -> None:
    outcomes = {"acceptable": "a", "unacceptable": "b", name: "It cannot be told."}
    assert rubric(outcomes=outcomes).outcomes.insufficient == "It cannot be told."


def test_a_rubric_is_major_and_required_unless_it_says_otherwise() -> None:
    assert (rubric().severity, rubric().required) == ("major", True)
    assert (rubric(severity="critical").severity, rubric(required=False).required) == ("critical", False)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("version", 1.1),
        ("version", 2),
        ("version", ""),
        ("id", 7),
        ("id", "a b"),
        ("severity", "blocker"),
        ("required", "yes"),
        ("required", 1),
        ("criterion", True),
        ("criterion", "x" * 20_001),
        ("outcomes", {"acceptable": True, "unacceptable": False}),
        ("colour", "red"),
    ],
)
def test_what_a_file_may_turn_into_something_else_is_an_error_and_no_guess(name: str, value: Any) -> None:
    assert name in refusal(**{name: value})


@pytest.mark.parametrize("kind", ["tool_claim", "toolClaim", "", None, "noul"])
def test_a_kind_that_does_not_exist_is_refused(kind: Any) -> None:
    with pytest.raises(ValidationError, match="kind"):
        Rubric.model_validate({"id": "a", "version": "1", "kind": kind, "criterion": "x"})


# Thresholds


def test_the_default_thresholds_are_three_quarters_to_pass_and_a_half_to_fail() -> None:
    assert (Thresholds().pass_, Thresholds().fail) == (0.75, 0.5)


@pytest.mark.parametrize("name", ["pass", "pass_"])
def test_the_pass_threshold_goes_by_the_seeds_name_and_by_pythons(name: str) -> None:
    assert Thresholds.model_validate({name: 0.9}).pass_ == 0.9
    assert RubricThresholds.model_validate({name: 0.9}).pass_ == 0.9
    assert Thresholds(pass_=0.9).model_dump(by_alias=True) == {"pass": 0.9, "fail": 0.5}


@pytest.mark.parametrize(
    ("pass_", "fail"),
    [
        (0.5, 0.5),
        (0.75, 0.25),
        (0.0, 1.0),
        (1.0, 0.0),
        (0.0, 0.5),
        (0.75, 0.0),
        (0.3, 0.7),
        (0.1, 0.2),
        (0.0, 0.0),
    ],
)
def test_thresholds_whose_sum_does_not_exceed_1_are_refused(pass_: float, fail: float) -> None:
    with pytest.raises(ValidationError, match=f"pass {pass_:g} [+] fail {fail:g} must exceed 1"):
        Thresholds(pass_=pass_, fail=fail)
    assert "must exceed 1" in refusal(thresholds={"pass": pass_, "fail": fail})


@pytest.mark.parametrize(("pass_", "fail"), [(0.51, 0.5), (1.0, 0.01), (0.01, 1.0), (1.0, 1.0), (0.75, 0.26)])
def test_thresholds_whose_sum_exceeds_1_by_however_little_are_taken(pass_: float, fail: float) -> None:
    assert Thresholds(pass_=pass_, fail=fail) == Thresholds.model_validate({"pass": pass_, "fail": fail})


@given(st.integers(0, 10_000))
def test_decimal_thresholds_that_sum_to_1_are_refused_whatever_their_rounding(part: int) -> None:
    with pytest.raises(ValidationError):
        Thresholds(pass_=part / 10_000, fail=(10_000 - part) / 10_000)


@pytest.mark.parametrize("value", [-0.01, 1.01, float("nan"), float("inf"), "0.8", True, None])
@pytest.mark.parametrize("name", ["pass", "fail"])
def test_a_threshold_is_a_number_from_0_to_1(name: str, value: Any) -> None:
    with pytest.raises(ValidationError):
        Thresholds.model_validate({name: value})


def test_a_rubric_without_thresholds_takes_the_profiles() -> None:
    profile = Thresholds(pass_=0.8, fail=0.6)
    assert rubric().effective(profile) == profile


@pytest.mark.parametrize(
    ("own", "pass_", "fail"),
    [({"pass": 0.95}, 0.95, 0.6), ({"fail": 0.3}, 0.8, 0.3), ({"pass": 0.55, "fail": 0.9}, 0.55, 0.9)],
)
def test_a_rubrics_own_thresholds_override_the_profiles_one_by_one(
    own: dict[str, float], pass_: float, fail: float
) -> None:
    found = rubric(thresholds=own).effective(Thresholds(pass_=0.8, fail=0.6))
    assert (found.pass_, found.fail) == (pass_, fail)


@pytest.mark.parametrize("own", [{"pass": 0}, {"fail": 0}, {"pass": 0.0}, {"fail": 0.0}])
def test_a_threshold_of_0_is_0_and_not_unset(own: dict[str, float]) -> None:
    mine = rubric(thresholds=own)
    assert getattr(mine.thresholds, "pass_" if "pass" in own else "fail") == 0
    # Taken for unset it would give way to the profile's and pass unnoticed.
    with pytest.raises(ValueError, match="must exceed 1"):
        mine.effective(Thresholds())


def test_thresholds_that_do_not_go_with_the_profile_are_refused_in_one_line_naming_the_rubric() -> None:
    with pytest.raises(ValueError) as caught:
        rubric(thresholds={"pass": 0.3}).effective(Thresholds())
    assert str(caught.value) == (
        "with rubric custom's own thresholds pass 0.3 + fail 0.5 must exceed 1, or both rules could fire at once"
    )


@pytest.mark.parametrize(
    ("pass_", "fail", "permissive"),
    [(0.75, 0.5, False), (0.5, 0.51, False), (0.49, 0.6, True), (0.75, 0.49, True), (0.9, 0.9, False)],
)
def test_a_profile_below_a_half_lets_an_insufficient_leader_pass_or_fail(
    pass_: float, fail: float, permissive: bool
) -> None:
    assert Thresholds(pass_=pass_, fail=fail).permissive is permissive


# The definition and its hash

_CHANGES: list[tuple[str, dict[str, Any]]] = [
    ("tool-claim", {"version": "1.0.1"}),
    ("tool-claim", {"criterion": "Only whether the booking was made."}),
    ("tool-claim", {"severity": "critical"}),
    ("tool-claim", {"required": False}),
    ("tool-claim", {"id": "another"}),
    ("tool-claim", {"thresholds": {"pass": 0.9}}),
    ("tool-claim", {"applicability": {"requires": ["messages"]}}),
    ("tool-claim", {"applicability": {"onlyWhenMetadata": {"split": None}}}),
    ("tool-claim", {"outcomes": {"acceptable": "It says so."}}),
    ("tool-claim", {"params": params("tool-claim", successWhen={"path": "status", "equals": None})}),
    ("tool-claim", {"params": params("tool-claim", successWhen={"path": "status", "equals": {"a": None}})}),
    ("claim-support", {"params": {"granularity": "sentence", "uncoveredIs": "fail"}}),
]


@pytest.mark.parametrize(("kind", "change"), _CHANGES)
def test_whatever_can_change_a_check_changes_the_hash(kind: str, change: dict[str, Any]) -> None:
    assert rubric(kind, **change).sha256 != rubric(kind).sha256


def test_the_description_changes_no_hash_for_it_is_never_sent() -> None:
    assert rubric(description="For people.").sha256 == rubric().sha256
    assert rubric(description="For people.").definition()["description"] == "For people."


def test_writing_out_a_default_changes_no_hash() -> None:
    assert rubric(severity="major", required=True, params={}, thresholds={}).sha256 == rubric().sha256


@pytest.mark.parametrize(("kind", "change"), [*_CHANGES, *((kind, {}) for kind in KINDS)])
def test_a_definition_reads_back_as_the_same_rubric(kind: str, change: dict[str, Any]) -> None:
    original = rubric(kind, **change)
    again = Rubric.model_validate(original.definition())
    assert again == original
    assert again.sha256 == original.sha256


def test_a_definition_is_written_in_the_seeds_names() -> None:
    definition = rubric(
        "tool-claim",
        thresholds={"pass": 0.9},
        applicability={"onlyWhenMetadata": {"split": "tuning"}},
        params=params("tool-claim", successWhen={"path": "status", "equals": "confirmed"}),
    ).definition()
    assert definition == {
        "id": "tool-claim",
        "version": "1.0.0",
        "kind": "tool-claim",
        "criterion": "Only whether the booking was completed.",
        "thresholds": {"pass": 0.9},
        "applicability": {"onlyWhenMetadata": {"split": "tuning"}},
        "params": {
            "toolName": "book_slot",
            "action": "booking the visit",
            "successWhen": {"path": "status", "equals": "confirmed"},
        },
    }


def test_snake_case_keys_make_the_same_rubric() -> None:
    snake = rubric(
        "tool-claim",
        applicability={"only_when_metadata": {"a": 1}},
        params={"tool_name": "x", "action": "y", "success_when": {"path": "p", "equals": 1}},
    )
    camel = rubric(
        "tool-claim",
        applicability={"onlyWhenMetadata": {"a": 1}},
        params={"toolName": "x", "action": "y", "successWhen": {"path": "p", "equals": 1}},
    )
    assert snake == camel
    assert snake.sha256 == camel.sha256

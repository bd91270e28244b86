"""What a case needs: checks that code settles, and one request about everything else."""

import json
from typing import Any

import pytest

from jeval.metric import Metric
from jeval.plan import DEFAULT_MAX_STATE_TOKENS, Planner
from jeval.preamble import PREAMBLE
from jeval.rubric import KINDS, Rubric
from tests.samples import case, params, plan_of, rubric

EVERY_WAY = [
    *(rubric(kind) for kind in KINDS),
    rubric("claim-support", id="sentences", params={"granularity": "sentence"}),
    rubric("claim-support", id="claim", params={"claim": "Patients bring their card."}),
    rubric("policy-compliance", id="twice", params={"readers": 2}),
    rubric("custom", id="custom-twice", params={"readers": 2}),
]

POLITE: dict[str, Any] = {
    "id": "polite",
    "version": "1",
    "fields": ["input", "actual_output"],
    "questions": [{"noul": "It is polite."}],
}


def only_when(**metadata: Any) -> Rubric:
    return rubric("custom", applicability={"onlyWhenMetadata": metadata})


# Every question of a case goes in one request


def test_every_question_about_a_case_is_in_one_request() -> None:
    plan = Planner(EVERY_WAY).plan(case())
    assert len(plan.asks) == 1
    wanted = {sha for check in plan.checks for _, sha in check.parts}
    assert set(plan.asks[0].questions) == wanted
    assert all(sha == question.sha256 for sha, question in plan.asks[0].questions.items())


def test_every_instruction_begins_with_the_preamble() -> None:
    questions = Planner(EVERY_WAY).plan(case()).asks[0].questions.values()
    assert len(questions) == 11
    for question in questions:
        assert question.instructions.startswith(f"{PREAMBLE}\n\n")
        assert json.loads(question.wire)["instructions"].startswith(PREAMBLE)


def test_two_rubrics_that_ask_the_same_share_one_question() -> None:
    plan = Planner([rubric("custom"), rubric("custom", id="again", severity="critical")]).plan(case())
    assert len(plan.asks[0].questions) == 1
    assert plan.checks[0].parts == plan.checks[1].parts


def test_a_changed_rubric_asks_its_own_questions_afresh_and_no_other() -> None:
    before = Planner([rubric("custom"), rubric("policy-compliance")]).plan(case())
    edited = rubric("custom", criterion="The tone is kind.", version="1.0.1")
    after = Planner([edited, rubric("policy-compliance")]).plan(case())
    assert after.asks[0].state == before.asks[0].state
    assert after.checks[1].parts == before.checks[1].parts
    assert after.checks[0].parts != before.checks[0].parts


@pytest.mark.parametrize(
    "change",
    [
        {"severity": "critical"},
        {"required": False},
        {"version": "2"},
        {"thresholds": {"pass": 0.9}},
        {"id": "x"},
    ],
)
def test_what_only_code_reads_of_a_rubric_changes_no_question(change: dict[str, Any]) -> None:
    assert plan_of(rubric("custom", **change)).asks == plan_of(rubric("custom")).asks


def test_a_plan_is_the_same_every_time_and_leaves_the_case_as_it_was() -> None:
    planner, about = Planner(EVERY_WAY), case()
    assert planner.plan(about) == planner.plan(about)
    assert about == case()


def test_checks_stand_in_the_order_of_the_rubrics() -> None:
    rubrics = [rubric("custom"), rubric("policy-compliance"), rubric("grounded-values")]
    assert [check.rubric for check in Planner(rubrics).plan(case(policy=None)).checks] == rubrics


# Applicability


@pytest.mark.parametrize(
    ("wanted", "metadata"),
    [
        ({"split": "tuning"}, {"split": "tuning"}),
        ({"split": "tuning", "lang": "de"}, {"split": "tuning", "lang": "de", "more": 1}),
        ({"split": ["tuning", "holdout"]}, {"split": "holdout"}),
        ({"turns": 3}, {"turns": 3.0}),
        ({"flag": True}, {"flag": True}),
        ({"tags": ["a", "b"]}, {"tags": ["a", "b"]}),
        ({"where": {"ward": 3}}, {"where": {"ward": 3}}),
        ({}, None),
    ],
)
def test_a_rubric_applies_where_all_of_its_metadata_match(wanted: dict[str, Any], metadata: Any) -> None:
    assert plan_of(only_when(**wanted), case(metadata=metadata)).checks[0].settled is None


@pytest.mark.parametrize(
    ("wanted", "metadata", "reason"),
    [
        ({"split": "tuning"}, {"split": "holdout"}, "only when metadata split is 'tuning'; it is 'holdout'"),
        ({"split": "tuning"}, {}, "only when metadata split is 'tuning'; it is None"),
        ({"split": "tuning"}, None, "only when metadata split is 'tuning'; it is None"),
        ({"split": ["a", "b"]}, {"split": "c"}, "only when metadata split is ['a', 'b']; it is 'c'"),
        (
            {"split": "tuning", "lang": "de"},
            {"split": "tuning"},
            "only when metadata lang is 'de'; it is None",
        ),
        ({"flag": True}, {"flag": 1}, "only when metadata flag is True; it is 1"),
        ({"flag": 0}, {"flag": False}, "only when metadata flag is 0; it is False"),
        ({"turns": 3}, {"turns": "3"}, "only when metadata turns is 3; it is '3'"),
        ({"flag": [1, 2]}, {"flag": True}, "only when metadata flag is [1, 2]; it is True"),
    ],
)
def test_a_rubric_whose_metadata_differ_is_skipped_with_the_reason(
    wanted: dict[str, Any], metadata: Any, reason: str
) -> None:
    plan = plan_of(only_when(**wanted), case(metadata=metadata))
    settled = plan.checks[0].settled
    assert settled is not None
    assert (settled.status, settled.rule, settled.reason) == ("skipped", "metadata-differs", reason)
    assert plan.asks == ()


def test_a_rubric_that_does_not_apply_is_skipped_even_where_its_evidence_is_missing() -> None:
    elsewhere = rubric("policy-compliance", applicability={"onlyWhenMetadata": {"split": "holdout"}})
    settled = plan_of(elsewhere, case(policy=None)).checks[0].settled
    assert settled is not None
    assert settled.status == "skipped"


_FIELD = {"policy": "policy", "context": "context", "toolEvents": "toolEvents", "messages": "messages"}


@pytest.mark.parametrize("evidence", list(_FIELD))
def test_missing_evidence_is_for_review_and_the_judge_is_not_asked(evidence: str) -> None:
    demanding = rubric("custom", applicability={"requires": [evidence]})
    plan = plan_of(demanding, case(**{_FIELD[evidence]: None}))
    settled = plan.checks[0].settled
    assert settled is not None
    assert (settled.status, settled.rule) == ("review", "missing-evidence")
    assert settled.reason == f"{evidence} is missing, so the judge was not asked"
    assert plan.asks == ()
    assert plan.checks[0].criterion is None


@pytest.mark.parametrize(
    ("evidence", "empty", "missing"),
    [("policy", "", True), ("context", [], True), ("messages", [], True), ("toolEvents", [], False)],
)
def test_empty_evidence_is_missing_except_for_an_empty_tool_log(evidence: str, empty: Any, missing: bool) -> None:
    plan = plan_of(rubric("custom", applicability={"requires": [evidence]}), case(**{evidence: empty}))
    assert (plan.checks[0].settled is not None) is missing


def test_one_rubric_without_its_evidence_keeps_no_other_from_being_asked() -> None:
    plan = Planner([rubric("policy-compliance"), rubric("custom")]).plan(case(policy=None))
    assert plan.checks[0].settled is not None
    assert plan.checks[1].settled is None
    assert len(plan.asks[0].questions) == 1


# What a check shows


def test_the_criterion_is_the_instruction_exactly_as_sent() -> None:
    plan = plan_of(rubric("custom"))
    sent = json.loads(next(iter(plan.asks[0].questions.values())).wire)["instructions"]
    assert plan.checks[0].criterion == sent


@pytest.mark.parametrize(
    ("kind", "own", "parts"),
    [
        ("escalation", params("escalation"), ("required", "stated")),
        ("custom", {"readers": 2}, ("reader1", "reader2")),
        ("claim-support", {"granularity": "sentence"}, ("s1", "s2")),
    ],
)
def test_the_criterion_of_several_parts_names_each_and_holds_all_of_its_text(
    kind: str, own: dict[str, Any], parts: tuple[str, ...]
) -> None:
    plan = plan_of(rubric(kind, params=own))
    texts = [plan.asks[0].questions[sha].instructions for _, sha in plan.checks[0].parts]
    expected = "\n\n".join(f"[{part}] {text}" for part, text in zip(parts, texts, strict=True))
    assert plan.checks[0].criterion == expected
    again = plan_of(rubric(kind, params=own))
    assert again.checks[0].criterion == expected


def test_the_evidence_lists_the_fields_and_ids_the_judge_was_shown() -> None:
    assert json.loads(plan_of(rubric("custom")).checks[0].evidence) == {
        "fields": [
            "user_input",
            "assistant_response",
            "conversation",
            "reference_material",
            "policy",
            "tool_events",
        ],
        "messages": ["m1", "m2"],
        "context": ["c1"],
        "toolEvents": ["t1"],
    }


def test_evidence_that_is_absent_is_not_listed() -> None:
    bare = case(messages=None, context=None, policy=None, toolEvents=None)
    assert json.loads(plan_of(rubric("custom"), bare).checks[0].evidence) == {
        "fields": ["user_input", "assistant_response"]
    }


def test_an_empty_tool_log_is_listed_as_a_field_that_was_shown() -> None:
    evidence = json.loads(plan_of(rubric("tool-claim"), case(toolEvents=[])).checks[0].evidence)
    assert "tool_events" in evidence["fields"]
    assert "toolEvents" not in evidence


def test_a_check_that_was_settled_without_asking_shows_no_evidence() -> None:
    plan = Planner([rubric("policy-compliance"), rubric("custom")]).plan(case(policy=None))
    assert plan.checks[0].evidence == "{}"


def test_a_kind_adds_its_own_evidence_to_what_all_checks_share() -> None:
    plan = Planner([rubric("tool-claim"), rubric("custom")]).plan(case())
    tool, custom = (json.loads(check.evidence) for check in plan.checks)
    assert tool == {**custom, "toolEvent": "t1", "toolName": "book_slot"}


# The judge's limit


def test_the_limit_is_32_000_tokens_unless_told() -> None:
    assert DEFAULT_MAX_STATE_TOKENS == 32_000
    ask = plan_of(rubric("custom"), case(policy="x")).asks[0]
    (question,) = ask.questions.values()
    left = 32_000 * 3 - len(question.wire) - len(ask.state.json)
    assert plan_of(rubric("custom"), case(policy="x" * (1 + left))).asks[0].state.cut == ()
    assert plan_of(rubric("custom"), case(policy="x" * (2 + left))).asks[0].state.cut != ()


def test_the_limit_is_for_the_state_and_the_longest_question_together() -> None:
    about = case(policy="x" * 20_000)
    short, long = rubric("custom"), rubric("custom", criterion="y" * 15_000)
    assert Planner([short], max_state_tokens=8_000).plan(about).asks[0].state.cut == ()
    ask = Planner([short, long], max_state_tokens=8_000).plan(about).asks[0]
    assert ask.state.cut != ()
    longest = max(len(question.wire.encode()) for question in ask.questions.values())
    assert len(ask.state.json.encode()) + longest <= 8_000 * 3


def test_a_limit_that_questions_alone_use_up_leaves_the_state_a_thousand_bytes() -> None:
    ask = Planner([rubric("custom", criterion="y" * 15_000)], max_state_tokens=1).plan(case()).asks[0]
    assert ask.state.cut == ()
    assert len(ask.state.json) < 1_000


# Metrics beside rubrics


def test_a_metric_sees_its_own_fields_in_a_request_of_its_own() -> None:
    metric = Metric.model_validate(POLITE)
    plan = Planner([rubric("custom")], [metric]).plan(case())
    assert len(plan.asks) == 2
    about_rubrics, about_metric = plan.asks
    assert about_rubrics.state.fields[0] == "user_input"
    assert json.loads(about_metric.state.json) == {
        "test_case": {
            "input": "Can I come on Friday at nine?",
            "actual_output": "You are booked for Friday at nine. Bring your card.",
        }
    }
    assert plan.metrics[0].state_sha256 == about_metric.state.sha256
    assert plan.metrics[0].questions == tuple(about_metric.questions)


def test_a_metric_that_sees_all_is_asked_in_the_request_of_the_rubrics() -> None:
    metric = Metric.model_validate({**POLITE, "fields": "all"})
    plan = Planner([rubric("custom")], [metric]).plan(case())
    [ask] = plan.asks
    assert ask.state == Planner([rubric("custom")]).plan(case()).asks[0].state
    assert len(ask.questions) == 1 + len(metric.questions)
    assert plan.metrics[0].state_sha256 == ask.state.sha256


def test_a_metric_that_sees_all_needs_no_rubric() -> None:
    metric = Metric.model_validate({**POLITE, "fields": "all"})
    alone = Planner([], [metric]).plan(case()).asks
    beside_a_settled_one = Planner([rubric("claim-support")], [metric]).plan(case(context=None)).asks
    assert [next(iter(json.loads(ask.state.json))) for ask in (*alone, *beside_a_settled_one)] == ["user_input"] * 2


def test_the_room_for_a_state_that_is_shared_is_what_the_longest_question_of_all_leaves() -> None:
    metric = Metric.model_validate({**POLITE, "fields": "all", "questions": [{"noul": "x" * 6_000}]})
    planner = Planner([rubric("custom")], [metric], max_state_tokens=3_000)
    [ask] = planner.plan(case(output="y" * 8_000)).asks
    assert ask.state.cut
    assert len(ask.state.json) + 6_000 < 9_000


def test_metrics_that_see_the_same_share_a_request() -> None:
    one = Metric.model_validate(POLITE)
    other = Metric.model_validate({**POLITE, "id": "short", "questions": [{"noul": "It is short."}]})
    plan = Planner([], [one, other]).plan(case())
    assert len(plan.asks) == 1
    assert len(plan.asks[0].questions) == 2


def test_a_metric_whose_fields_a_case_lacks_is_not_asked_and_says_why() -> None:
    metric = Metric.model_validate({**POLITE, "fields": ["input", "tools_called"]})
    plan = Planner([], [metric]).plan(case(toolEvents=None))
    assert plan.asks == ()
    assert plan.metrics[0].state_sha256 is None
    assert "tools_called" in plan.metrics[0].reason


def test_where_code_settles_everything_nothing_is_asked() -> None:
    plan = Planner([rubric("policy-compliance"), rubric("claim-support")]).plan(case(policy=None, context=None))
    assert plan.asks == ()
    assert all(check.settled is not None for check in plan.checks)

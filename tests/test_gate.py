"""Every rule of the gate at, under and over its limit, and what the rules come to together."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from jeval.app.settings import GateSettings
from jeval.gate import FailureGroup, GateFacts, GateVerdict, gate_facts, judge_gate
from jeval.result import CaseResult, Check
from jeval.rubric import Rubric
from jeval.ruling import Status, Verdict
from jeval.score import MetricResult
from jeval.summary import Summary
from tests.stores import rubric

CONF = Path(__file__).resolve().parent.parent / "conf" / "gate"


@dataclass
class Rules:
    """No limits, everything allowed, until a test says otherwise."""

    max_failures: int | None = None
    max_critical_failures: int | None = None
    max_review_rate: float | None = None
    min_decided_coverage: float | None = None
    allow_errors: bool = True
    allow_skipped_required: bool = True
    allow_empty_dataset: bool = True
    allow_simulated: bool = True
    min_scores: dict[str, float] = field(default_factory=dict)
    ignore_flips: bool = False


GOOD = GateFacts(cases=10, passes=10)


def judged(rules: dict[str, Any], facts: dict[str, Any]) -> GateVerdict:
    return judge_gate(Rules(**rules), replace(GOOD, **facts))


def bundled(name: str) -> GateSettings:
    return GateSettings.model_validate(yaml.safe_load((CONF / f"{name}.yaml").read_text(encoding="utf-8")))


FAILED = (FailureGroup(3),)
CRITICAL = (FailureGroup(2, critical=True), FailureGroup(4))


@pytest.mark.parametrize(
    ("rule", "limit", "facts", "code", "text"),
    [
        ("max_failures", 4, {"failures": FAILED}, 0, "failures 3 ≤ 4 allowed"),
        ("max_failures", 3, {"failures": FAILED}, 0, "failures 3 ≤ 3 allowed"),
        ("max_failures", 2, {"failures": FAILED}, 1, "failures 3 > 2 allowed"),
        ("max_failures", 0, {}, 0, "failures 0 ≤ 0 allowed"),
        ("max_failures", None, {"failures": FAILED}, 0, "failures 3, no limit"),
        ("max_critical_failures", 3, {"failures": CRITICAL}, 0, "critical failures 2 ≤ 3 allowed"),
        ("max_critical_failures", 2, {"failures": CRITICAL}, 0, "critical failures 2 ≤ 2 allowed"),
        ("max_critical_failures", 1, {"failures": CRITICAL}, 1, "critical failures 2 > 1 allowed"),
        ("max_critical_failures", None, {"failures": CRITICAL}, 0, "critical failures 2, no limit"),
        ("max_review_rate", 0.3, {"passes": 8, "reviews": 2}, 0, "review rate 20.0% (2 of 10) ≤ 30% allowed"),
        ("max_review_rate", 0.2, {"passes": 8, "reviews": 2}, 0, "review rate 20.0% (2 of 10) ≤ 20% allowed"),
        ("max_review_rate", 0.1, {"passes": 8, "reviews": 2}, 2, "review rate 20.0% (2 of 10) > 10% allowed"),
        ("max_review_rate", 0.0, {}, 0, "review rate 0.0% (0 of 10) ≤ 0% allowed"),
        ("max_review_rate", 0.0, {"passes": 0}, 0, "review rate of no applicable checks"),
        ("max_review_rate", None, {"reviews": 10}, 0, "review rate 50.0% (10 of 20), no limit"),
        ("min_decided_coverage", 0.7, {"passes": 8, "reviews": 2}, 0, "80.0% (8 of 10) ≥ 70% required"),
        ("min_decided_coverage", 0.8, {"passes": 8, "reviews": 2}, 0, "80.0% (8 of 10) ≥ 80% required"),
        ("min_decided_coverage", 0.805, {"passes": 8, "errors": 2}, 2, "80.0% (8 of 10) < 80.5% required"),
        ("min_decided_coverage", 1.0, {"passes": 0}, 0, "decided coverage of no applicable checks"),
        ("min_decided_coverage", 1.0, {"failures": FAILED}, 0, "100.0% (13 of 13) ≥ 100% required"),
        ("allow_errors", False, {}, 0, "errors 0, none allowed"),
        ("allow_errors", False, {"errors": 1}, 2, "errors 1, none allowed"),
        ("allow_errors", False, {"score_errors": 1}, 2, "errors 1, none allowed"),
        ("allow_errors", True, {"errors": 1}, 0, "errors 1, allowed"),
        ("allow_errors", False, {"unevaluated": 4}, 2, "cases not evaluated 4, none allowed"),
        ("allow_errors", True, {"unevaluated": 4}, 0, "cases not evaluated 4, allowed"),
        ("allow_skipped_required", False, {}, 0, "required rubrics skipped for every case 0, none allowed"),
        ("allow_skipped_required", False, {"skipped_everywhere": ("tone",)}, 2, "1 (tone), none allowed"),
        ("allow_skipped_required", True, {"skipped_everywhere": ("tone",)}, 0, "1 (tone), allowed"),
        ("allow_empty_dataset", False, {"cases": 1}, 0, "cases 1, at least 1 required"),
        ("allow_empty_dataset", False, {"cases": 0, "passes": 0}, 2, "cases 0, at least 1 required"),
        ("allow_empty_dataset", True, {"cases": 0, "passes": 0}, 0, "cases 0, none needed"),
        ("allow_simulated", False, {}, 0, "no simulated judge"),
        ("allow_simulated", False, {"simulated": True}, 2, "simulated judge, none allowed"),
        ("allow_simulated", True, {"simulated": True}, 0, "simulated judge, allowed"),
        ("min_scores", {"m": 0.7}, {"scores": {"m": 0.8}}, 0, "score m 0.8 ≥ 0.7 required"),
        ("min_scores", {"m": 0.8}, {"scores": {"m": 0.8}}, 0, "score m 0.8 ≥ 0.8 required"),
        ("min_scores", {"m": 0.8}, {"scores": {"m": 0.8 - 1e-12}}, 0, "score m 0.8 ≥ 0.8 required"),
        ("min_scores", {"m": 0.9}, {"scores": {"m": 0.8}}, 1, "score m 0.8 < 0.9 required"),
        ("min_scores", {"m": 0.1}, {"scores": {"m": None}}, 2, "no case was scored, at least 0.1 required"),
        ("min_scores", {"m": 0.1}, {"scores": {"n": 1.0}}, 2, "the run has no such metric (it has n)"),
    ],
)  # fmt: skip
def test_a_rule_at_under_and_over_its_limit(rule: str, limit: Any, facts: dict[str, Any], code: int, text: str) -> None:
    verdict = judged({rule: limit}, facts)
    assert verdict.exit_code == code
    mine = [reason for reason in verdict.reasons if reason.rule.partition(".")[0] == rule]
    assert any(text in reason.text for reason in mine)
    assert [reason.holds for reason in verdict.broken] == ([False] if code else [])
    assert all(reason in mine for reason in verdict.broken)


def test_every_rule_is_told_those_that_hold_included() -> None:
    told = {reason.rule for reason in judged({"min_scores": {"m": 0.5}}, {"scores": {"m": 1.0}}).reasons}
    assert told >= {*Rules.__dataclass_fields__} - {"min_scores", "ignore_flips"} | {"min_scores.m"}


def test_a_quality_failure_outweighs_what_is_incomplete() -> None:
    rules = {"max_failures": 0, "allow_errors": False, "max_review_rate": 0.0}
    verdict = judged(rules, {"failures": FAILED, "errors": 1, "reviews": 1})
    assert verdict.exit_code == 1
    assert {reason.rule for reason in verdict.broken} == {"max_failures", "allow_errors", "max_review_rate"}


def test_failures_by_a_simulated_judge_are_no_failures() -> None:
    rules = {"max_failures": 0, "allow_simulated": False}
    assert judged(rules, {"failures": FAILED, "simulated": True}).exit_code == 2
    assert judged({**rules, "allow_simulated": True}, {"failures": FAILED, "simulated": True}).exit_code == 1


@pytest.mark.parametrize(("allowed", "code"), [(False, 2), (True, 0)])
def test_no_mean_of_a_simulated_judge_reaches_its_least_unless_such_judges_are_allowed(
    allowed: bool, code: int
) -> None:
    rules = {"min_scores": {"m": 0.8}, "allow_simulated": allowed}
    verdict = judged(rules, {"scores": {"m": 1.0}, "simulated": True})
    (reason,) = (reason for reason in verdict.reasons if reason.rule == "min_scores.m")
    assert (verdict.exit_code, reason.holds) == (code, allowed)
    assert "simulated" in reason.text and "says nothing" in reason.text


def test_only_failures_the_baseline_did_not_have_count() -> None:
    groups = (FailureGroup(2, known=True), FailureGroup(1, critical=True, known=True), FailureGroup(1))
    verdict = judged({"max_failures": 0, "max_critical_failures": 0}, {"failures": groups, "baseline": "r1"})
    (reason,) = verdict.broken
    assert reason.text == "failures 1 > 0 allowed (3 more in the baseline r1 too)"
    known_only = judged({"max_failures": 0}, {"failures": groups[:2], "baseline": "r1"})
    assert known_only.exit_code == 0


def test_a_simulated_baseline_excuses_no_real_failure() -> None:
    facts = {"failures": (FailureGroup(2, known=True),), "baseline": "r1", "baseline_simulated": True}
    verdict = judged({"max_failures": 1}, facts)
    assert verdict.exit_code == 1
    assert [reason.rule for reason in verdict.broken] == ["max_failures", "baseline"]
    assert judged({"max_failures": 2}, facts).exit_code == 2


def test_failures_that_change_between_repeats_are_ignored_only_where_asked() -> None:
    groups = (FailureGroup(2, flips=True), FailureGroup(1, known=True, flips=True))
    assert judged({"max_failures": 0}, {"failures": groups}).exit_code == 1
    verdict = judged({"max_failures": 0, "ignore_flips": True}, {"failures": groups, "baseline": "r1"})
    assert verdict.exit_code == 0
    assert "2 more changing between repeats, ignored" in verdict.reasons[0].text
    assert "1 more in the baseline r1 too" in verdict.reasons[0].text


def test_optional_rubrics_are_told_and_gate_nothing() -> None:
    verdict = judged({"max_failures": 0, "max_critical_failures": 0}, {"optional_failures": 2})
    assert verdict.exit_code == 0
    assert verdict.reasons[0].text == "failures 0 ≤ 0 allowed (2 more of optional rubrics, reported only)"


def test_a_gate_with_nothing_to_judge_says_so() -> None:
    assert judged({}, {"passes": 0}).reasons[0].text == "no required check applied and no score is required"


@pytest.mark.parametrize(
    "facts",
    [
        {"reviews": 1},
        {"errors": 1},
        {"cases": 0, "passes": 0},
        {"skipped_everywhere": ("tone",)},
        {"simulated": True},
    ],
)
def test_the_strict_gate_lets_nothing_undecided_pass_and_off_lets_all(facts: dict[str, Any]) -> None:
    assert judge_gate(bundled("strict"), GOOD).exit_code == 0
    assert judge_gate(bundled("strict"), replace(GOOD, **facts)).exit_code == 2
    assert judge_gate(bundled("off"), replace(GOOD, **facts)).exit_code == 0


def test_the_lenient_gate_stops_at_a_critical_failure() -> None:
    facts = replace(GOOD, failures=(FailureGroup(5),), reviews=2, skipped_everywhere=("tone",))
    assert judge_gate(bundled("lenient"), facts).exit_code == 0
    worse = replace(facts, failures=(FailureGroup(1, critical=True),))
    assert judge_gate(bundled("lenient"), worse).exit_code == 1


def result(case: str, *statuses: tuple[Rubric, Status], scores: tuple[MetricResult, ...] = ()) -> CaseResult:
    checks = tuple(
        Check(case, used, Verdict(status, None, "a-rule", "why"), None, None, None, "{}") for used, status in statuses
    )
    return CaseResult(case, checks, scores)


def test_the_facts_of_a_summary_are_of_required_rubrics() -> None:
    hard, soft = rubric("booking", severity="critical"), rubric("style", severity="critical", required=False)
    idle = rubric("tone")
    summary = Summary()
    summary.add(result("a", (hard, "fail"), (soft, "fail"), (idle, "skipped")))
    summary.add(result("b", (hard, "pass"), (soft, "error"), (idle, "skipped")))
    summary.add(result("c", (hard, "review"), (soft, "review"), (idle, "skipped")))
    summary.add(result("d", (hard, "error"), (soft, "pass"), (idle, "skipped")))
    found = gate_facts(summary, cases=6, simulated=False)
    assert found.failures == (FailureGroup(1, critical=True), FailureGroup(0))
    assert (found.passes, found.reviews, found.errors, found.unevaluated) == (1, 1, 1, 2)
    assert (found.optional_failures, found.optional_critical_failures) == (1, 1)
    assert found.skipped_everywhere == ("tone",)
    assert found.applicable == 4
    told = (FailureGroup(1, critical=True, known=True),)
    assert gate_facts(summary, cases=6, simulated=False, failures=told, baseline="r").failures == told


@pytest.mark.parametrize(
    ("name", "errors", "code"),
    [("strict", True, 2), ("lenient", True, 2), ("off", True, 0), ("strict", False, 2), ("lenient", False, 0)],
)
def test_where_nothing_was_evaluated_no_gate_that_minds_why_is_passed(name: str, errors: bool, code: int) -> None:
    rules = bundled(name)
    verdict = judge_gate(rules, GateFacts(cases=10, evaluated=0, any_errors=errors))
    assert verdict.exit_code == code
    assert any("nothing was evaluated" in reason.text for reason in verdict.reasons)
    assert judge_gate(rules, GateFacts(cases=10, evaluated=1, passes=1)).exit_code == 0

"""What changed between two runs, and whether they may be compared."""

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeval.comparability import OneSided, Overlap, RunFacts, Versioned
from jeval.compare import CATEGORIES, Alignment, Change, Comparison, category, compare
from jeval.ruling import STATUSES
from jeval.significance import Pairs


def facts(run_id: str = "a", **more: Any) -> RunFacts:
    body: dict[str, Any] = {
        "id": run_id,
        "name": None,
        "status": "complete",
        "dataset": "orchard",
        "dataset_sha256": "d" * 64,
        "thresholds": "default",
        "threshold_pass": 0.75,
        "threshold_fail": 0.5,
        "gateway": "jev",
        "model_asked": "jev-1",
        "models_served": ("jev-1.13.0",),
        "simulated": False,
        "checks": 10,
        "rubrics": (Versioned("tone", "1.0.0", "a" * 64),),
    }
    return RunFacts(**{**body, **more})


def aligned(*changes: Change, overlap: Overlap | None = None) -> Alignment:
    return Alignment(overlap or Overlap(10, 5), changes, Pairs(5, 0, 0, 5), Pairs(2, 0, 0, 3))


def compared(before: dict[str, Any], after: dict[str, Any], overlap: Overlap | None = None) -> Comparison:
    return compare(facts("a", **before), facts("b", **after), aligned(overlap=overlap))


def change(before: str, after: str, **more: Any) -> Change:
    return Change("case-1", "tone", "1.0.0", before, after, **more)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("pass", "fail", "new_failures"),
        ("review", "fail", "new_failures"),
        ("fail", "pass", "resolved_failures"),
        ("fail", "review", "new_reviews"),
        ("pass", "review", "new_reviews"),
        ("error", "review", "new_reviews"),
        ("pass", "error", "new_errors"),
        ("fail", "error", "new_errors"),
        ("review", "pass", "other_changes"),
        ("error", "fail", "other_changes"),
        ("error", "pass", "other_changes"),
        ("skipped", "fail", "other_changes"),
        ("fail", "skipped", "other_changes"),
        ("skipped", "error", "other_changes"),
        ("skipped", "review", "other_changes"),
    ],
)
def test_a_change_belongs_in_one_list(before: str, after: str, expected: str) -> None:
    assert category(before, after) == expected


@given(st.sampled_from(STATUSES), st.sampled_from(STATUSES))
def test_swapping_the_runs_makes_of_what_is_resolved_what_is_new(before: str, after: str) -> None:
    if category(before, after) == "resolved_failures":
        assert category(after, before) == "new_failures"
    if category(before, after) == "new_failures":  # from review it is new, but back to review it is not resolved
        assert category(after, before) == ("resolved_failures" if before == "pass" else "new_reviews")


@given(st.sampled_from(STATUSES), st.sampled_from(STATUSES))
def test_only_what_passes_now_is_a_resolved_failure(before: str, after: str) -> None:
    assert (category(before, after) == "resolved_failures") == ((before, after) == ("fail", "pass"))


@given(st.lists(st.tuples(st.sampled_from(STATUSES), st.sampled_from(STATUSES)), max_size=10))
def test_every_changed_check_is_listed_once(pairs: list[tuple[str, str]]) -> None:
    changes = [change(before, after) for before, after in pairs if before != after]
    found = compare(facts("a"), facts("b"), aligned(*changes)).as_dict()
    assert sum(len(found[name]) for name in CATEGORIES) == len(changes)
    assert found["unchanged"] == 10 - len(changes)


def test_the_object_has_the_promised_keys_and_nothing_else() -> None:
    found = compare(facts("a"), facts("b"), aligned(change("pass", "fail"))).as_dict()
    assert list(found) == [
        "baseline",
        "candidate",
        "comparable",
        "issues",
        "unchanged",
        "new_failures",
        "resolved_failures",
        "new_reviews",
        "new_errors",
        "other_changes",
        "significance",
    ]
    assert found["baseline"] == "a"
    assert found["candidate"] == "b"
    assert found["new_failures"] == [
        {
            "case_id": "case-1",
            "rubric_id": "tone",
            "rubric_version": "1.0.0",
            "before": "pass",
            "after": "fail",
        }
    ]
    assert set(found["significance"]) == {"checks", "cases", "scores", "text"}


def test_the_same_run_has_no_issues() -> None:
    assert compare(facts(), facts(), aligned()).issues == ()
    assert compare(facts(checks=0), facts(checks=0), aligned(overlap=Overlap(0, 0))).comparable


@pytest.mark.parametrize(
    ("field", "before", "after", "said"),
    [
        ("dataset", {}, {"dataset_sha256": "e" * 64}, "orchard (dddddddd) against orchard (eeeeeeee)"),
        ("model", {}, {"model_asked": "jev-2"}, "jev-1 against jev-2"),
        ("model", {}, {"models_served": ("jev-1.14.0",)}, "jev-1.13.0 against jev-1.14.0"),
        ("model", {}, {"models_served": ()}, "jev-1.13.0 against an unknown model"),
        (
            "model",
            {},
            {"models_served": ("x", "y")},
            "several model versions answered in the candidate: x, y",
        ),
        ("gateway", {}, {"gateway": "vercel"}, "jev against vercel"),
        ("thresholds", {}, {"threshold_fail": 0.4}, "pass 0.75, fail 0.5 against pass 0.75, fail 0.4"),
        ("status", {}, {"status": "running"}, "the candidate has not ended"),
        ("rubrics", {}, {"rubrics": ()}, "tone 1.0.0 is only in the baseline"),
        ("rubrics", {"rubrics": ()}, {}, "tone 1.0.0 is only in the candidate"),
        ("metrics", {"metrics": (Versioned("m", "1", "a"),)}, {}, "metric m 1 is only in the baseline"),
        (
            "metrics",
            {"metrics": (Versioned("m", "1", "a"),)},
            {"metrics": (Versioned("m", "2", "b"),)},
            "metric m is version 1 against 2; its scores are not compared",
        ),
    ],
)
def test_a_difference_is_a_warning(field: str, before: Any, after: Any, said: str) -> None:
    found = compared(before, after)
    issues = [issue for issue in found.issues if issue.field == field]
    assert any(said in issue.message for issue in issues)
    assert {issue.severity for issue in issues} == {"warning"}
    assert found.comparable
    assert found.exit_code(fail_on_new=True) == 0


@pytest.mark.parametrize(
    ("field", "before", "after", "said"),
    [
        (
            "rubrics",
            {},
            {"rubrics": (Versioned("tone", "1.1.0", "b" * 64),)},
            "rubric tone is version 1.0.0 against 1.1.0; its checks are not compared",
        ),
        (
            "rubrics",
            {},
            {"rubrics": (Versioned("tone", "1.0.0", "b" * 64),)},
            "tone 1.0.0 has two contents under one version (aaaaaaaa against bbbbbbbb)",
        ),
        ("simulated", {"simulated": True}, {}, "the baseline was judged by a simulation"),
        ("simulated", {}, {"simulated": True}, "the candidate was judged by a simulation"),
    ],
)
def test_what_forbids_comparing_ends_in_2(field: str, before: Any, after: Any, said: str) -> None:
    found = compared(before, after)
    (issue,) = [issue for issue in found.issues if issue.field == field]
    assert issue.severity == "error"
    assert said in issue.message
    assert not found.comparable
    assert found.exit_code(fail_on_new=False) == 2


def test_runs_with_nothing_in_common_are_not_comparable() -> None:
    found = compared({}, {}, Overlap(0, 0, 0, OneSided(5, ("a",), 2), OneSided(5, ("b",), 0)))
    assert found.exit_code(fail_on_new=True) == 2


def test_what_forbids_comparing_hides_nothing() -> None:
    found = compare(facts("a"), facts("b", simulated=True), aligned(change("pass", "fail")))
    assert len(found.as_dict()["new_failures"]) == 1
    assert found.exit_code(fail_on_new=True) == 2


def test_two_names_for_the_same_thresholds_are_the_same_profile() -> None:
    assert compared({}, {"thresholds": "mine"}).issues == ()


def test_cases_of_one_run_only_and_changed_contents_are_counted_and_named() -> None:
    sides = (OneSided(7, ("c1", "c2"), 3), OneSided(1, ("d1",), 0))
    messages = [issue.message for issue in compared({}, {}, Overlap(10, 5, 2, *sides)).issues]
    assert messages == [
        "2 of 5 cases in both runs differ in content: a change there may be the case's own",
        "7 cases only in the baseline, not compared (3 failed there): c1, c2, …",
        "1 case only in the candidate, not compared (none failed there): d1",
    ]


def test_new_failures_of_required_rubrics_end_in_1_where_asked() -> None:
    found = compare(facts("a"), facts("b"), aligned(change("pass", "fail")))
    assert found.exit_code(fail_on_new=False) == 0
    assert found.exit_code(fail_on_new=True) == 1


def test_optional_rubrics_are_reported_but_gate_nothing() -> None:
    found = compare(facts("a"), facts("b"), aligned(change("pass", "fail", required=False)))
    assert len(found.as_dict()["new_failures"]) == 1
    assert found.exit_code(fail_on_new=True) == 0


def test_what_was_skipped_or_an_error_before_is_no_new_failure() -> None:
    for before, after in product(("skipped", "error"), ("fail",)):
        found = compare(facts("a"), facts("b"), aligned(change(before, after)))
        assert found.exit_code(fail_on_new=True) == 0
        assert len(found.changes["other_changes"]) == 1

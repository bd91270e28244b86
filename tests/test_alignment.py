"""Two stored runs side by side, against counting them by hand."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeval.compare import CATEGORIES, Comparison, category, compare
from jeval.ruling import STATUSES
from jeval.significance import Pairs
from jeval.store.alignment import align, run_facts
from jeval.store.find import find_run
from tests.stores import add_run, new_store, rubric

RUBRICS = [rubric("booking", severity="critical"), rubric("style", required=False), rubric("tone")]


def comparison(connection: Any, a: str = "a", b: str = "b") -> Comparison:
    before, after = find_run(connection, a), find_run(connection, b)
    return compare(run_facts(connection, before), run_facts(connection, after), align(connection, before, after))


statuses = st.sampled_from(STATUSES)
runs = st.dictionaries(
    st.sampled_from([f"case-{i}" for i in range(6)]), st.tuples(statuses, statuses, statuses), max_size=6
)


def checks_of(run: dict[str, tuple[str, ...]]) -> dict[tuple[str, str], str]:
    return {(case, r.id): status for case, row in run.items() for r, status in zip(RUBRICS, row, strict=True)}


@given(runs, runs)
def test_every_number_is_what_counting_by_hand_gives(
    tmp_path_factory: pytest.TempPathFactory, before: Any, after: Any
) -> None:
    connection = new_store(tmp_path_factory.mktemp("store"))
    add_run(connection, "a", checks_of(before), RUBRICS)
    add_run(connection, "b", checks_of(after), RUBRICS)
    found = comparison(connection)
    a, b = checks_of(before), checks_of(after)
    both = [(key, a[key], b[key]) for key in a if key in b]
    assert found.unchanged == sum(x == y for _, x, y in both)
    for name in CATEGORIES:
        expected = {key for key, x, y in both if x != y and category(x, y) == name}
        assert {(c.case_id, c.rubric_id) for c in found.changes[name]} == expected
    pairs = Counter((x, y) for _, x, y in both)
    assert found.alignment.checks == Pairs(
        pairs["pass", "pass"], pairs["pass", "fail"], pairs["fail", "pass"], pairs["fail", "fail"]
    )
    assert found.alignment.cases == by_case(both)
    overlap = found.alignment.overlap
    assert overlap.checks == len(both)
    assert overlap.cases == len(before.keys() & after.keys())
    assert overlap.baseline_only.cases == len(before.keys() - after.keys())
    only = [status for (case, _), status in b.items() if case not in before]
    assert overlap.candidate_only.failures == only.count("fail")
    connection.close()


def by_case(both: list[tuple[tuple[str, str], str, str]]) -> Pairs:
    decided = [(key[0], x, y) for key, x, y in both if key[1] != "style" and {x, y} <= {"pass", "fail"}]
    counts: Counter[tuple[bool, bool]] = Counter()
    for case in {case for case, _, _ in decided}:
        mine = [(x, y) for name, x, y in decided if name == case]
        counts[any(x == "fail" for x, _ in mine), any(y == "fail" for _, y in mine)] += 1
    return Pairs(counts[False, False], counts[False, True], counts[True, False], counts[True, True])


@given(runs, runs)
def test_swapping_the_runs_mirrors_the_comparison(
    tmp_path_factory: pytest.TempPathFactory, before: Any, after: Any
) -> None:
    connection = new_store(tmp_path_factory.mktemp("store"))
    add_run(connection, "a", checks_of(before), RUBRICS)
    add_run(connection, "b", checks_of(after), RUBRICS)
    there, back = comparison(connection, "a", "b"), comparison(connection, "b", "a")
    named = {(c.case_id, c.rubric_id) for c in there.changes["new_failures"] if c.before == "pass"}
    assert named == {(c.case_id, c.rubric_id) for c in back.changes["resolved_failures"]}
    assert there.unchanged == back.unchanged
    assert there.alignment.checks.lost == back.alignment.checks.gained
    assert there.alignment.cases.lost == back.alignment.cases.gained
    connection.close()


@given(runs)
def test_a_run_compared_with_itself_has_no_change_and_no_issue(
    tmp_path_factory: pytest.TempPathFactory, run: Any
) -> None:
    connection = new_store(tmp_path_factory.mktemp("store"))
    add_run(connection, "a", checks_of(run), RUBRICS)
    found = comparison(connection, "a", "a").as_dict()
    assert found["comparable"]
    assert found["issues"] == []
    assert not any(found[name] for name in CATEGORIES)
    assert found["unchanged"] == len(checks_of(run))
    connection.close()


def test_a_rubric_of_another_version_is_left_out_and_the_rest_compared(tmp_path: Path) -> None:
    connection = new_store(tmp_path)
    checks = {("c", "tone"): "pass", ("c", "booking"): "pass"}
    add_run(connection, "a", checks, [rubric("tone"), rubric("booking")])
    worse = dict.fromkeys(checks, "fail")
    add_run(connection, "b", worse, [rubric("tone", "2.0.0", criterion="Anew."), rubric("booking")])
    found = comparison(connection)
    assert not found.comparable
    assert [c.rubric_id for c in found.changes["new_failures"]] == ["booking"]
    assert found.alignment.checks == Pairs(0, 1, 0, 0)
    assert found.alignment.cases == Pairs(0, 1, 0, 0)


def test_cases_align_by_id_even_where_their_content_differs(tmp_path: Path) -> None:
    connection = new_store(tmp_path)
    add_run(connection, "a", {("c", "tone"): "pass", ("d", "tone"): "pass"})
    add_run(
        connection,
        "b",
        {("c", "tone"): "fail", ("d", "tone"): "pass"},
        contents={"c": "Pears rot at once."},
        dataset_sha256="e" * 64,
    )
    found = comparison(connection)
    assert len(found.changes["new_failures"]) == 1
    assert found.alignment.overlap.other_content == 1
    assert {issue.field for issue in found.issues} == {"dataset", "cases"}


def test_a_check_missing_on_one_side_does_not_upset_the_counts(tmp_path: Path) -> None:
    connection = new_store(tmp_path)
    both = {("c", "tone"): "pass", ("c", "booking"): "pass", ("d", "tone"): "fail", ("d", "booking"): "fail"}
    lacking = {key: status for key, status in both.items() if key != ("d", "booking")}
    used = [rubric("tone"), rubric("booking")]
    add_run(connection, "a", both, used)
    add_run(connection, "b", lacking, used)
    for there, back in (("a", "b"), ("b", "a")):
        found = comparison(connection, there, back)
        assert found.unchanged == 3
        assert found.alignment.checks == Pairs(2, 0, 0, 1)


def test_changes_come_with_why_and_the_critical_ones_first(tmp_path: Path) -> None:
    connection = new_store(tmp_path)
    keys = [("c", "tone"), ("c", "style"), ("d", "booking")]
    add_run(connection, "a", dict.fromkeys(keys, "pass"), RUBRICS)
    add_run(connection, "b", dict.fromkeys(keys, "fail"), RUBRICS, reasons={keys[2]: "no room"}, flips=[keys[0]])
    first, *rest = comparison(connection).changes["new_failures"]
    assert first == (
        "d",
        "booking",
        "1.0.0",
        "pass",
        "fail",
        "critical",
        True,
        "it was pass",
        "no room",
        False,
    )
    assert [(c.rubric_id, c.required, c.flips) for c in rest] == [
        ("style", False, False),
        ("tone", True, True),
    ]


def test_scores_are_paired_by_case(tmp_path: Path) -> None:
    connection = new_store(tmp_path)
    before = {("c", "m"): 0.5, ("d", "m"): 0.25, ("e", "m"): None, ("f", "m"): 1.0}
    after = {("c", "m"): 0.75, ("d", "m"): 0.5, ("e", "m"): 0.5}
    add_run(connection, "a", {}, [], scores=before)
    add_run(connection, "b", {}, [], scores=after)
    found = comparison(connection).as_dict()["significance"]["scores"]["m"]
    assert (found["pairs"], found["before"], found["after"], found["change"]) == (2, 0.375, 0.625, 0.25)
    assert (found["low"], found["high"], found["method"]) == (0.25, 0.25, "bootstrap")
    assert (found["only_before"], found["only_after"]) == (1, 1)


def test_models_that_answered_are_told_apart(tmp_path: Path) -> None:
    connection = new_store(tmp_path)
    add_run(connection, "a", {("c", "tone"): "pass"}, model_served="jev-1.13.0, jev-1.14.0")
    add_run(connection, "b", {("c", "tone"): "pass"}, model_served=None)
    assert run_facts(connection, find_run(connection, "a")).models_served == ("jev-1.13.0", "jev-1.14.0")
    assert run_facts(connection, find_run(connection, "b")).models_served == ()

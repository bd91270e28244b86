"""A run's failures, sorted for the gate."""

from pathlib import Path

from jeval.gate import FailureGroup
from jeval.store.failures import failure_groups
from tests.stores import add_run, new_store, rubric

RUBRICS = [rubric("booking", severity="critical"), rubric("style", required=False), rubric("tone")]


def test_failures_of_required_rubrics_are_counted_by_what_may_excuse_them(tmp_path: Path) -> None:
    connection = new_store(tmp_path)
    cases = ("a", "b", "c")
    everything = dict.fromkeys([(case, r.id) for case in cases for r in RUBRICS], "fail")
    before = {**everything, ("a", "tone"): "pass", ("b", "booking"): "skipped"}
    base = add_run(connection, "base", before, RUBRICS)
    run = add_run(connection, "run", everything, RUBRICS, flips=[("c", "tone"), ("a", "style")])
    assert sorted(failure_groups(connection, run, base)) == [
        FailureGroup(1, critical=False, known=False, flips=False),
        FailureGroup(1, critical=False, known=True, flips=False),
        FailureGroup(1, critical=False, known=True, flips=True),
        FailureGroup(1, critical=True, known=False, flips=False),
        FailureGroup(2, critical=True, known=True, flips=False),
    ]
    assert sorted(failure_groups(connection, run)) == [
        FailureGroup(1, critical=False, flips=True),
        FailureGroup(2, critical=False),
        FailureGroup(3, critical=True),
    ]


def test_a_failure_under_another_version_of_the_rubric_is_not_known(tmp_path: Path) -> None:
    connection = new_store(tmp_path)
    base = add_run(connection, "base", {("a", "tone"): "fail"}, [rubric("tone")])
    run = add_run(connection, "run", {("a", "tone"): "fail"}, [rubric("tone", "2.0.0", criterion="Anew.")])
    assert failure_groups(connection, run, base) == (FailureGroup(1),)


def test_a_run_without_failures_has_no_group(tmp_path: Path) -> None:
    connection = new_store(tmp_path)
    run = add_run(connection, "run", {("a", "tone"): "pass"})
    assert failure_groups(connection, run) == ()

"""What is read of a stored run, against what was stored."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from jeval.report.junit import junit
from jeval.report.overview import STATUSES
from jeval.ruling import STATUSES as RULING
from jeval.store.find import find_run
from jeval.store.reading import (
    CheckFilter,
    count_runs,
    read_checks,
    read_overview,
    read_runs,
    read_scores,
    read_suites,
)
from tests.stores import add_run, new_store, rubric

USED = [
    rubric("booking", severity="critical"),
    rubric("style", required=False, severity="minor"),
    rubric("tone"),
]
CHECKS = {
    (case, used.id): status
    for case, row in {
        "a": ("pass", "fail", "review"),
        "b": ("fail", "pass", "error"),
        "c": ("skipped", "skipped", "fail"),
    }.items()
    for used, status in zip(USED, row, strict=True)
}


def test_the_statuses_are_those_of_the_rules() -> None:
    assert STATUSES == RULING


def test_an_overview_counts_what_the_checks_are(tmp_path: Path) -> None:
    connection = new_store(tmp_path)
    add_run(connection, "r", CHECKS, USED, tags='{"branch":"main"}', cost_usd=0.5, judgments_asked=7)
    found = read_overview(connection, find_run(connection, "r"))
    assert found.counts == {"pass": 2, "fail": 3, "review": 1, "skipped": 2, "error": 1}
    assert (found.decided, found.applicable, found.critical_failures) == (5, 7, 1)
    assert [line.id for line in found.rubrics] == ["booking", "style", "tone"]
    assert found.tags == {"branch": "main"}
    assert (found.cost_usd, found.asked, found.input_tokens) == (0.5, 7, None)
    assert found.model == "jev-1.13.0"
    assert found.ended


def test_a_rubric_that_no_case_came_to_has_zeros(tmp_path: Path) -> None:
    connection = new_store(tmp_path)
    add_run(connection, "r", {}, USED, model_served=None, status="running")
    found = read_overview(connection, find_run(connection, "r"))
    assert sum(found.counts.values()) == 0
    assert found.model == "jev-1"
    assert not found.ended


def test_the_worst_checks_come_first(tmp_path: Path) -> None:
    connection = new_store(tmp_path)
    run = add_run(connection, "r", CHECKS, USED)
    found = [(check.status, check.case_id, check.rubric_id) for check in read_checks(connection, run)]
    assert found == [
        ("fail", "b", "booking"),
        ("fail", "c", "tone"),
        ("fail", "a", "style"),
        ("error", "b", "tone"),
        ("review", "a", "tone"),
        ("pass", "a", "booking"),
        ("pass", "b", "style"),
        ("skipped", "c", "booking"),
        ("skipped", "c", "style"),
    ]


@pytest.mark.parametrize(
    "wanted",
    [
        CheckFilter(),
        CheckFilter(statuses=("fail",)),
        CheckFilter(statuses=("fail", "error"), rubrics=("tone",)),
        CheckFilter(severities=("critical", "minor")),
        CheckFilter(kinds=("escalation",)),
    ],
)
def test_a_filter_counts_what_it_lets_through(tmp_path: Path, wanted: CheckFilter) -> None:
    connection = new_store(tmp_path)
    run = add_run(connection, "r", CHECKS, USED)
    everything = list(read_checks(connection, run))
    chosen = list(read_checks(connection, run, wanted))
    assert chosen == [check for check in everything if wanted.lets_through(check)]
    assert wanted.count(read_overview(connection, find_run(connection, "r"))) == len(chosen)
    assert list(read_checks(connection, run, wanted, 1)) == chosen[:1]


def test_checks_of_another_run_are_not_read(tmp_path: Path) -> None:
    connection = new_store(tmp_path)
    add_run(connection, "r", CHECKS, USED)
    other = add_run(connection, "s", {("a", "tone"): "pass"}, USED)
    assert [check.case_id for check in read_checks(connection, other)] == ["a"]


def test_runs_are_read_newest_first_and_counted(tmp_path: Path) -> None:
    connection = new_store(tmp_path)
    for name in "abc":
        add_run(connection, name, {}, [])
    assert [run.id for run in read_runs(connection)] == ["c", "b", "a"]
    assert [run.id for run in read_runs(connection, 1)] == ["c"]
    assert count_runs(connection) == 3


def test_a_stored_run_is_a_valid_junit_document(tmp_path: Path) -> None:
    connection = new_store(tmp_path)
    scores = {("a", "m"): 0.9, ("b", "m"): 0.1, ("c", "m"): None}
    run = add_run(connection, "r", CHECKS, USED, scores=scores)
    overview = read_overview(connection, find_run(connection, "r"))
    metrics = [(line, read_scores(connection, run, line.id)) for line in overview.scores]
    text = "".join(junit(overview, read_suites(connection, run, overview), metrics))
    root = ElementTree.fromstring(text.encode())
    names = [suite.attrib["name"] for suite in root.iter("testsuite")]
    assert names == ["booking 1.0.0", "style 1.0.0", "tone 1.0.0", "m 1.0.0"]
    assert root.attrib["tests"] == "12"
    for element in (root, *root.iter("testsuite")):
        assert int(element.attrib["tests"]) == len(list(element.iter("testcase")))
        assert int(element.attrib["failures"]) == len(list(element.iter("failure")))

"""A run as JUnit XML."""

from typing import Any
from xml.etree import ElementTree

import pytest

from jeval.report.junit import CaseScore, junit
from jeval.report.overview import CheckLine, RubricLine, ScoreLine
from tests.reports import HOSTILE, check_line, overview, rubric_line

ONE_EACH = {"passed": 1, "fail": 1, "review": 1, "skipped": 1, "error": 1}
STATUSES = ("pass", "fail", "review", "skipped", "error")


def parsed(*suites: tuple[RubricLine, list[CheckLine]], **more: Any) -> ElementTree.Element:
    run = overview(*(line for line, _ in suites), scores=tuple(line for line, _ in more.get("scores", ())))
    return ElementTree.fromstring("".join(junit(run, suites, **more)).encode())


def outcomes(suite: ElementTree.Element) -> dict[str, str]:
    """Each test's name and what became of it."""
    found = {}
    for test in suite.iter("testcase"):
        inner = list(test)
        found[test.attrib["name"]] = inner[0].tag if inner else "passed"
    return found


def one_each(**more: Any) -> list[CheckLine]:
    return [check_line(status, status, **more) for status in STATUSES]


def test_a_suite_is_a_rubric_and_a_test_a_case() -> None:
    root = parsed((rubric_line(**ONE_EACH), one_each()))
    (suite,) = root.iter("testsuite")
    assert suite.attrib["name"] == "tone 1.0.0"
    assert outcomes(suite) == {
        "pass": "passed",
        "fail": "failure",
        "review": "skipped",
        "skipped": "skipped",
        "error": "error",
    }
    assert {test.attrib["classname"] for test in suite.iter("testcase")} == {"tone"}


@pytest.mark.parametrize("required", [True, False])
@pytest.mark.parametrize("reviews_fail", [True, False])
def test_the_counts_in_the_heads_are_those_of_the_tests(required: bool, reviews_fail: bool) -> None:
    line = rubric_line(required=required, **ONE_EACH)
    scores = (
        (
            ScoreLine("m", "1.0.0", 0.5, 2, 1, 1, 1),
            [
                CaseScore("a", "scored", 0.9, True, 0.5, "good"),
                CaseScore("b", "scored", 0.1, False, 0.5, "bad"),
                CaseScore("c", "skipped", None, None, 0.5, "nothing to score"),
                CaseScore("d", "error", None, None, 0.5, "no answer"),
            ],
        ),
    )
    root = parsed((line, one_each(required=required)), scores=scores, reviews_fail=reviews_fail)
    for element in (root, *root.iter("testsuite")):
        tests = list(element.iter("testcase"))
        assert int(element.attrib["tests"]) == len(tests)
        for tag, name in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
            assert int(element.attrib[name]) == len(list(element.iter(tag)))


def test_a_failure_carries_its_severity_its_reason_and_what_decided_it() -> None:
    root = parsed((rubric_line(severity="critical", fail=1), [check_line(severity="critical")]))
    (failure,) = root.iter("failure")
    assert failure.attrib == {"message": "p(unacceptable) 0.8 ≥ fail 0.5", "type": "critical"}
    assert (failure.text or "").splitlines() == [
        "rule: fail-threshold",
        "outcome: unacceptable",
        'probabilities: {"acceptable": 0.2, "unacceptable": 0.8}',
        "criterion: It is polite.",
    ]


def test_a_review_is_a_failure_only_where_the_gate_counts_it() -> None:
    suite = (rubric_line(review=1), [check_line(status="review", reason="undecided")])
    (skipped,) = parsed(suite).iter("skipped")
    assert skipped.attrib == {"message": "for review: undecided"}
    (failure,) = parsed(suite, reviews_fail=True).iter("failure")
    assert failure.attrib == {"message": "for review: undecided", "type": "review"}


def test_an_optional_rubric_fails_no_test() -> None:
    root = parsed((rubric_line(required=False, **ONE_EACH), one_each(required=False)), reviews_fail=True)
    assert set(outcomes(root).values()) == {"passed", "skipped"}
    messages = [skipped.attrib["message"] for skipped in root.iter("skipped")]
    assert messages[0] == "fail, optional: p(unacceptable) 0.8 ≥ fail 0.5"


def test_each_suite_says_which_run_it_is_of() -> None:
    root = parsed((rubric_line(passed=1), [check_line(status="pass")]))
    found = {item.attrib["name"]: item.attrib["value"] for item in root.iter("property")}
    assert found["run"] == "20260101-000000-abcdef"
    assert found["model"] == "jev-1.13.0"
    assert found["thresholds"] == "pass 0.75, fail 0.5"
    (suite,) = root.iter("testsuite")
    assert suite.attrib["timestamp"] == "2026-01-01T00:00:00"


def test_hostile_text_adds_no_element() -> None:
    check = check_line(HOSTILE, rubric_id=HOSTILE, reason=HOSTILE, criterion=HOSTILE, outcome=HOSTILE)
    root = parsed((rubric_line(HOSTILE, fail=1), [check]))
    assert [element.tag for element in root.iter() if element.tag not in ("properties", "property")] == [
        "testsuites",
        "testsuite",
        "testcase",
        "failure",
    ]
    (test,) = root.iter("testcase")
    assert test.attrib["name"].startswith("</testcase>]]><!--&amp;\\x00\\x1b[2J\\ud800\\ufffe\\r\n::error::gotcha%0A")


def test_an_empty_run_is_a_valid_document() -> None:
    assert parsed().attrib["tests"] == "0"

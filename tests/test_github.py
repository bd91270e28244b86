"""A run in a workflow: its step's summary and its annotations."""

import re

from jeval.gate import GateReason, GateVerdict
from jeval.report.github import ANNOTATIONS, github_annotations, github_summary
from jeval.report.overview import ScoreLine
from tests.reports import HOSTILE, check_line, overview, rubric_line

PASSED = GateVerdict(0, (GateReason("max_failures", True, "failures 0 ≤ 0 allowed", 1),))
BROKEN = GateVerdict(
    1,
    (
        GateReason("max_failures", False, "failures 3 > 0 allowed", 1),
        GateReason("allow_errors", True, "errors 0, none allowed", 2),
    ),
)


def test_the_summary_begins_with_the_verdict_and_the_critical_failures() -> None:
    run = overview(rubric_line("booking", severity="critical", fail=2), rubric_line(passed=4))
    assert github_summary(run, BROKEN).startswith("## jeval: gate failed, 2 critical failures\n")
    assert github_summary(overview(), PASSED).startswith("## jeval: gate passed, no critical failures\n")
    incomplete = GateVerdict(2, (GateReason("allow_errors", False, "errors 1, none allowed", 2),))
    assert "## jeval: gate not passed: incomplete" in github_summary(overview(), incomplete)
    assert github_summary(overview(), None).startswith("## jeval, no critical failures\n")


def test_the_summary_shows_every_rule_rubric_and_metric() -> None:
    run = overview(
        rubric_line("booking", severity="critical", fail=1, passed=1203),
        rubric_line("style", required=False, review=1),
        scores=(ScoreLine("m", "1.0.0", 0.5, 2, 1, 0, 0), ScoreLine("n", "1.0.0", None, 0, 0, 2, 0)),
    )
    text = github_summary(run, BROKEN)
    assert "| ✕ | failures 3 &#62; 0 allowed |" in text
    assert "| ✓ | errors 0, none allowed |" in text
    assert "| <code>booking 1.0.0</code> | critical | 1,203 | 1 | 0 | 0 | 0 |" in text
    assert "| <code>style 1.0.0</code> | major, optional | 0 | 0 | 1 | 0 | 0 |" in text
    assert "| **all** | | **1,203** | **1** | **1** | **0** | **0** |" in text
    assert "| <code>m</code> | 0.500 | 2 | 1 | 0 | 0 |" in text
    assert "| <code>n</code> | – | 0 | 0 | 2 | 0 |" in text


def test_a_simulated_run_says_so() -> None:
    assert "**Simulated**" in github_summary(overview(simulated=True), None)
    assert "Simulated" not in github_summary(overview(), None)


def test_failures_are_listed_as_far_as_people_read_and_the_rest_counted() -> None:
    failures = [check_line(f"case-{i}") for i in range(30)]
    text = github_summary(overview(rubric_line(fail=40)), BROKEN, failures)
    assert text.count("<code>tone</code>") == 25
    assert "… and 15 more failures." in text
    few = github_summary(overview(rubric_line(fail=1)), BROKEN, failures[:1])
    assert "more failures" not in few


def test_failures_stand_beside_the_beginning_of_their_answers() -> None:
    answers = {"case-1": "It is\n\nbooked. " * 50, "other": "Unseen."}
    text = github_summary(overview(rubric_line(fail=1)), BROKEN, [check_line()], answers=answers)
    (row,) = [line for line in text.splitlines() if line.startswith("| <code>case-1")]
    cell = row.split(" | ")[-1].removesuffix(" |")
    assert cell.startswith("It is booked&#46; It is")
    assert cell.endswith("…")
    assert "Unseen" not in text


def test_hostile_text_is_no_markup_in_the_summary() -> None:
    check = check_line(HOSTILE, rubric_id=HOSTILE, reason=HOSTILE)
    run = overview(rubric_line(HOSTILE, fail=1), name=HOSTILE, dataset=HOSTILE, model=HOSTILE, judge=HOSTILE)
    text = github_summary(run, BROKEN, [check], answers={HOSTILE: HOSTILE})
    assert set(re.findall(r"<[^>]*>", text)) == {"<code>", "</code>", "<!---->"}
    assert not re.search(r"\]\(|://|www\.|`|@\w|\x1b|\r", text)
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert {line.count("|") for line in rows if line.count("|") > 3} == {6, 8}


def test_the_broken_rules_are_annotated_before_the_failures() -> None:
    lines = github_annotations(BROKEN, [check_line("a", severity="critical"), check_line("b")])
    assert lines == [
        "::error title=jeval gate::failures 3 > 0 allowed",
        "::error title=critical%3A tone 1.0.0::a: p(unacceptable) 0.8 ≥ fail 0.5",
        "::error title=major%3A tone 1.0.0::b: p(unacceptable) 0.8 ≥ fail 0.5",
    ]


def test_failures_that_break_nothing_are_warnings() -> None:
    assert github_annotations(PASSED, [check_line()])[0].startswith("::warning title=")
    known = GateVerdict(2, (GateReason("allow_errors", False, "errors 1, none allowed", 2),))
    assert github_annotations(known, [check_line()])[1].startswith("::warning title=")
    optional = github_annotations(BROKEN, [check_line(required=False)])
    assert optional[1].startswith("::warning title=")


def test_no_more_annotations_than_github_shows() -> None:
    assert len(github_annotations(BROKEN, [check_line(f"case-{i}") for i in range(50)])) == ANNOTATIONS


def test_hostile_text_gives_no_command_of_its_own() -> None:
    check = check_line(HOSTILE, rubric_id=HOSTILE, reason=HOSTILE)
    for line in github_annotations(BROKEN, [check]):
        assert "\n" not in line
        assert "\r" not in line
        assert "\x1b" not in line
        assert line.startswith("::error title=")
    title = github_annotations(BROKEN, [check])[1].removeprefix("::error title=").partition("::")[0]
    assert "," not in title
    assert "gotcha%250A" in title

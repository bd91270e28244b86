"""A run as JUnit XML: a suite for each rubric, a test for each case, written as it is read.

A JUnit failure is what a gate counts, so that a build's colour and its exit code agree:

- a required check that failed is a failure of the rubric's severity;
- a required check for review is a skipped test that says so, or a failure of type "review" where the gate
  does not let reviews pass (`reviews_fail`);
- an error is an error, a skipped check is skipped;
- an optional check gates nothing: it passes, or is skipped with its status in the message;
- a metric passes, or fails at its own threshold; what was not scored is skipped, and so is what a simulated judge
  scored, for it cannot answer a metric's questions.

Tests carry no time: a request judges several checks at once.
"""

from collections.abc import Iterable, Iterator, Mapping
from json import dumps
from typing import NamedTuple

from jeval.report.escape import xml_attribute, xml_text
from jeval.report.overview import CheckLine, Overview, RubricLine, ScoreLine

__all__ = ["CaseScore", "junit"]


class CaseScore(NamedTuple):
    """One case's score by a metric. `status` is error, skipped, or anything else for scored."""

    case_id: str
    status: str
    score: float | None
    passed: bool | None
    threshold: float
    reason: str


class _Verdict(NamedTuple):
    """What becomes of a test: nothing, or an element with a message, a type and a text."""

    element: str
    message: str = ""
    type: str = ""
    text: str = ""


def junit(
    overview: Overview,
    suites: Iterable[tuple[RubricLine, Iterable[CheckLine]]],
    scores: Iterable[tuple[ScoreLine, Iterable[CaseScore]]] = (),
    *,
    reviews_fail: bool = False,
) -> Iterator[str]:
    """The document, line by line. The iterables are read once, in step with the lines."""
    totals = [_rubric_totals(line, reviews_fail=reviews_fail) for line in overview.rubrics]
    totals += [_score_totals(line, simulated=overview.simulated) for line in overview.scores]
    whole = {name: sum(total[name] for total in totals) for name in ("tests", "failures", "errors", "skipped")}
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield f"<testsuites{_attributes({'name': overview.name or overview.id, **whole})}>\n"
    for rubric, checks in suites:
        totals_here = _rubric_totals(rubric, reviews_fail=reviews_fail)
        properties = {
            "severity": rubric.severity,
            "required": str(rubric.required).lower(),
            "kind": rubric.kind,
        }
        yield _suite_head(overview, f"{rubric.id} {rubric.version}", totals_here, properties)
        for check in checks:
            yield _test(rubric.id, check.case_id, _check_verdict(check, reviews_fail=reviews_fail))
        yield "  </testsuite>\n"
    for metric, cases in scores:
        totals_here = _score_totals(metric, simulated=overview.simulated)
        yield _suite_head(overview, f"{metric.id} {metric.version}", totals_here, {"kind": "metric"})
        for case in cases:
            yield _test(metric.id, case.case_id, _score_verdict(case, simulated=overview.simulated))
        yield "  </testsuite>\n"
    yield "</testsuites>\n"


def _rubric_totals(line: RubricLine, *, reviews_fail: bool) -> dict[str, int]:
    counts = line.counts
    tests = sum(counts.values())
    if not line.required:
        return {"tests": tests, "failures": 0, "errors": 0, "skipped": tests - counts["pass"]}
    reviews = counts["review"]
    return {
        "tests": tests,
        "failures": counts["fail"] + (reviews if reviews_fail else 0),
        "errors": counts["error"],
        "skipped": counts["skipped"] + (0 if reviews_fail else reviews),
    }


def _score_totals(line: ScoreLine, *, simulated: bool) -> dict[str, int]:
    failures = 0 if simulated else line.scored - line.passed
    skipped = line.skipped + (line.scored if simulated else 0)
    tests = line.scored + line.skipped + line.errors
    return {"tests": tests, "failures": failures, "errors": line.errors, "skipped": skipped}


def _suite_head(overview: Overview, name: str, totals: Mapping[str, int], more: Mapping[str, str]) -> str:
    # JUnit's timestamps are without zone; ours are UTC.
    stamp = overview.started_at.partition(".")[0].removesuffix("Z")
    thresholds = f"pass {overview.threshold_pass}, fail {overview.threshold_fail}"
    properties = {
        "run": overview.id,
        "dataset": overview.dataset,
        "judge": overview.judge,
        "model": overview.model,
        "simulated": str(overview.simulated).lower(),
        "thresholds": thresholds,
        **more,
    }
    lines = [
        f"  <testsuite{_attributes({'name': name, **totals, 'timestamp': stamp})}>\n",
        "    <properties>\n",
    ]
    lines += [f"      <property{_attributes({'name': key, 'value': value})}/>\n" for key, value in properties.items()]
    return "".join([*lines, "    </properties>\n"])


def _check_verdict(check: CheckLine, *, reviews_fail: bool) -> _Verdict | None:
    if check.status == "pass":
        return None
    if check.status == "skipped":
        return _Verdict("skipped", check.reason)
    if not check.required:
        return _Verdict("skipped", f"{check.status}, optional: {check.reason}")
    if check.status == "error":
        return _Verdict("error", check.reason, "error", _details(check))
    if check.status == "fail":
        return _Verdict("failure", check.reason, check.severity, _details(check))
    if reviews_fail:
        return _Verdict("failure", f"for review: {check.reason}", "review", _details(check))
    return _Verdict("skipped", f"for review: {check.reason}")


def _details(check: CheckLine) -> str:
    lines = [f"rule: {check.rule}"]
    if check.outcome is not None:
        lines.append(f"outcome: {check.outcome}")
    if check.probabilities is not None:
        lines.append(f"probabilities: {dumps(check.probabilities, ensure_ascii=False)}")
    if check.criterion is not None:
        lines.append(f"criterion: {check.criterion}")
    return "\n".join(lines)


def _score_verdict(case: CaseScore, *, simulated: bool) -> _Verdict | None:
    if case.status == "error":
        return _Verdict("error", case.reason, "error")
    if case.score is None:
        return _Verdict("skipped", case.reason)
    if simulated:
        return _Verdict("skipped", f"simulated: {case.score:.4g} says nothing about the answer")
    if case.passed:
        return None
    return _Verdict("failure", f"{case.score:.4g} < {case.threshold:g}: {case.reason}", "score")


def _test(classname: str, name: str, verdict: _Verdict | None) -> str:
    head = f"    <testcase{_attributes({'classname': classname, 'name': name})}"
    if verdict is None:
        return f"{head}/>\n"
    attributes = {"message": verdict.message, **({"type": verdict.type} if verdict.type else {})}
    inner = f"<{verdict.element}{_attributes(attributes)}"
    inner += f">{xml_text(verdict.text)}</{verdict.element}>" if verdict.text else "/>"
    return f"{head}>\n      {inner}\n    </testcase>\n"


def _attributes(values: Mapping[str, object]) -> str:
    return "".join(f' {name}="{xml_attribute(str(value))}"' for name, value in values.items())

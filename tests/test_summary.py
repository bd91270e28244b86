"""Counts and rates of a run: they add up, and each rate has its denominator."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeval.metric import Metric
from jeval.question import Answer
from jeval.result import CaseResult, Check
from jeval.rubric import Rubric
from jeval.ruling import STATUSES, Status, Verdict
from jeval.score import MetricResult, metric_error, metric_skipped, score_metric
from jeval.summary import Summary
from tests.samples import rubric

RUBRICS = (
    rubric("custom", id="tone", severity="critical"),
    rubric("custom", id="length"),
    rubric("custom", id="style", severity="minor", required=False),
)
METRIC = Metric.model_validate(
    {"id": "polite", "version": "1", "fields": ["actual_output"], "questions": [{"noul": "It is polite."}]}
)


def check(rubric: Rubric, status: Status) -> Check:
    return Check("case", rubric, Verdict(status, None, "rule", "reason"), None, None, None, "{}")


def result(*statuses: Status, scores: tuple[MetricResult, ...] = ()) -> CaseResult:
    """A case whose checks, one a rubric in order, came to these statuses."""
    return CaseResult("case", tuple(map(check, RUBRICS, statuses)), scores)


def summed(*results: CaseResult) -> Summary:
    summary = Summary()
    for one in results:
        summary.add(one)
    return summary


def scored(p: float) -> MetricResult:
    return score_metric(METRIC, [Answer({"true": p})])


def test_checks_are_counted_by_status() -> None:
    summary = summed(result("pass", "fail", "review"), result("pass", "skipped", "error"))
    assert dict(summary.counts) == {"pass": 2, "fail": 1, "review": 1, "skipped": 1, "error": 1}
    assert (summary.cases, summary.checks) == (2, 6)


def test_checks_are_counted_by_rubric_too() -> None:
    summary = summed(result("pass", "fail", "review"), result("fail", "fail", "review"))
    assert summary.rubrics["tone"].counts == {"pass": 1, "fail": 1, "review": 0, "skipped": 0, "error": 0}
    assert summary.rubrics["length"].counts["fail"] == 2
    assert summary.rubrics["style"].rubric is RUBRICS[2]


def test_critical_failures_are_counted_apart() -> None:
    summary = summed(result("fail", "fail", "fail"), result("review", "fail", "fail"), result("error", "pass"))
    assert summary.critical_failures == 1
    assert summary.counts["fail"] == 5


def test_an_error_is_never_counted_as_a_failure() -> None:
    summary = summed(result("error", "error", "error"))
    assert (summary.counts["fail"], summary.critical_failures, summary.errors) == (0, 0, 3)
    assert summary.pass_rate is None


def test_the_pass_rate_is_among_the_decided() -> None:
    summary = summed(result("pass", "pass", "review"), result("pass", "fail", "error"), result("skipped"))
    assert summary.decided == 4
    assert summary.pass_rate == 0.75


def test_coverage_and_review_rate_are_among_what_was_not_skipped() -> None:
    summary = summed(result("pass", "review", "skipped"), result("fail", "review", "error"))
    assert summary.applicable == 5
    assert summary.decided_coverage == 2 / 5
    assert summary.review_rate == 2 / 5


def test_a_rate_of_nothing_is_unknown_and_not_zero() -> None:
    for summary in (Summary(), summed(result("skipped", "skipped", "skipped"))):
        assert (summary.pass_rate, summary.decided_coverage, summary.review_rate) == (None, None, None)
    assert Summary().checks == Summary().cases == 0
    assert summed(result("review", "review")).pass_rate is None
    assert summed(result("fail")).pass_rate == 0.0


@pytest.mark.parametrize(
    ("results", "names"),
    [
        ([result("skipped", "pass"), result("skipped", "skipped")], ["tone"]),
        ([result("skipped", "skipped", "skipped")], ["tone", "length"]),
        ([result("skipped"), result("error")], []),
        ([result("review")], []),
        ([], []),
    ],
)
def test_a_required_rubric_that_was_skipped_for_every_case_is_named(
    results: list[CaseResult], names: list[str]
) -> None:
    assert [one.id for one in summed(*results).skipped_everywhere] == names


def test_a_metrics_scores_have_a_mean_over_the_cases_that_were_scored() -> None:
    summary = summed(
        result(scores=(scored(0.9),)),
        result(scores=(scored(0.3),)),
        result(scores=(metric_skipped(METRIC, "no output"),)),
        result(scores=(metric_error(METRIC, "timeout"),)),
    )
    tally = summary.scores["polite"]
    assert (tally.scored, tally.passed, tally.skipped, tally.errors) == (2, 1, 1, 1)
    assert tally.mean == pytest.approx(0.6)


def test_a_metric_that_was_never_scored_has_no_mean() -> None:
    summary = summed(result(scores=(metric_error(METRIC, "timeout"),)))
    assert summary.scores["polite"].mean is None


def test_a_score_of_0_is_a_score() -> None:
    tally = summed(result(scores=(scored(0.0),))).scores["polite"]
    assert (tally.scored, tally.mean, tally.passed) == (1, 0.0, 0)


def test_errors_of_checks_and_of_metrics_are_added_up() -> None:
    assert summed(result("error", "pass", scores=(metric_error(METRIC, "timeout"),))).errors == 2


_RESULTS = st.lists(
    st.lists(st.sampled_from(STATUSES), min_size=len(RUBRICS), max_size=len(RUBRICS)).map(lambda s: result(*s)),
    max_size=12,
)


@given(_RESULTS)
def test_counts_add_up(results: list[CaseResult]) -> None:
    summary = summed(*results)
    every = Counter(check.status for one in results for check in one.checks)
    assert {status: n for status, n in summary.counts.items() if n} == dict(every)
    assert summary.checks == len(results) * len(RUBRICS)
    assert all(sum(tally.counts.values()) == summary.cases for tally in summary.rubrics.values())
    assert summary.checks == summary.applicable + summary.counts["skipped"]
    assert summary.applicable == summary.decided + summary.counts["review"] + summary.counts["error"]
    assert summary.critical_failures <= summary.counts["fail"]
    for rate in (summary.pass_rate, summary.decided_coverage, summary.review_rate):
        assert rate is None or 0 <= rate <= 1


@given(_RESULTS, st.randoms(use_true_random=False))
def test_the_order_of_cases_changes_no_count(results: list[CaseResult], random: object) -> None:
    shuffled = list(results)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert summed(*shuffled).counts == summed(*results).counts
    assert summed(*shuffled).critical_failures == summed(*results).critical_failures

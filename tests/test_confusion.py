"""Statuses against labels, against scikit-learn and statsmodels."""

from collections import Counter

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, cohen_kappa_score, f1_score, precision_score, recall_score
from statsmodels.stats.inter_rater import cohens_kappa

from jeval.confusion import LABELS, MEASURES, Confusion
from jeval.proportion import Proportion

STATUSES = ("pass", "fail", "review", "skipped", "error")

pairs = st.lists(st.tuples(st.sampled_from(STATUSES), st.sampled_from(LABELS)), max_size=80)
decided_pairs = st.lists(st.tuples(st.sampled_from(STATUSES[:2]), st.sampled_from(LABELS)), min_size=1, max_size=80)


def decided(given: list[tuple[str, str]]) -> tuple[list[str], list[str]]:
    """The statuses and labels of what passed or failed."""
    kept = [pair for pair in given if pair[0] in ("pass", "fail")]
    return [status for status, _ in kept], [label for _, label in kept]


@given(pairs)
def test_accuracy_precision_recall_and_f1_are_scikit_learns_on_the_decided(found: list[tuple[str, str]]) -> None:
    statuses, labels = decided(found)
    assume(statuses)
    table = Confusion.of(found)
    assert table.share("accuracy").rate == pytest.approx(accuracy_score(labels, statuses))
    for name, score in (("precision", precision_score), ("recall", recall_score)):
        expected = score(labels, statuses, labels=["fail"], average=None, zero_division=0)[0]
        assert (table.share(name).rate or 0.0) == pytest.approx(expected)
    expected = precision_score(labels, statuses, labels=["pass"], average=None, zero_division=0)[0]
    assert (table.share("pass_precision").rate or 0.0) == pytest.approx(expected)
    assert (table.f1[0] or 0.0) == pytest.approx(
        f1_score(labels, statuses, labels=["fail"], average=None, zero_division=0)[0]
    )


@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
@given(decided_pairs)
def test_kappa_is_scikit_learns_and_its_interval_statsmodels(found: list[tuple[str, str]]) -> None:
    statuses, labels = decided(found)
    kappa, interval = Confusion.of(found).agreement
    if len(set(statuses) | set(labels)) == 1:
        assert kappa is None and interval is None
        return
    expected = cohen_kappa_score(labels, statuses)
    assert kappa == pytest.approx(expected, abs=1e-9)
    counts = Counter(found)
    theirs = cohens_kappa([[counts[status, label] for label in LABELS] for status in LABELS])
    assert interval is not None
    assert interval == pytest.approx((max(-1, theirs.kappa_low), min(1, theirs.kappa_upp)), abs=1e-6)


def test_false_passes_are_of_all_judged_fails_and_reviews_are_no_mistake() -> None:
    table = Confusion({("pass", "fail"): 2, ("fail", "fail"): 5, ("review", "fail"): 3, ("skipped", "fail"): 4})
    assert table.share("false_pass_rate") == Proportion(2, 10)
    assert table.caught == Proportion(5, 10)
    assert table.share("recall") == Proportion(5, 7)
    assert table.share("accuracy") == Proportion(5, 7)


def test_false_fails_are_of_all_judged_passes() -> None:
    table = Confusion({("fail", "pass"): 1, ("pass", "pass"): 8, ("review", "pass"): 1, ("error", "pass"): 5})
    assert table.share("false_fail_rate") == Proportion(1, 10)


@pytest.mark.parametrize("status", ["review", "skipped", "error"])
@given(pairs)
def test_what_was_not_decided_changes_no_accuracy(status: str, found: list[tuple[str, str]]) -> None:
    before, after = Confusion.of(found), Confusion.of([*found, *((status, label) for label in LABELS)])
    for name in ("accuracy", "precision", "recall", "pass_precision"):
        assert before.share(name) == after.share(name)
    assert before.f1 == after.f1
    assert before.agreement == after.agreement


@given(pairs)
def test_coverage_is_of_all_that_was_not_skipped(found: list[tuple[str, str]]) -> None:
    statuses = [status for status, _ in found]
    expected = Proportion(sum(s in ("pass", "fail") for s in statuses), sum(s != "skipped" for s in statuses))
    assert Confusion.of(found).decided == expected


@given(pairs)
def test_no_share_is_more_than_whole_and_the_interval_of_f1_holds_it(found: list[tuple[str, str]]) -> None:
    table = Confusion.of(found)
    for name in MEASURES:
        share = table.share(name)
        assert 0 <= share.k <= share.n <= len(found)
    f1, interval = table.f1
    assert (f1 is None) == (interval is None)
    if f1 is not None and interval is not None:
        assert 0 <= interval[0] <= f1 + 1e-12 and f1 - 1e-12 <= interval[1] <= 1


def test_a_decision_where_the_label_says_review_is_wrong() -> None:
    table = Confusion({("pass", "review"): 1, ("fail", "skipped"): 1, ("pass", "pass"): 2})
    assert table.share("accuracy") == Proportion(2, 4)
    assert table.share("precision") == Proportion(0, 1)


def test_of_an_empty_table_nothing_is_known() -> None:
    table = Confusion({})
    assert table.n() == 0
    assert table.f1 == (None, None)
    assert table.agreement == (None, None)
    assert all(table.share(name).rate is None for name in MEASURES)

"""Thresholds that meet a target: found where they can be shown to, by the tests and in the order that is promised."""

import random
from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from jeval.confusion import MEASURES, Confusion
from jeval.kinds import kind_of
from jeval.label import CheckLabel
from jeval.labelled import LabelledCheck, labelled_check
from jeval.rubric import Rubric, Thresholds
from jeval.shift import rules_of, shift
from jeval.target import Target
from jeval.tune import LOWEST_FAIL, LOWEST_PASS, Search, search
from tests.samples import BOOKED, REFUSED, asked, case, check_of, params, rubric

NOW = Thresholds()
GRID = [round(1 - i / 100, 2) for i in range(100)]

Row = tuple[float, float, str]


def target(name: str, limit: float) -> Target:
    return Target(MEASURES[name], limit)


def labelled(of: Rubric, probabilities: Any, expected: str, about: Any = None, name: str = "c") -> LabelledCheck:
    about = about or case()
    check = check_of(of, probabilities, about)
    label = CheckLabel(case_id=name, rubric_id=of.id, expected=expected)  # type: ignore[arg-type]
    return labelled_check(kind_of(of), about, label, check.status, check.reason, check.probabilities)


@cache
def check(of: Rubric | None, good: float, bad: float, said: str) -> LabelledCheck:
    return labelled(of or rubric(), (good, bad, round(1 - good - bad, 2)), said)


def checks(rows: Sequence[Row], of: Rubric | None = None) -> list[LabelledCheck]:
    """Checks from rows of p(acceptable), p(unacceptable) and the label."""
    return [check(of, *one) for one in rows]


def row(bad: float, said: str) -> Row:
    """A check that the judge holds for failing with this probability, else for passing."""
    return round(1 - bad, 2), bad, said


# Judges of every quality: whoever says 0.9 may be right nine times of ten, or hardly ever.
rows = st.lists(
    st.tuples(st.integers(0, 100), st.sampled_from(["fail", "pass", "pass", "review"])).map(
        lambda pair: row(pair[0] / 100, pair[1])
    ),
    max_size=60,
)
good_rows = st.lists(st.integers(0, 100), min_size=60, max_size=160).map(
    lambda said: [row(p / 100, "fail" if p + (i * 37 % 23 - 11) > 50 else "pass") for i, p in enumerate(said)]
)
targets = st.lists(
    st.builds(target, st.sampled_from(list(MEASURES)), st.sampled_from([0.3, 0.7, 0.8])), min_size=1, max_size=2
).filter(lambda given: len({one.measure.name for one in given}) == len(given))


def table_of(found: Search, given_checks: Sequence[LabelledCheck], own: bool = True) -> Confusion:
    """What the thresholds found make of the checks."""
    assert found.tuned is not None
    rules = rules_of([check.rubric for check in given_checks], found.tuned.thresholds, own=own)
    return Confusion.of((check.status_at(rules[check.rubric.id]), check.expected) for check in given_checks)


@given(good_rows | rows, targets)
@settings(max_examples=40)
def test_what_is_found_meets_every_target_by_scipys_binomial_test(given_rows: list[Row], wanted: list[Target]) -> None:
    these = checks(given_rows)
    found = search(these, wanted, NOW, 0.9)
    if found.tuned is None:
        assert found.nearest and any(not met.holds for near in found.nearest for met in near.missed)
        return
    table, levels = table_of(found, these), 0.0
    assert [met.target for met in found.tuned.met if met.target not in wanted] == []
    assert len(found.tuned.met) == len(wanted)
    for met in found.tuned.met:
        share = table.share(met.target.measure.name)
        good = share.n - share.k if met.target.measure.at_most else share.k
        assert met.good == (good, share.n)
        assert stats.binomtest(good, share.n, met.target.least, alternative="greater").pvalue <= met.level + 1e-12
        assert 0 < met.level <= 0.1 + 1e-12
        levels = max(levels, met.level)
    thresholds = found.tuned.thresholds
    assert thresholds.pass_ + thresholds.fail > 1


@given(good_rows | rows, targets)
@settings(max_examples=40)
def test_what_no_target_bounds_becomes_no_laxer(given_rows: list[Row], wanted: list[Target]) -> None:
    found = search(checks(given_rows), wanted, NOW, 0.8)
    if found.tuned is None:
        return
    bounded = {status for one in wanted for status in one.measure.bounds}
    assert found.tuned.thresholds.pass_ >= (LOWEST_PASS if "pass" in bounded else NOW.pass_)
    assert found.tuned.thresholds.fail >= (LOWEST_FAIL if "fail" in bounded else NOW.fail)


@given(good_rows)
@settings(max_examples=30)
def test_false_passes_are_tested_from_the_strict_end_until_one_is_not_shown(given_rows: list[Row]) -> None:
    found = search(checks(given_rows), [target("false_pass_rate", 0.2)], NOW, 0.95)
    fails = [good for good, _, said in given_rows if said == "fail"]
    shown = []
    for threshold in (p for p in GRID if p >= LOWEST_PASS):
        passed = sum(good >= threshold for good in fails)
        if not fails or stats.binom.cdf(passed, len(fails), 0.2) > 0.05:
            break
        shown.append(threshold)
    assert (found.tuned is not None) == bool(shown)
    if found.tuned is None:
        return

    def rank(pair: tuple[float, float]) -> tuple[int, float, float]:
        return sum(bad >= pair[1] or good >= pair[0] for good, bad, _ in given_rows), -pair[1], pair[0]

    # `fail` goes up only as far as `pass` comes down, for the two must stay apart.
    best = max(((p, f) for p in shown for f in (0.5, 0.51, 0.52, 0.53) if p + f >= 1.03 - 1e-9), key=rank)
    assert found.tuned.thresholds == Thresholds(pass_=best[0], fail=best[1])


@given(good_rows)
@settings(max_examples=30)
def test_precision_is_tested_by_the_fallback_procedure(given_rows: list[Row]) -> None:
    found = search(checks(given_rows), [target("precision", 0.7)], NOW, 0.95)
    shown, handed_on = [], 0.0
    for threshold in (f for f in GRID if f >= LOWEST_FAIL):
        level = {0.9: 0.025, 0.75: 0.0125, 0.6: 0.0125}.get(threshold, 0.0) + handed_on
        failed = [said == "fail" for _, bad, said in given_rows if bad >= threshold]
        good = bool(failed) and stats.binom.sf(sum(failed) - 1, len(failed), 0.7) <= level > 0
        handed_on = level if good else 0.0
        if good:
            shown.append(threshold)
    assert (found.tuned is not None) == bool(shown)
    if found.tuned is None:
        return

    def decided(fail: float) -> int:
        pass_ = max(NOW.pass_, round(1.03 - fail, 2))
        return sum(bad >= fail or good >= pass_ for good, bad, _ in given_rows)

    best = max(shown, key=lambda fail: (decided(fail), fail >= 0.28, fail))
    assert found.tuned.thresholds.fail in shown
    assert decided(found.tuned.thresholds.fail) == decided(best)


def test_a_search_does_not_find_what_is_not_there_more_often_than_it_may() -> None:
    # Whatever the threshold, 70% of what fails is labelled so: not more, wherever one looks.
    draw = random.Random(11)
    wrong = naive = 0
    for _ in range(60):
        drawn = [row(draw.randint(25, 100) / 100, "fail" if draw.random() < 0.7 else "pass") for _ in range(120)]
        wrong += search(checks(drawn), [target("precision", 0.7)], NOW, 0.8).tuned is not None
        naive += any(
            stats.binom.sf(sum(said == "fail" for said in failed) - 1, len(failed), 0.7) <= 0.2
            for threshold in GRID
            if (failed := [said for _, bad, said in drawn if bad >= threshold])
        )
    most = stats.binom.ppf(0.999, 60, 0.2)
    assert wrong <= most
    assert naive > most  # to look everywhere at the full level is no proof


def perfect(n: int) -> list[Row]:
    """So many cases of which the judge is right and sure, every third failing."""
    return [row(0.98 if i % 3 == 0 else 0.02, "fail" if i % 3 == 0 else "pass") for i in range(n)]


def test_a_good_judge_decides_more_where_the_target_allows_it() -> None:
    unsure = [row(0.4, "pass"), row(0.35, "pass"), row(0.3, "pass")] * 10
    found = search(checks(perfect(150) + unsure), [target("false_pass_rate", 0.1)], NOW, 0.95)
    assert found.tuned is not None
    assert found.tuned.thresholds == Thresholds(pass_=0.6, fail=0.5)


def test_a_bad_judge_meets_nothing_and_no_number_of_labels_would_do() -> None:
    found = search(
        checks([row(0.95, "pass" if i % 2 else "fail") for i in range(80)]), [target("precision", 0.9)], NOW, 0.95
    )
    assert found.tuned is None
    (near,) = found.nearest
    (met,) = near.missed
    assert (met.holds, met.more, met.observed) == (False, None, 0.5)


def test_too_few_labels_are_told_with_how_many_more_it_takes() -> None:
    found = search(checks(perfect(30)), [target("precision", 0.9)], NOW, 0.95)
    assert found.tuned is None
    (met,) = found.nearest[0].missed
    assert met.good == (10, 10)
    # At the level of the first start, half of 0.05: 0.9 ** 36 is the first below it.
    assert met.more == 26
    more = search(checks(perfect(3 * 36)), [target("precision", 0.9)], NOW, 0.95)
    assert more.tuned is not None


def test_a_rate_of_mistakes_needs_checks_labelled_so() -> None:
    found = search(checks([row(0.02, "pass")] * 50), [target("false_pass_rate", 0.05)], NOW, 0.95)
    assert found.tuned is None
    (met,) = found.nearest[0].missed
    assert (met.good.n, met.observed, met.bound, met.more) == (0, None, None, 59)


def test_without_any_check_nothing_is_found() -> None:
    found = search([], [target("precision", 0.9)], NOW, 0.95)
    assert found.tuned is None and found.nearest


def test_two_targets_share_the_allowed_error() -> None:
    rows_ = perfect(240)
    one = search(checks(rows_), [target("precision", 0.9)], NOW, 0.95)
    two = search(checks(rows_), [target("precision", 0.9), target("false_pass_rate", 0.1)], NOW, 0.95)
    assert one.tuned is not None and two.tuned is not None
    assert {met.target.measure.name for met in two.tuned.met} == {"precision", "false_pass_rate"}
    levels = {met.target.measure.name: met.level for met in two.tuned.met}
    assert levels == pytest.approx({"precision": one.tuned.met[0].level / 2, "false_pass_rate": 0.025})


def test_the_bound_is_read_as_the_measure_is() -> None:
    found = search(checks(perfect(240)), [target("precision", 0.9), target("false_pass_rate", 0.1)], NOW, 0.95)
    assert found.tuned is not None
    bounds = {met.target.measure.name: met.bound for met in found.tuned.met}
    assert bounds["precision"] is not None and 0.9 <= bounds["precision"] < 1
    assert bounds["false_pass_rate"] is not None and 0 < bounds["false_pass_rate"] <= 0.1


def tool_checks(n: int, p: float) -> list[LabelledCheck]:
    """Claims of which the judge is sure to this degree, every other one of a tool that failed."""
    used = rubric("tool-claim")
    both = [(REFUSED, "fail"), (BOOKED, "pass")]
    return [
        labelled(used, (p, round(1 - p, 2), 0.0), said, case(toolEvents=[event]))
        for event, said in (both[i % 2] for i in range(n))
    ]


def test_what_only_pass_decides_is_tuned_by_pass() -> None:
    found = search(tool_checks(120, 0.62), [target("precision", 0.8), target("false_pass_rate", 0.2)], NOW, 0.95)
    assert found.tuned is not None
    assert found.tuned.thresholds == Thresholds(pass_=0.6, fail=0.5)
    # Where no target bounds what passes, `pass` may not go below what it is, whatever it would show of the fails.
    assert search(tool_checks(120, 0.62), [target("precision", 0.8)], NOW, 0.95).tuned is None


def test_kinds_that_hang_on_both_thresholds_move_them_together() -> None:
    mixed = [*tool_checks(80, 0.9), *checks(perfect(120))]
    found = search(mixed, [target("precision", 0.9)], NOW, 0.95)
    assert found.tuned is not None
    assert found.tuned.thresholds.pass_ >= NOW.pass_


def test_a_rubrics_own_threshold_stands_and_what_is_found_goes_with_it() -> None:
    used = rubric(thresholds={"pass": 0.55})
    these = checks(perfect(150), used)
    found = search(these, [target("precision", 0.9)], NOW, 0.95)
    assert found.tuned is not None
    assert used.effective(found.tuned.thresholds).pass_ == 0.55
    # For the rubric alone its own thresholds are what is looked for.
    alone = search(these, [target("false_pass_rate", 0.1)], Thresholds(pass_=0.55, fail=0.5), 0.95, own=False)
    assert alone.tuned is not None and alone.tuned.thresholds.pass_ > 0.55


def test_thresholds_between_the_steps_are_looked_at_where_they_are_the_present_ones() -> None:
    present = Thresholds(pass_=0.755, fail=0.505)
    found = search(checks(perfect(150)), [target("precision", 0.9)], present, 0.95)
    assert found.tuned is not None and found.tuned.thresholds.pass_ == 0.755


# Two-decimal distributions as a judge rounds them: they sum to between 0.98 and 1.02.
rounded = st.tuples(st.integers(0, 100), st.integers(0, 100), st.integers(-2, 2)).map(
    lambda t: (min(t[:2]) / 100, (max(t[:2]) - min(t[:2])) / 100, max(0, 100 - max(t[:2]) + t[2]) / 100)
)
pair = st.tuples(st.integers(50, 100), st.integers(20, 100)).filter(lambda one: sum(one) >= 103)


@pytest.mark.parametrize(
    "used",
    [
        rubric("policy-compliance"),
        rubric("claim-support"),
        rubric("claim-support", params={"uncoveredIs": "fail"}),
        rubric("claim-support", params={"granularity": "sentence"}),
        rubric("custom", params=params("custom", readers=2)),
        rubric("tool-claim"),
        rubric("escalation"),
    ],
    ids=["policy", "claims", "uncovered", "sentences", "readers", "tool", "escalation"],
)
@given(data=st.data(), one=pair, other=pair)
def test_what_fails_hangs_on_fail_alone_and_what_passes_on_pass_alone(
    used: Rubric, data: st.DataObject, one: tuple[int, int], other: tuple[int, int]
) -> None:
    probabilities = {part: data.draw(rounded) for part in asked(used)}
    check = labelled(used, probabilities, "fail")

    def status(pass_: int, fail: int) -> str:
        return check.status_at(Thresholds(pass_=pass_ / 100, fail=fail / 100))

    if used.kind in ("tool-claim", "escalation"):
        assert status(one[0], 100) == status(*one)
        return
    assert (status(*one) == "fail") == (status(100, one[1]) == "fail")
    assert (status(*one) == "pass") == (status(one[0], 100) == "pass")


def test_a_shift_counts_what_changes_and_what_is_stored_otherwise() -> None:
    these = checks([row(0.55, "fail"), row(0.2, "pass"), row(0.9, "fail")])
    rules = {"custom": NOW}, {"custom": Thresholds(pass_=0.85, fail=0.6)}
    moved = shift(these, *rules)
    assert dict(moved.changes) == {("fail", "review"): 1, ("pass", "review"): 1}
    assert (moved.before.decided.k, moved.after.decided.k, moved.unlike) == (3, 1, 0)
    assert moved.by_rubric["custom"] == (moved.before, moved.after)
    assert shift(these, rules[1], rules[0]).unlike == 2

"""Statistics against scipy and statsmodels, and what they say in words."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar

from jeval.significance import (
    ALPHA,
    POWER,
    Pairs,
    interval,
    mcnemar,
    needed,
    paired_change,
)

counts = st.integers(0, 400)
tables = st.builds(Pairs, counts, counts, counts, counts)


@given(tables)
def test_mcnemar_is_scipys_and_statsmodels(pairs: Pairs) -> None:
    p = mcnemar(pairs.lost, pairs.gained)
    ours = [[pairs.both_pass, pairs.lost], [pairs.gained, pairs.both_fail]]
    assert p == pytest.approx(statsmodels_mcnemar(ours, exact=True).pvalue, rel=1e-9)
    if pairs.lost + pairs.gained:
        expected = stats.binomtest(pairs.lost, pairs.lost + pairs.gained, 0.5).pvalue
        assert p == pytest.approx(expected, rel=1e-9)


@given(st.integers(500, 300_000), st.floats(0.97, 1.03))
def test_mcnemar_is_scipys_where_the_counts_are_too_large_for_whole_numbers(lost: int, ratio: float) -> None:
    gained = math.ceil(lost * ratio) + 2
    expected = stats.binomtest(lost, lost + gained, 0.5).pvalue
    assert mcnemar(lost, gained) == pytest.approx(expected, rel=1e-6)


def test_mcnemar_sums_alike_on_both_sides_of_the_border() -> None:
    for lost, gained in ((480, 520), (481, 520), (430, 571)):
        expected = stats.binomtest(lost, lost + gained, 0.5).pvalue
        assert mcnemar(lost, gained) == pytest.approx(expected, rel=1e-9)


def test_nothing_changed_is_no_evidence_of_anything() -> None:
    assert mcnemar(0, 0) == 1


@given(tables.filter(lambda pairs: pairs.n > 0))
def test_swapping_the_runs_mirrors_everything(pairs: Pairs) -> None:
    there = paired_change(pairs)
    back = paired_change(Pairs(pairs.both_pass, pairs.gained, pairs.lost, pairs.both_fail))
    assert there.p_value == back.p_value
    assert there.needed == back.needed
    assert there.before == back.after
    assert there.interval is not None
    assert back.interval is not None
    assert there.interval == pytest.approx((-back.interval[1], -back.interval[0]))


@given(tables.filter(lambda pairs: pairs.n > 0))
def test_the_interval_is_walds_after_one_pair_is_added_each_way(pairs: Pairs) -> None:
    n = pairs.n + 2
    outcomes = [1.0] * (pairs.gained + 1) + [-1.0] * (pairs.lost + 1) + [0.0] * (pairs.both_pass + pairs.both_fail)
    mean = sum(outcomes) / n
    error = math.sqrt(sum((x - mean) ** 2 for x in outcomes)) / n
    low, high = stats.norm.interval(1 - ALPHA, mean, error)
    found = interval(pairs.lost, pairs.gained, pairs.n)
    assert found == pytest.approx((max(-1, low), min(1, high)), abs=1e-9)


@pytest.mark.parametrize("n", [10, 25, 60])
@pytest.mark.parametrize(("lost", "gained"), [(0.1, 0.1), (0.3, 0.05), (0.02, 0.02), (0.2, 0.4)])
def test_the_interval_holds_the_truth_in_about_95_of_100_tries(n: int, lost: float, gained: float) -> None:
    covered = 0.0
    for b in range(n + 1):
        for c in range(n + 1 - b):
            low, high = interval(b, c, n)
            if low <= gained - lost <= high:
                covered += stats.multinomial.pmf([b, c, n - b - c], n, [lost, gained, 1 - lost - gained])
    assert covered >= 0.935


@pytest.mark.parametrize(("changed", "change"), [(0.1, 0.05), (0.3, 0.1), (0.4, -0.2), (0.2, 0.2)])
def test_as_many_pairs_as_needed_show_the_change_in_four_of_five_tries(changed: float, change: float) -> None:
    n = needed(changed, change)
    assert n is not None
    share = (changed + abs(change)) / 2 / changed
    power = 0.0
    for moved in range(n + 1):
        chance = stats.binom.pmf(moved, n, changed)
        if chance > 1e-9:
            seen = [k for k in range(moved + 1) if mcnemar(k, moved - k) < ALPHA]
            power += chance * sum(stats.binom.pmf(seen, moved, share))
    assert POWER - 0.09 < power < POWER + 0.06


def test_a_smaller_change_needs_more_pairs_and_no_change_has_no_number() -> None:
    sizes = [needed(0.2, change) for change in (0.1, 0.05, 0.01, 0.001)]
    assert all(size is not None for size in sizes)
    assert sizes == sorted(sizes, key=lambda size: size or 0)
    assert needed(0.2, 0.0) is None
    assert needed(0.0, 0.0) is None


def test_one_pair_is_not_enough_for_anything() -> None:
    found = paired_change(Pairs(0, 1, 0, 0))
    assert found.p_value == 1
    assert found.interval is not None
    assert found.interval[0] >= -1
    assert found.interval[1] > 0


def test_no_pairs_at_all_are_said_not_divided_by() -> None:
    found = paired_change(Pairs(0, 0, 0, 0))
    assert found.before is None
    assert found.interval is None
    assert found.p_value is None
    assert found.lines("cases") == ["no cases were decided in both runs, so there is nothing to compare"]
    assert found.as_dict()["n"] == 0


def test_no_change_has_an_interval_that_narrows_with_pairs() -> None:
    few, many = paired_change(Pairs(5, 0, 0, 5)), paired_change(Pairs(500, 0, 0, 500))
    assert few.interval is not None
    assert many.interval is not None
    assert few.interval[1] > 0.2 > 0.01 > many.interval[1] > 0
    assert "none changed between pass and fail" in few.lines("checks")[1]


def test_the_words_carry_every_number_and_never_say_better() -> None:
    lines = paired_change(Pairs(80, 3, 1, 14)).lines("checks")
    assert lines == [
        "pass rate 84.7% → 82.7% of 98 checks decided in both runs: 3 pass → fail, 1 fail → pass",
        "−2.0 points (95% interval −6.8 to +2.8 points; exact McNemar p = 0.62): may well be chance",
        "about 767 checks are needed to see a change of this size (power 0.8)",
    ]
    clear = paired_change(Pairs(50, 1, 20, 29)).lines("cases")
    assert clear[1].endswith("exact McNemar p < 0.0001): hardly chance alone")
    assert "better" not in "".join(lines + clear)
    even = paired_change(Pairs(50, 2, 2, 29)).lines("cases")
    assert even[-1].endswith("exact McNemar p = 1): as many one way as the other")

"""Calibration, against scikit-learn, and by laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss

from jeval.calibration import calibration

said = st.lists(st.tuples(st.integers(0, 100).map(lambda p: p / 100), st.booleans()), min_size=1, max_size=150)


@given(said)
def test_brier_is_scikit_learns(pairs: list[tuple[float, bool]]) -> None:
    found = calibration(pairs)
    assert found is not None
    expected = brier_score_loss([so for _, so in pairs], [p for p, _ in pairs], pos_label=True)
    assert found.brier == pytest.approx(expected)


@pytest.mark.parametrize(("bins", "each"), [(1, 10), (2, 10), (3, 11), (7, 10), (9, 11), (10, 10), (10, 23)])
def test_bins_of_equal_mass_are_scikit_learns_quantile_bins(bins: int, each: int) -> None:
    n = bins * each
    p = np.linspace(0.01, 0.99, n)
    y = np.arange(n) * 7 % 3 == 0
    found = calibration(list(zip(p.tolist(), y.tolist(), strict=True)))
    assert found is not None
    share, mean = calibration_curve(y, p, n_bins=bins, strategy="quantile")
    assert [one.n for one in found.bins] == [each] * bins
    assert [one.mean for one in found.bins] == pytest.approx(list(mean))
    assert [one.share for one in found.bins] == pytest.approx(list(share))
    assert found.ece == pytest.approx(float(np.mean(np.abs(share - mean))))


@given(said)
def test_every_pair_is_in_one_bin_and_no_value_in_two(pairs: list[tuple[float, bool]]) -> None:
    found = calibration(pairs)
    assert found is not None
    assert sum(one.n for one in found.bins) == found.n == len(pairs)
    assert len(found.bins) <= 10
    for left, right in zip(found.bins, found.bins[1:], strict=False):
        assert left.low <= left.high < right.low <= right.high
    assert all(one.low <= one.mean + 1e-12 and one.mean <= one.high + 1e-12 for one in found.bins)


@given(said)
def test_figures_are_between_0_and_1(pairs: list[tuple[float, bool]]) -> None:
    found = calibration(pairs)
    assert found is not None
    assert 0 <= found.brier <= 1 and 0 <= found.ece <= 1 + 1e-12 and 0 <= found.brier_base_rate <= 0.25


def test_a_judge_that_knows_is_calibrated_and_one_that_errs_is_not() -> None:
    right = calibration([(1.0, True)] * 20 + [(0.0, False)] * 30)
    wrong = calibration([(0.0, True)] * 20 + [(1.0, False)] * 30)
    assert right is not None and wrong is not None
    assert (right.brier, right.ece, right.ece_by_chance) == (0, 0, 0)
    assert (wrong.brier, wrong.ece) == (1, 1)


def test_what_chance_alone_makes_of_a_perfect_judge_is_about_what_is_said() -> None:
    random = np.random.default_rng(5)
    p = random.uniform(0, 1, 300).round(2)
    drawn = [
        calibration(list(zip(p.tolist(), (random.uniform(size=300) < p).tolist(), strict=True))) for _ in range(60)
    ]
    mean = sum(one.ece for one in drawn if one is not None) / len(drawn)
    assert drawn[0] is not None
    assert drawn[0].ece_by_chance == pytest.approx(mean, rel=0.15)


def test_few_pairs_make_one_bin() -> None:
    found = calibration([(0.1, False), (0.9, True)])
    assert found is not None and len(found.bins) == 1


def test_of_nothing_there_is_no_calibration() -> None:
    assert calibration([]) is None

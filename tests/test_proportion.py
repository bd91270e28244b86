"""Shares, their intervals and tests, against scipy and statsmodels."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from jeval.proportion import Proportion, needed

shares = st.integers(1, 2_000).flatmap(lambda n: st.builds(Proportion, st.integers(0, n), st.just(n)))
levels = st.floats(0.01, 0.99)


@given(shares, st.sampled_from([0.5, 0.8, 0.95, 0.99]))
def test_the_interval_is_statsmodels_wilson(share: Proportion, confidence: float) -> None:
    expected = proportion_confint(share.k, share.n, 1 - confidence, method="wilson")
    assert share.interval(confidence) == pytest.approx(expected, abs=1e-12)


@given(shares, st.sampled_from([0.5, 0.8, 0.95, 0.99]))
def test_the_lower_bound_is_statsmodels_clopper_pearson(share: Proportion, confidence: float) -> None:
    # Theirs is two-sided, so each side has half of what is left.
    expected = proportion_confint(share.k, share.n, 2 * (1 - confidence), method="beta")[0]
    assert share.lower(confidence) == pytest.approx(0.0 if math.isnan(expected) else expected, abs=1e-9)


@given(shares, levels)
def test_the_p_value_is_scipys_binomial_test(share: Proportion, least: float) -> None:
    expected = stats.binomtest(share.k, share.n, least, alternative="greater").pvalue
    assert share.p_value(least) == pytest.approx(expected, rel=1e-8, abs=1e-290)


@given(shares, st.floats(0.02, 0.98))
def test_bound_and_test_are_of_one_mind(share: Proportion, least: float) -> None:
    bound = share.lower(0.95)
    assert bound is not None
    if abs(bound - least) > 1e-9:
        assert (bound >= least) == (share.p_value(least) <= 0.05)


@given(shares)
def test_the_rest_is_the_mirror_image(share: Proportion) -> None:
    there, back = share.interval(), share.rest.interval()
    assert there is not None and back is not None
    assert there == pytest.approx((1 - back[1], 1 - back[0]), abs=1e-12)
    assert share.rest.rest == share


def test_of_nothing_nothing_is_known() -> None:
    nothing = Proportion(0, 0)
    assert (nothing.rate, nothing.interval(), nothing.lower(), nothing.p_value(0.5)) == (None, None, None, 1.0)
    assert nothing.as_dict() == {"value": None, "k": 0, "n": 0, "interval_95": None}


def test_the_ends_are_reached_exactly() -> None:
    assert Proportion(0, 7).interval()[0] == 0  # type: ignore[index]
    assert Proportion(7, 7).interval()[1] == 1  # type: ignore[index]


@given(st.floats(0.5, 0.98), st.floats(0.001, 0.2))
def test_so_many_are_needed_when_all_are_good(least: float, level: float) -> None:
    assert needed(1.0, least, level) == math.ceil(math.log(level) / math.log(least) - 1e-9)


@given(st.floats(0.55, 0.95), st.floats(0.01, 0.04))
def test_so_many_are_enough(least: float, above: float) -> None:
    rate = min(0.99, least + above)
    n = needed(rate, least, 0.05)
    assert n is not None
    assert Proportion(math.floor(rate * n + 1e-9), n).p_value(least) <= 0.05


def test_no_number_shows_what_is_not_so() -> None:
    assert needed(0.9, 0.9, 0.05) is None
    assert needed(0.8, 0.9, 0.05) is None
    assert needed(0.9000001, 0.9, 0.05) is None

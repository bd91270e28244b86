"""The three-way rule: its order, its boundaries, and the law that pass and fail never both fire."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from jeval.rubric import Thresholds
from jeval.ruling import STATUSES, average, established, number, three_way

NAMES = ("good", "bad", "unknown")


def p(good: float, bad: float, unknown: float) -> dict[str, float]:
    return {"good": good, "bad": bad, "unknown": unknown}


def test_there_are_five_statuses() -> None:
    assert STATUSES == ("pass", "fail", "review", "skipped", "error")


@pytest.mark.parametrize(
    ("probabilities", "status", "rule"),
    [
        # fail comes first, at the threshold and above it
        (p(0.5, 0.5, 0.0), "fail", "fail-threshold"),
        (p(0.0, 1.0, 0.0), "fail", "fail-threshold"),
        (p(0.0, 0.5, 0.5), "fail", "fail-threshold"),
        # just beneath it, and the pass threshold not reached
        (p(0.501, 0.499, 0.0), "review", "undecided"),
        (p(0.35, 0.4, 0.25), "review", "undecided"),
        # then pass, at the threshold and above it
        (p(0.75, 0.25, 0.0), "pass", "pass-threshold"),
        (p(0.75, 0.0, 0.25), "pass", "pass-threshold"),
        (p(1.0, 0.0, 0.0), "pass", "pass-threshold"),
        # just beneath it
        (p(0.749, 0.0, 0.251), "review", "undecided"),
        (p(0.74, 0.26, 0.0), "review", "undecided"),
        # whenever the insufficient outcome leads
        (p(0.0, 0.0, 1.0), "review", "insufficient-leads"),
        (p(0.3, 0.3, 0.4), "review", "insufficient-leads"),
        (p(0.0, 0.49, 0.51), "review", "insufficient-leads"),
    ],
)
def test_fail_at_its_threshold_else_pass_at_its_threshold_else_review(
    probabilities: dict[str, float], status: str, rule: str
) -> None:
    verdict = three_way(probabilities, Thresholds(), NAMES)
    assert (verdict.status, verdict.rule) == (status, rule)


def test_fail_is_asked_before_pass_even_where_rounding_lets_both_be_reached() -> None:
    # Two-decimal answers may sum to a little more than 1.
    verdict = three_way(p(0.51, 0.5, 0.01), Thresholds(pass_=0.51, fail=0.5), NAMES)
    assert verdict.status == "fail"


@pytest.mark.parametrize(
    ("probabilities", "outcome"),
    [
        (p(0.6, 0.4, 0.0), "good"),
        (p(0.2, 0.7, 0.1), "bad"),
        (p(0.2, 0.2, 0.6), "unknown"),
        (p(0.5, 0.5, 0), "good"),
    ],
)
def test_the_outcome_is_the_most_probable_option_whatever_the_status(
    probabilities: dict[str, float], outcome: str
) -> None:
    assert three_way(probabilities, Thresholds(), NAMES).outcome == outcome


@pytest.mark.parametrize(
    ("probabilities", "reason"),
    [
        (p(0.3, 0.61, 0.09), "p(bad) 0.61 ≥ fail 0.5"),
        (p(0.8, 0.1, 0.1), "p(good) 0.8 ≥ pass 0.75"),
        (p(0.7, 0.3, 0.0), "p(bad) 0.3 < fail 0.5 and p(good) 0.7 < pass 0.75"),
        (p(0.1, 0.1, 0.8), "unknown leads with 0.8: p(bad) 0.1 < fail 0.5 and p(good) 0.1 < pass 0.75"),
    ],
)
def test_the_reason_holds_the_numbers_that_made_the_status(probabilities: dict[str, float], reason: str) -> None:
    assert three_way(probabilities, Thresholds(), NAMES).reason == reason


@pytest.mark.parametrize(
    ("probabilities", "status", "rule"),
    [
        (p(0.5, 0.0, 0.5), "fail", "unknown-fails"),
        (p(0.2, 0.2, 0.6), "fail", "unknown-fails"),
        (p(0.501, 0.0, 0.499), "review", "undecided"),
        (p(0.25, 0.5, 0.25), "fail", "fail-threshold"),
        (p(0.75, 0.0, 0.25), "pass", "pass-threshold"),
        (p(0.3, 0.25, 0.45), "review", "insufficient-leads"),
    ],
)
def test_the_third_outcome_may_fail_at_the_fail_threshold_too(
    probabilities: dict[str, float], status: str, rule: str
) -> None:
    verdict = three_way(probabilities, Thresholds(), NAMES, fail_on_third=True)
    assert (verdict.status, verdict.rule) == (status, rule)


@pytest.mark.parametrize(
    ("thresholds", "probabilities", "status"),
    [
        (Thresholds(pass_=0.9, fail=0.5), p(0.8, 0.1, 0.1), "review"),
        (Thresholds(pass_=0.75, fail=0.7), p(0.3, 0.6, 0.1), "review"),
        (Thresholds(pass_=0.51, fail=0.5), p(0.51, 0.4, 0.09), "pass"),
        (Thresholds(pass_=1.0, fail=0.01), p(0.99, 0.01, 0.0), "fail"),
        (Thresholds(pass_=0.01, fail=1.0), p(0.01, 0.99, 0.0), "pass"),
        # Permissive profiles, taken with a warning: here an insufficient leader is decided.
        (Thresholds(pass_=0.4, fail=0.7), p(0.42, 0.0, 0.58), "pass"),
        (Thresholds(pass_=0.8, fail=0.3), p(0.0, 0.3, 0.7), "fail"),
    ],
)
def test_the_thresholds_are_the_profiles_and_nothing_else_counts(
    thresholds: Thresholds, probabilities: dict[str, float], status: str
) -> None:
    assert three_way(probabilities, thresholds, NAMES).status == status


# Laws


@st.composite
def distributions(draw: st.DrawFn) -> dict[str, float]:
    """Three probabilities in thousandths that sum to 1."""
    low, high = sorted((draw(st.integers(0, 1000)), draw(st.integers(0, 1000))))
    return p(low / 1000, (high - low) / 1000, (1000 - high) / 1000)


@st.composite
def profiles(draw: st.DrawFn) -> Thresholds:
    """Any thresholds that are not refused."""
    pass_ = draw(st.integers(1, 1000))
    fail = draw(st.integers(1001 - pass_, 1000))
    return Thresholds(pass_=pass_ / 1000, fail=fail / 1000)


@given(distributions(), profiles(), st.booleans())
def test_pass_and_fail_can_never_both_fire(
    probabilities: dict[str, float], thresholds: Thresholds, fail_on_third: bool
) -> None:
    passes = probabilities["good"] >= thresholds.pass_
    fails = probabilities["bad"] >= thresholds.fail
    if fail_on_third:
        fails = fails or probabilities["unknown"] >= thresholds.fail
    assert not (passes and fails)
    status = three_way(probabilities, thresholds, NAMES, fail_on_third=fail_on_third).status
    assert status == ("fail" if fails else "pass" if passes else "review")


@given(st.integers(0, 499), st.integers(0, 499), st.integers(501, 1000), st.integers(501, 1000))
def test_an_insufficient_leader_is_for_review_under_every_profile_above_a_half(
    good: int, bad: int, pass_: int, fail: int
) -> None:
    probabilities = p(good / 1000, bad / 1000, (1000 - good - bad) / 1000)
    assume(probabilities["unknown"] > max(probabilities["good"], probabilities["bad"]))
    thresholds = Thresholds(pass_=pass_ / 1000, fail=fail / 1000)
    assert three_way(probabilities, thresholds, NAMES).status == "review"


@given(distributions(), profiles())
def test_raising_the_fail_threshold_never_makes_a_failure(
    probabilities: dict[str, float], thresholds: Thresholds
) -> None:
    stricter = Thresholds(pass_=thresholds.pass_, fail=min(1.0, thresholds.fail + 0.1))
    if three_way(probabilities, thresholds, NAMES).status != "fail":
        assert three_way(probabilities, stricter, NAMES).status != "fail"


@given(distributions(), profiles())
def test_the_same_numbers_make_the_same_verdict(probabilities: dict[str, float], thresholds: Thresholds) -> None:
    before = dict(probabilities)
    assert three_way(probabilities, thresholds, NAMES) == three_way(probabilities, thresholds, NAMES)
    assert probabilities == before


# Established options, averages, numbers


@pytest.mark.parametrize(
    ("probabilities", "options", "found"),
    [
        (p(0.75, 0.25, 0.0), ("good", "bad"), "good"),
        (p(0.2, 0.8, 0.0), ("good", "bad"), "bad"),
        (p(0.74, 0.26, 0.0), ("good", "bad"), None),
        (p(0.0, 0.0, 1.0), ("good", "bad"), None),
    ],
)
def test_an_option_is_established_at_the_pass_threshold(
    probabilities: dict[str, float], options: tuple[str, ...], found: str | None
) -> None:
    assert established(probabilities, Thresholds(), *options) == found


def test_of_two_options_at_the_threshold_the_one_named_first_is_established() -> None:
    low = Thresholds(pass_=0.4, fail=0.7)
    assert established(p(0.45, 0.5, 0.05), low, "good", "bad") == "good"
    assert established(p(0.45, 0.5, 0.05), low, "bad", "good") == "bad"


@pytest.mark.parametrize(
    ("one", "other", "mean"),
    [(0.7, 0.8, 0.75), (0.4, 0.6, 0.5), (0.1, 0.2, 0.15), (1.0, 0.0, 0.5), (0.745, 0.755, 0.75)],
)
def test_an_average_reaches_a_threshold_it_reaches_on_paper(one: float, other: float, mean: float) -> None:
    assert average({"good": one}, {"good": other}) == {"good": mean}


@given(distributions(), distributions())
def test_an_average_of_two_distributions_is_one(one: dict[str, float], other: dict[str, float]) -> None:
    mean = average(one, other)
    assert list(mean) == list(one)
    assert sum(mean.values()) == pytest.approx(1)
    assert mean == average(other, one)


@pytest.mark.parametrize(("value", "shown"), [(0.5, "0.5"), (1.0, "1"), (0.12345, "0.1235"), (0.0, "0")])
def test_a_probability_is_shown_with_four_digits_at_most(value: float, shown: str) -> None:
    assert number(value) == shown

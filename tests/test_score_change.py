"""The change of a metric's mean between two runs: paired, repeatable, honest about what it does not know."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeval.score_change import MOST_RESAMPLED, ScoreChange, interval_of, score_changes


def rows(scores: dict[str, float | None], metric: str = "m", version: str = "1") -> list:
    return [(metric, version, case, score) for case, score in scores.items()]


def change(before: dict[str, float | None], after: dict[str, float | None], **options) -> ScoreChange:
    [found] = score_changes(rows(before), rows(after), **options)
    return found


def drawn(count: int, shift: float, seed: int = 7) -> tuple[dict[str, float], dict[str, float]]:
    source = random.Random(seed)
    before = {f"c{i}": round(source.uniform(0.2, 0.8), 2) for i in range(count)}
    return before, {case: round(score + shift + source.gauss(0, 0.05), 2) for case, score in before.items()}


scores = st.dictionaries(
    st.sampled_from([f"c{i}" for i in range(12)]), st.none() | st.integers(0, 100).map(lambda n: n / 100)
)


def test_the_change_is_the_mean_difference_of_the_cases_scored_in_both_runs():
    found = change({"a": 0.5, "b": 0.5, "gone": 0.0}, {"a": 0.7, "b": 0.6, "new": 1.0, "also-new": 1.0})
    assert (found.before, found.after, found.change, found.pairs) == (0.5, 0.65, 0.15, 2)
    assert (found.only_before, found.only_after) == (1, 2)
    assert (found.raised, found.lowered) == (2, 0)


def test_a_case_without_a_score_is_in_no_mean():
    found = change({"a": 0.5, "b": None}, {"a": 0.5, "b": 0.1})
    assert (found.pairs, found.change, found.only_after) == (1, 0.0, 1)


def test_nothing_scored_in_both_runs_is_unknown_and_not_zero():
    found = change({"a": 0.5}, {"b": 0.5})
    assert found.change is None and found.low is None and found.method == "none"
    assert found.words() == "m 1: no case was scored in both runs"


def test_a_single_pair_tells_nothing_about_the_spread():
    found = change({"a": 0.5}, {"a": 0.9})
    assert found.change == 0.4 and found.low is None and found.high is None and not found.clear


def test_a_metric_of_two_versions_is_not_compared():
    [found] = score_changes(rows({"a": 0.1}), rows({"a": 0.9}, version="2"))
    assert found.change is None
    assert found.words() == "m: version 1 and version 2 are not comparable"


def test_a_metric_of_one_run_alone_is_told():
    found = score_changes(rows({"a": 0.1}, "old"), rows({"a": 0.9}, "new"))
    assert [one.words() for one in found] == [
        "old: only the first run has it",
        "new: only the second run has it",
    ]


def test_a_plain_rise_is_clear_and_mere_noise_is_not():
    risen = change(*drawn(60, 0.1))
    assert risen.clear and risen.low is not None and risen.low > 0.05
    still = change(*drawn(60, 0.0))
    assert not still.clear


def test_the_line_for_people_names_means_change_interval_and_cases():
    found = change(*drawn(40, 0.1))
    assert found.words() == (
        f"m 1: {found.before:.3f} → {found.after:.3f} ({found.change:+.3f},"
        f" 95% interval {found.low:+.3f} to {found.high:+.3f}) over 40 cases"
    )


def test_the_same_runs_give_the_same_interval_whatever_the_order_of_their_rows():
    before, after = drawn(30, 0.02)
    turned = dict(reversed(after.items()))
    assert change(before, after) == change(before, turned)


def test_these_very_bounds_come_out_on_every_machine():
    found = interval_of([0.1, 0.2, -0.1, 0.3, 0.0], level=0.95, seed="0:m")
    assert found == PINNED


PINNED = (-0.02, 0.22, "bootstrap")


def test_another_seed_draws_other_resamples():
    differences = [i / 50 for i in range(50)]
    assert interval_of(differences, level=0.9, seed="1") != interval_of(differences, level=0.9, seed="2")


def test_many_cases_use_the_normal_interval_which_is_near_the_bootstrap():
    before, after = drawn(MOST_RESAMPLED, 0.03)
    resampled = change(before, after)
    before["one-more"] = after["one-more"] = 0.5
    normal = change(before, after)
    assert (resampled.method, normal.method) == ("bootstrap", "normal")
    assert normal.low == pytest.approx(resampled.low, abs=0.002)
    assert normal.high == pytest.approx(resampled.high, abs=0.002)


def test_the_bootstrap_agrees_with_scipys():
    scipy_stats = pytest.importorskip("scipy.stats")
    numpy = pytest.importorskip("numpy")
    before, after = drawn(80, 0.03)
    differences = numpy.array([after[case] - before[case] for case in before])
    theirs = scipy_stats.bootstrap(
        (differences,),
        numpy.mean,
        method="percentile",
        n_resamples=20_000,
        random_state=numpy.random.default_rng(3),
    ).confidence_interval
    ours = change(before, after)
    assert ours.low == pytest.approx(theirs.low, abs=0.0015)
    assert ours.high == pytest.approx(theirs.high, abs=0.0015)


def test_a_level_that_is_none_is_refused():
    for level in (0, 1, 95, math.nan):
        with pytest.raises(ValueError, match="between 0 and 1"):
            change({"a": 0.5}, {"a": 0.5}, level=level)


@given(scores, scores)
def test_turning_the_runs_around_turns_the_change_around(before, after):
    there, back = score_changes(rows(before), rows(after)), score_changes(rows(after), rows(before))
    for one, other in zip(there, back, strict=True):
        if one.change is not None:
            assert other.change == pytest.approx(-one.change, abs=1e-11)
        assert (one.raised, one.lowered) == (other.lowered, other.raised)


@given(scores, scores)
def test_the_bounds_lie_within_the_differences_and_in_order(before, after):
    for found in score_changes(rows(before), rows(after)):
        if found.low is None:
            continue
        differences = [after[c] - before[c] for c in before if before[c] is not None and after.get(c) is not None]
        assert found.low <= found.high
        assert min(differences) - 1e-9 <= found.low and found.high <= max(differences) + 1e-9


@given(scores)
def test_a_run_compared_with_itself_has_not_changed(same):
    for found in score_changes(rows(same), rows(same)):
        assert not found.clear
        if found.pairs >= 2:
            assert (found.change, found.low, found.high) == (0.0, 0.0, 0.0)

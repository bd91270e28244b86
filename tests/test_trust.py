"""Whether a judge can be trusted, and what is said of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from jeval.confusion import LABELS, Confusion
from jeval.trust import LIMIT, trust


def level(**counts: int) -> str:
    """The level for counts named status_label."""
    return trust(Confusion({(k.split("_")[0], k.split("_")[1]): n for k, n in counts.items()})).level


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ({}, "unknown"),
        ({"pass_pass": 200}, "unknown"),
        ({"review_fail": 50, "review_pass": 50}, "unknown"),
        ({"fail_fail": 60, "pass_pass": 60}, "yes"),
        ({"fail_fail": 20, "pass_pass": 60}, "unclear"),
        ({"fail_fail": 30, "pass_fail": 20, "pass_pass": 50}, "no"),
        ({"fail_fail": 60, "fail_pass": 40, "pass_pass": 60}, "no"),
        ({"fail_fail": 60, "fail_pass": 8, "pass_pass": 60}, "unclear"),
    ],
)
def test_it_is_trusted_where_both_mistakes_are_shown_to_be_rare(counts: dict[str, int], expected: str) -> None:
    assert level(**counts) == expected


def test_reviews_alone_never_make_it_untrusted() -> None:
    assert level(fail_fail=60, pass_pass=60, review_fail=40, review_pass=40) == "yes"


@given(st.dictionaries(st.tuples(st.sampled_from(["pass", "fail", "review", "skipped", "error"]),
                                 st.sampled_from(LABELS)), st.integers(0, 120)))  # fmt: skip
def test_what_is_said_follows_from_the_intervals(counts: dict[tuple[str, str], int]) -> None:
    table = Confusion(counts)
    missed, wrong = table.share("false_pass_rate"), table.share("accuracy").rest
    found = trust(table)
    assert found.why and "\n" not in found.why
    if not missed.n or not wrong.n:
        assert found.level == "unknown"
        return
    bounds = [proportion_confint(share.k, share.n, 0.05, "wilson") for share in (missed, wrong)]
    if any(low > LIMIT for low, _ in bounds):
        assert found.level == "no"
    elif all(high <= LIMIT for _, high in bounds):
        assert found.level == "yes"
    else:
        assert found.level == "unclear"


def test_it_says_how_many_more_labels_would_tell() -> None:
    why = trust(Confusion({("fail", "fail"): 20, ("pass", "pass"): 60})).why
    assert why == "passed 0 of 20 labelled fail, which may mean up to 16%; about 16 more labelled fail would tell"


def test_it_says_where_no_number_would() -> None:
    why = trust(Confusion({("fail", "fail"): 20, ("pass", "fail"): 3, ("pass", "pass"): 60})).why
    assert "no number of labels" in why

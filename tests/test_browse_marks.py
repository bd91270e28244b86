"""A bar has a mark where a rule compares its option with a threshold, and nowhere else."""

import pytest

from jeval.browse.marks import bars
from jeval.browse.svg import columns, pieces, spark


def marks(kind: str, probabilities: dict, **definition) -> dict[str, float | None]:
    return {bar.option: bar.mark for part in bars(kind, definition, probabilities, 0.75, 0.5) for bar in part.bars}


def test_three_outcomes_have_a_mark_for_pass_and_one_for_fail():
    found = marks("custom", {"acceptable": 0.2, "unacceptable": 0.7, "insufficient_context": 0.1})
    assert found == {"acceptable": 0.75, "unacceptable": 0.5, "insufficient_context": None}


def test_an_uncovered_claim_has_a_mark_where_it_can_fail():
    p = {"supported": 0.2, "contradicted": 0.7, "not_covered": 0.1}
    assert marks("claim-support", p)["not_covered"] is None
    assert marks("claim-support", p, params={"uncoveredIs": "fail"})["not_covered"] == 0.5


def test_a_rubrics_own_thresholds_stand_above_the_profile_and_zero_is_zero():
    found = marks("custom", {"acceptable": 1.0, "unacceptable": 0.0}, thresholds={"pass": 0, "fail": 1})
    assert found == {"acceptable": 0, "unacceptable": 1}


@pytest.mark.parametrize(("kind", "option"), [("tool-claim", "claims_completed"), ("escalation", "required")])
def test_established_options_are_held_against_pass(kind: str, option: str):
    assert marks(kind, {option: 0.9, "unclear": 0.1}) == {option: 0.75, "unclear": None}


def test_of_two_readers_only_the_mean_has_marks():
    readers = {
        "reader1": {"acceptable": 0.9, "unacceptable": 0.1},
        "reader2": {"acceptable": 0.7, "unacceptable": 0.3},
    }
    first, second, mean = bars("custom", {}, readers, 0.75, 0.5)
    assert all(bar.mark is None for bar in (*first.bars, *second.bars))
    assert [(bar.option, bar.p, bar.mark) for bar in mean.bars] == [
        ("acceptable", 0.8, 0.75),
        ("unacceptable", 0.2, 0.5),
    ]


def test_every_sentence_has_bars_of_its_own():
    parts = bars("claim-support", {}, {"s1": {"supported": 1.0}, "s2": {"supported": 0.1}}, 0.75, 0.5)
    assert [(part.name, part.bars[0].p) for part in parts] == [("s1", 1.0), ("s2", 0.1)]


@pytest.mark.parametrize("nothing", [None, {}, [], "x"])
def test_where_nothing_was_asked_there_are_no_bars(nothing):
    assert bars("custom", {}, nothing, 0.75, 0.5) == []


def test_a_rare_status_is_still_seen_and_the_bar_stays_whole():
    found = pieces({"pass": 100_000, "fail": 1})
    assert [piece.status for piece in found] == ["fail", "pass"]
    assert found[0].width >= 1.9
    assert sum(piece.width for piece in found) == pytest.approx(200, abs=0.1)


def test_no_checks_are_no_bar():
    assert pieces({}) == []


def test_a_trend_leaves_out_what_is_unknown():
    assert len(spark([0.5, None, 1.0])) == 2
    assert spark([0.5]) == []


def test_columns_are_as_tall_as_their_checks():
    runs = [{"counts": {"pass": 10}}, {"counts": {"pass": 5, "fail": 5}}]
    assert [sum(part["height"] for part in column["parts"]) for column in columns(runs)] == [160, 160]

"""Why a selection, or a rubric, meets none of a dataset's cases."""

from collections.abc import Sequence
from typing import Any

import pytest

from jeval.app.metadata_seen import MetadataSeen, never_apply
from jeval.app.selection import Selection
from jeval.case import Case
from jeval.rubric import Rubric

SOME = [{"lang": "en", "tier": 1}, {"lang": "de", "tier": 2}, {}]


def seen(metadata: Sequence[dict[str, Any]]) -> MetadataSeen:
    found = MetadataSeen()
    for one in metadata:
        found.add(one)
    return found


def lines(wanted: dict[str, Any], metadata: Sequence[dict[str, Any]] = SOME) -> list[str]:
    """What is said of a rubric that asks for this metadata, without what is always said."""
    rubric = Rubric.model_validate(
        {"id": "r", "version": "1", "kind": "claim-support", "applicability": {"onlyWhenMetadata": wanted}}
    )
    cases = [
        Case.model_validate({"id": f"c{n}", "input": "", "output": "", "metadata": one})
        for n, one in enumerate(metadata)
    ]
    return [
        line.removeprefix("rubric r: skipped for every case by its onlyWhenMetadata: ")
        for line in never_apply([rubric], cases, seen(metadata))
    ]


@pytest.mark.parametrize("wanted", [{"lang": "en"}, {"lang": ["fr", "de"]}, {"lang": None}, {"nothing": None}, {}])
def test_a_rubric_that_meets_a_case_is_not_spoken_of(wanted: dict[str, Any]) -> None:
    assert lines(wanted) == []


def test_a_rubric_that_meets_no_case_is_told_which_values_there_are() -> None:
    assert lines({"lang": "fr"}) == ['no case has lang "fr"; there are "en", "de"']
    assert lines({"tier": "1"}) == ['no case has tier "1"; there are 1, 2']  # a number is no text to a rubric
    assert lines({"tier": ["1", 3]}) == ['no case has tier ["1", 3]; there are 1, 2']


def test_a_rubric_that_names_a_key_no_case_has_is_told_the_keys() -> None:
    assert lines({"lnag": "en"}) == ["no case has the metadata lnag; did you mean lang? the keys there are lang, tier"]
    assert lines({"lang": "en"}, [{}]) == ["no case has the metadata lang; the cases have no metadata"]


def test_of_several_keys_only_those_that_meet_nothing_are_named() -> None:
    assert lines({"lang": "en", "tier": 3}) == ["no case has tier 3; there are 1, 2"]
    assert lines({"lang": "fr", "gone": None}) == ['no case has lang "fr"; there are "en", "de"']
    (line,) = lines({"lang": "en", "tier": 2})
    assert line == "each of its keys is met by some case, all of them by none that is selected"


def test_very_many_values_and_long_ones_are_not_remembered_and_nothing_wrong_is_said_of_them() -> None:
    many = [{"n": n, "text": "x" * 10_000, "k": 1} for n in range(5_000)]
    assert lines({"n": 4_999}, many) == []
    assert lines({"n": -1}, many) == ["no case has n -1; there are 0, 1, 2, 3, 4 and many more"]
    (line,) = lines({"n": 4_999, "k": 2}, many)
    assert line == "no case has k 2; there is 1"
    assert len(seen(many).values("n")) < 1_000 and seen(many).values("text") == []


def test_values_are_shown_without_what_a_terminal_obeys() -> None:
    (line,) = lines({"a": 1}, [{"a": "\x1b[31m\nx", "\x1b]0;": 1}])
    assert line.isprintable()


def why(where: dict[str, Any], metadata: Sequence[dict[str, Any]] = SOME) -> str:
    return Selection(where).why_none(seen(metadata))


def test_a_selection_that_meets_nothing_is_told_what_there_is() -> None:
    assert why({"lang": "fr"}) == 'dataset.where.lang=fr: no case has that value; there are "en", "de"'
    assert "did you mean lang?" in why({"lnag": "en"})
    assert why({"lang": "en", "tier": "2"}) == "each of dataset.where is met by some case, all of them by none"


def test_a_selection_that_asks_for_no_metadata_has_nothing_to_explain() -> None:
    assert why({}) == "" and why({"lang": "en"}, []) == ""

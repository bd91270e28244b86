"""What people pass from Python: taken in every sensible form, refused in words in any other."""

from types import MappingProxyType
from typing import Any

import pytest

from jeval.case import Case
from jeval.errors import ConfigError, DataError
from jeval.given import judge_of, models_of, thresholds_of
from jeval.judges.offline import OfflineJudge
from jeval.rubric import Rubric, Thresholds
from tests.samples import case, rubric

BODY = {"id": "a", "input": "i", "output": "o"}


def test_models_and_mappings_of_any_sort_may_be_mixed_and_come_from_any_iterable() -> None:
    given = iter([case(id="m"), BODY, MappingProxyType({**BODY, "id": "b", "toolEvents": []})])
    assert [one.id for one in models_of(given, Case)] == ["m", "a", "b"]


def test_every_problem_is_told_with_its_position_and_id() -> None:
    wrong: list[Any] = [{**BODY, "outptu": "x"}, "b", {**BODY, "id": "c", "input": 7}]
    with pytest.raises(DataError) as caught:
        models_of(wrong, Case)
    unknown, shapeless, number = map(str, caught.value.problems)
    assert unknown == "case 1 (a): outptu is not a known key; did you mean output?"
    assert shapeless.startswith("case 2: must be an object (it is 'b'); write {")
    assert number == 'case 3 (c): input must be text (it is 7); write it in quotes: "7"'


def test_problems_beyond_the_first_fifty_are_counted() -> None:
    with pytest.raises(DataError) as caught:
        models_of([{"id": f"c{n}", "input": "i"} for n in range(60)], Case)
    assert (len(caught.value.problems), caught.value.more) == (50, 10)


@pytest.mark.parametrize("again", [case(id="a"), BODY])
def test_an_id_given_twice_is_refused_as_it_is_in_a_file(again: Any) -> None:
    with pytest.raises(DataError, match=r"case 3 \(a\): id is case 1's already \(it is 'a'\); give each its own id"):
        models_of([BODY, {**BODY, "id": "b"}, again], Case)


@pytest.mark.parametrize("wrong", [rubric("custom"), rubric("custom").definition(), "rubrics.yaml", b"x", 7, None])
def test_what_is_no_collection_is_refused_and_models_are_not_shown_whole(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"rubrics is .*; pass a list of Rubric or of mappings, even for one") as caught:
        models_of(wrong, Rubric)
    assert len(str(caught.value)) < 100


def test_thresholds_are_a_profile_a_mapping_or_the_default() -> None:
    assert thresholds_of(None) == thresholds_of({}) == Thresholds()
    assert thresholds_of({"pass": 0.9}) == thresholds_of({"pass_": 0.9}) == Thresholds(pass_=0.9)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"pass": 2}, r"thresholds: pass is too large \(it is 2\); write at most 1"),
        ({"pass": 0.4, "fail": 0.5}, "thresholds: pass 0.4 .* must exceed 1"),
        ({"passed": 0.9}, "thresholds: passed is not a known key; did you mean pass"),
    ],
)
def test_thresholds_that_cannot_be_are_refused_in_one_line(wrong: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=said) as caught:
        thresholds_of(wrong)
    assert "\n" not in str(caught.value)


def test_thresholds_of_another_shape_are_told_the_right_one() -> None:
    with pytest.raises(TypeError, match=r"thresholds is \(0.9, 0.5\); pass Thresholds\(pass_=0.75, fail=0.5\)"):
        thresholds_of((0.9, 0.5))  # type: ignore[arg-type]


def test_a_judge_is_whatever_has_all_that_a_judge_has() -> None:
    judge = OfflineJudge()
    assert judge_of(judge) is judge
    assert judge_of(None) is None
    with pytest.raises(TypeError, match="which has no name, gateway, model, simulated, ask, close; pass a Judge"):
        judge_of("offline")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a class and not an instance"):
        judge_of(OfflineJudge)  # type: ignore[arg-type]

"""The error tree: complete in its docstring, each with its exit code, each a line people can act on."""

import re

import pytest

from jeval import errors
from jeval.errors import (
    ConfigError,
    DataError,
    JevalError,
    JudgeError,
    JudgeRefused,
    MalformedAnswer,
    NotFound,
    Problem,
    StoreError,
    StoreTooNew,
)


def drawn() -> list[tuple[int, str, int]]:
    """The tree in the module's docstring: depth, name and exit code of each line."""
    found = []
    for line in (errors.__doc__ or "").splitlines():
        match = re.match(r"([│├└─ ]*)([A-Z]\w+) +(\d)\b", line)
        if match:
            found.append((len(match[1]) // 4, match[2], int(match[3])))
    return found


def derived(root: type[Exception]) -> list[type[Exception]]:
    """A class and all derived from it in this module."""
    below = [one for child in root.__subclasses__() for one in derived(child)]
    return [root, *(one for one in below if one.__module__ == errors.__name__)]


def test_the_tree_in_the_docstring_names_every_error() -> None:
    assert sorted(name for _, name, _ in drawn()) == sorted(one.__name__ for one in derived(JevalError))


def test_the_tree_in_the_docstring_hangs_each_error_under_its_parent() -> None:
    above: list[str] = []
    for depth, name, _ in drawn():
        del above[depth:]
        parents = getattr(errors, name).__bases__
        assert [one.__name__ for one in parents] == (above[-1:] or ["Exception"])
        above.append(name)


@pytest.mark.parametrize(("name", "code"), [(name, code) for _, name, code in drawn()])
def test_each_error_leads_to_the_exit_code_drawn_beside_it(name: str, code: int) -> None:
    assert getattr(errors, name).exit_code == code


def test_every_error_of_the_tree_is_public() -> None:
    assert {one.__name__ for one in derived(JevalError)} == set(errors.__all__) - {"Problem"}


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ConfigError("x"), 3),
        (DataError([]), 3),
        (StoreError("x"), 3),
        (StoreTooNew("x"), 3),
        (NotFound("x"), 3),
        (JudgeError("timeout", "x"), 2),
        (MalformedAnswer("x"), 2),
        (JudgeRefused("auth", "x"), 2),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else str(value),
)
def test_usage_errors_exit_with_3_and_a_judge_that_did_not_answer_with_2(error: JevalError, code: int) -> None:
    assert error.exit_code == code


def test_a_problem_names_place_field_fault_value_and_remedy_in_one_line() -> None:
    problem = Problem("cases.jsonl:12", "toolEvents[0].status", "'done'", "is none of the values", "use success")
    assert str(problem) == "cases.jsonl:12: toolEvents[0].status is none of the values (it is 'done'); use success"


def test_a_problem_with_a_whole_line_names_no_field_and_no_value() -> None:
    assert str(Problem("cases.jsonl:3", "", None, "is not JSON", "check the quotes")) == (
        "cases.jsonl:3: is not JSON; check the quotes"
    )


def test_a_data_error_tells_every_problem_and_how_many_more_there_are() -> None:
    problems = [Problem(f"cases.jsonl:{line}", "id", None, "is missing", "add it") for line in (1, 2)]
    error = DataError(problems, more=7)
    assert str(error).splitlines() == [*map(str, problems), "… and 7 more problems"]
    assert error.problems == tuple(problems)
    assert error.more == 7


def test_a_data_error_with_nothing_more_says_nothing_of_more() -> None:
    assert str(DataError([Problem("a:1", "id", None, "is missing", "add it")])) == "a:1: id is missing; add it"


def test_a_judge_error_keeps_its_kind_its_attempts_and_its_time() -> None:
    error = JudgeError("timeout", "no answer within 10 s", attempts=3, latency_ms=30_000.0)
    assert str(error) == error.message == "no answer within 10 s"
    assert (error.kind, error.attempts, error.latency_ms) == ("timeout", 3, 30_000.0)


def test_time_a_judge_error_does_not_know_is_unknown_and_not_zero() -> None:
    assert JudgeError("timeout", "x").latency_ms is None


def test_what_a_judge_error_took_is_unknown_and_not_zero_unless_it_is_told() -> None:
    error = JudgeRefused("auth", "x")
    assert (error.input_tokens, error.output_tokens, error.cost_usd) == (None, None, None)
    error = JudgeRefused("auth", "x", input_tokens=1000, output_tokens=10, cost_usd=0.25)
    assert (error.input_tokens, error.output_tokens, error.cost_usd) == (1000, 10, 0.25)


def test_a_malformed_answer_is_a_judge_error_of_kind_malformed() -> None:
    error = MalformedAnswer("the probabilities sum to 7.5", attempts=2)
    assert isinstance(error, JudgeError)
    assert (error.kind, error.message, error.attempts) == ("malformed", "the probabilities sum to 7.5", 2)


@pytest.mark.parametrize(
    "error",
    [
        JudgeError("timeout", "no answer", attempts=3, latency_ms=12.5),
        JudgeRefused("auth", "bad key", attempts=1),
        MalformedAnswer("NaN", attempts=2),
        MalformedAnswer("NaN", replies=2, input_tokens=2000, output_tokens=20, cost_usd=0.5),
    ],
)
def test_a_judges_error_survives_the_way_between_processes(error: JudgeError) -> None:
    import pickle

    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert vars(copy) == vars(error)
    assert str(copy) == str(error)


def test_a_data_error_survives_the_way_between_processes() -> None:
    import pickle

    error = DataError([Problem("a:1", "id", "'x'", "is odd", "mend it", 4, ("a:2",))], 2, "nothing was written")
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.problems, copy.more, copy.undone, str(copy)) == (error.problems, 2, error.undone, str(error))


def test_a_problem_that_stands_in_several_places_counts_for_each() -> None:
    problem = Problem("a:1", "id", None, "is missing", "add it", 4, ("a:2", "a:3"))
    assert str(problem) == "a:1: id is missing; add it (and 4 more alike: a:2, a:3, …)"
    assert DataError([problem, problem], 3).total == 13

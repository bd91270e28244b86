"""What people pass from Python, as models: or an error that says what to pass instead."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from jeval.case import Case
from jeval.errors import ConfigError, DataError, Problem
from jeval.metric import Metric
from jeval.problems import problems_of, shorten
from jeval.question import Judge
from jeval.rubric import Rubric, Thresholds

__all__ = ["CaseLike", "MetricLike", "RubricLike", "ThresholdsLike", "judge_of", "models_of", "thresholds_of"]

CaseLike = Case | Mapping[str, Any]
RubricLike = Rubric | Mapping[str, Any]
MetricLike = Metric | Mapping[str, Any]
ThresholdsLike = Thresholds | Mapping[str, Any]

_M = TypeVar("_M", Case, Rubric, Metric)

_JUDGE = ("name", "gateway", "model", "simulated", "ask", "close")
_SHOWN = 50


def models_of(items: Iterable[_M | Mapping[str, Any]], model: type[_M]) -> list[_M]:
    """The items as models. An id given twice is a fault, as it is in a file.

    Raises DataError with every problem found (the first 50 in full), TypeError for what is no collection of them.
    """
    noun = model.__name__.lower()
    if isinstance(items, BaseModel | Mapping | str | bytes) or not isinstance(items, Iterable):
        raise TypeError(f"{noun}s is {_shown(items)}; pass a list of {model.__name__} or of mappings, even for one")
    found: list[_M] = []
    problems: list[Problem] = []
    seen: dict[str, int] = {}
    for position, item in enumerate(items, 1):
        place = f"{noun} {position}"
        name = item.get("id") if isinstance(item, Mapping) else getattr(item, "id", None)
        if isinstance(name, str):
            place += f" ({shorten(name)[1:-1]})"
            if name in seen:
                message = f"is {noun} {seen[name]}'s already"
                problems.append(Problem(place, "id", shorten(name), message, "give each its own id"))
            seen.setdefault(name, position)
        try:
            found.append(item if isinstance(item, model) else model.model_validate(_plain(item)))
        except ValidationError as error:
            problems += problems_of(error, model, place)
    if problems:
        raise DataError(problems[:_SHOWN], max(0, len(problems) - _SHOWN))
    return found


def thresholds_of(given: ThresholdsLike | None) -> Thresholds:
    """The thresholds, the default ones (pass 0.75, fail 0.5) for None. Raises ConfigError, or TypeError."""
    if given is None or isinstance(given, Thresholds):
        return given or Thresholds()
    if not isinstance(given, Mapping):
        remedy = "pass Thresholds(pass_=0.75, fail=0.5), or {'pass': 0.75, 'fail': 0.5}"
        raise TypeError(f"thresholds is {_shown(given)}; {remedy}")
    try:
        return Thresholds.model_validate(dict(given))
    except ValidationError as error:
        raise ConfigError("; ".join(map(str, problems_of(error, Thresholds, "thresholds")))) from error


def judge_of(given: Judge | None) -> Judge | None:
    """The judge, where it is one. Raises TypeError."""
    if given is None:
        return None
    missing = [name for name in _JUDGE if not hasattr(given, name)]
    if not missing and not isinstance(given, type):
        return given
    why = f"which has no {', '.join(missing)}" if missing else "a class and not an instance"
    raise TypeError(
        f"judge is {_shown(given)}, {why}; pass a Judge, such as jeval.judges.http.HttpJudge(…), or leave it out for "
        "the offline one"
    )


def _plain(item: Any) -> Any:
    # pydantic takes a dict for a model, and no other mapping.
    return dict(item) if isinstance(item, Mapping) else item


def _shown(value: Any) -> str:
    """A value in an error: what was passed may be whole documents, so models and mappings by name only."""
    if isinstance(value, BaseModel):
        return f"one {type(value).__name__}"
    return f"one {type(value).__name__}" if isinstance(value, Mapping) else shorten(value)

"""Metrics written for DeepEval, taken over: `metrics_from_deepeval(metric)`.

DeepEval is never imported here: what is read of its objects is their attributes. Who holds such an object has
it installed.
"""

import re
from collections.abc import Iterable
from typing import Any, overload

from pydantic import ValidationError

from jeval.errors import ConfigError
from jeval.metric import Choice, Metric, MetricQuestion, Noul, Score

__all__ = ["metrics_from_deepeval"]

_SINGLE, _TURNS = "JevEval", "ConversationalJevEval"


@overload
def metrics_from_deepeval(metric: Iterable[Any], *, version: str = "1.0.0") -> list[Metric]: ...
@overload
def metrics_from_deepeval(metric: Any, *, version: str = "1.0.0", id: str | None = None) -> Metric: ...
def metrics_from_deepeval(metric: Any, *, version: str = "1.0.0", id: str | None = None) -> Any:
    """DeepEval's `JevEval` or `ConversationalJevEval` as a `Metric` of ours; of several a list of them.

    The id is made of its name unless given: "Tool Faithfulness" becomes "tool-faithfulness". DeepEval knows
    no versions, so say which one this is. Questions, weights, credits, fields, threshold and strict mode are
    kept; its judge, its LLM and its reason are not. Raises ConfigError where something has no counterpart.
    """
    if isinstance(metric, Iterable) and not isinstance(metric, str | bytes):
        return [_metric(one, version, None) for one in metric]
    return _metric(metric, version, id)


def _metric(metric: Any, version: str, id: str | None) -> Metric:
    kinds = [base.__name__ for base in type(metric).__mro__]
    if _SINGLE not in kinds and _TURNS not in kinds:
        raise ConfigError(
            f"{type(metric).__name__} is no {_SINGLE} or {_TURNS}; only these hold bounded questions to take"
        )
    name = str(metric.name)
    fields = [str(getattr(one, "value", one)) for one in metric.evaluation_params or ()]
    if not fields:
        raise ConfigError(
            f"metric {name!r:.80} has no evaluation_params, so it reads a trace, which cases have not; "
            "name the fields its questions are about"
        )
    body = {
        "id": id or _id(name),
        "version": version,
        "description": f"Taken over from DeepEval's {name}."[:1000],
        "turns" if _TURNS in kinds else "fields": fields,
        # A metric without a threshold of its own is not judged by one; ours has one always.
        "threshold": 0.5 if metric.threshold is None else float(metric.threshold),
        "strict": bool(metric.strict_mode),
        "questions": [_question(name, number, one) for number, one in enumerate(metric.questions, 1)],
    }
    try:
        return Metric.model_validate(body)
    except ValidationError as error:
        raise ConfigError(f"metric {name!r:.80} cannot be taken over: {_why(error)}") from error


def _id(name: str) -> str:
    made = re.sub(r"[^A-Za-z0-9._:-]+", "-", name.strip()).strip("-._:").lower()[:200]
    if not made:
        raise ConfigError(f"metric {name!r:.80}: no id can be made of its name; give one with id=")
    return made


def _question(name: str, number: int, question: Any) -> MetricQuestion:
    kind = getattr(question, "type", None)
    try:
        if kind == "noul":
            meanings = {side: _meaning(getattr(question, side, None)) for side in ("true", "false")}
            return Noul(question.statement, weight=float(question.weight), **meanings)
        if kind == "score":
            return Score(question.question, levels=list(question.levels), weight=float(question.weight))
        if kind == "choice":
            options = {option: None if credit is None else float(credit) for option, credit in question.options.items()}
            return Choice(question.question, options=options, weight=float(question.weight))
    except ValidationError as error:
        raise ConfigError(f"metric {name!r:.80}, question {number} cannot be taken over: {_why(error)}") from error
    raise ConfigError(f"metric {name!r:.80}, question {number}: {kind!r:.40} is no noul, score or choice")


def _meaning(value: Any) -> str | None:
    """A noul's optional description; DeepEval lets it be any JSON, which is sent as text here."""
    return value if value is None or isinstance(value, str) else str(value)


def _why(error: ValidationError) -> str:
    fault = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in fault["loc"])
    message = str(fault.get("ctx", {}).get("error", fault["msg"]))
    return f"{place}: {message}" if place else message

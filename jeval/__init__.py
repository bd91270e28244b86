"""Evaluate recorded AI outputs: cases and rubrics in, judged checks out.

The pipeline, in the order it runs:

1. `Case` and `Rubric` (and `Metric`) say what to evaluate and how.
2. `jeval.plan` turns a case into checks settled by code and questions to ask.
3. A judge answers the questions with probabilities; each answer is a judgment.
4. `jeval.decision` turns judgments and `Thresholds` into checks, as often as wanted, at no cost.
5. `jeval.summary` counts them; the gate, compare and reports read the counts.

`evaluate_case` and `evaluate_dataset` run the whole of it; each has an async twin.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Where each public name lives. Loaded on first use, so that the command line starts in a blink.
_HOMES = {
    "Case": "jeval.case",
    "Check": "jeval.result",
    "CaseResult": "jeval.result",
    "Choice": "jeval.metric",
    "JevalError": "jeval.errors",
    "Metric": "jeval.metric",
    "Noul": "jeval.metric",
    "Rubric": "jeval.rubric",
    "Score": "jeval.metric",
    "Thresholds": "jeval.rubric",
    "evaluate_case": "jeval.evaluate",
    "evaluate_case_async": "jeval.evaluate",
    "evaluate_dataset": "jeval.evaluate",
    "evaluate_dataset_async": "jeval.evaluate",
    "metrics_from_deepeval": "jeval.from_deepeval",
}

__all__ = ["__version__", *sorted(_HOMES)]  # noqa: PLE0604 - names, all of them

if TYPE_CHECKING:
    from jeval.case import Case as Case
    from jeval.errors import JevalError as JevalError
    from jeval.evaluate import evaluate_case as evaluate_case
    from jeval.evaluate import evaluate_case_async as evaluate_case_async
    from jeval.evaluate import evaluate_dataset as evaluate_dataset
    from jeval.evaluate import evaluate_dataset_async as evaluate_dataset_async
    from jeval.from_deepeval import metrics_from_deepeval as metrics_from_deepeval
    from jeval.metric import Choice as Choice
    from jeval.metric import Metric as Metric
    from jeval.metric import Noul as Noul
    from jeval.metric import Score as Score
    from jeval.result import CaseResult as CaseResult
    from jeval.result import Check as Check
    from jeval.rubric import Rubric as Rubric
    from jeval.rubric import Thresholds as Thresholds


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'jeval' has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return __all__

"""Everything that can go wrong, as one tree. Each error knows the exit code it leads to.

JevalError                3
├── ConfigError           3  an override, a config group, a threshold, a key variable
├── DataError             3  one or more `Problem`s in what people wrote
├── StoreError            3  the SQLite file cannot be used
│   └── StoreTooNew       3  it was written by a newer jeval
├── NotFound              3  no run, case or rubric of that name
└── JudgeError            2  the judge did not give a usable answer
    ├── MalformedAnswer   2  it answered, but not what was asked
    └── JudgeRefused      2  it will refuse every request alike (a bad key, an unknown model)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

__all__ = [
    "ConfigError",
    "DataError",
    "JevalError",
    "JudgeError",
    "JudgeRefused",
    "MalformedAnswer",
    "NotFound",
    "Problem",
    "StoreError",
    "StoreTooNew",
]


class JevalError(Exception):
    """The root. The message is one line: the thing, its value, where it is, and the remedy."""

    exit_code = 3


class ConfigError(JevalError):
    """A setting that cannot be used."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong in what a person wrote.

    `place` is the file and line (`cases.jsonl:12`) or the item handed over (`case 12 (late)`), `field` a dotted
    path inside it or "" for the whole, `value` what stands there, already shortened for display, or None where
    nothing does. `alike` counts the same wrong in other places, of which `also` names the first.
    """

    place: str
    field: str
    value: str | None
    message: str
    remedy: str
    alike: int = 0
    also: tuple[str, ...] = ()

    def __str__(self) -> str:
        field = f" {self.field}" if self.field else ""
        value = f" (it is {self.value})" if self.value is not None else ""
        more = ""
        if self.alike:
            places = ", ".join(self.also) + (", …" if self.alike > len(self.also) else "")
            more = f" (and {self.alike:,} more alike{f': {places}' if self.also else ' there'})"
        return f"{self.place}:{field} {self.message}{value}; {self.remedy}{more}"


class DataError(JevalError):
    """Files people wrote do not hold what they must; carries every problem found, not the first only.

    `more` counts problems found beyond those kept in `problems`. `undone` says what was not done for them, where the
    one who found them knows best.
    """

    def __init__(self, problems: Sequence[Problem], more: int = 0, undone: str | None = None) -> None:
        self.problems = tuple(problems)
        self.more = more
        self.undone = undone
        lines = [str(problem) for problem in self.problems]
        if more:
            lines.append(f"… and {more:,} more problem{'' if more == 1 else 's'}")
        super().__init__("\n".join(lines))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.problems, self.more, self.undone)

    @property
    def total(self) -> int:
        """How many problems there are."""
        return sum(1 + problem.alike for problem in self.problems) + self.more


class StoreError(JevalError):
    """The store cannot be opened, read or written."""


class StoreTooNew(StoreError):
    """The store's schema is newer than this jeval knows."""


class NotFound(JevalError):
    """A run, case or rubric that the store does not hold."""


class JudgeError(JevalError):
    """A request that brought no usable answer.

    `kind` is a short stable word (timeout, connection, rate_limited, overloaded, server_error, bad_request,
    too_large, auth, malformed, …); `attempts` counts requests sent, `replies` those that got any reply;
    `latency_ms` is the time spent in all. `input_tokens`, `output_tokens` and `cost_usd` are what replies without
    a usable answer took all the same, None where they do not say.
    """

    exit_code = 2

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        attempts: int = 1,
        replies: int = 0,
        latency_ms: float | None = None,
        input_tokens: int | None = None,
        output_tokens: int | None = None,
        cost_usd: float | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.attempts = attempts
        self.replies = replies
        self.latency_ms = latency_ms
        self.input_tokens = input_tokens
        self.output_tokens = output_tokens
        self.cost_usd = cost_usd

    def __reduce__(self) -> tuple[Any, ...]:
        # An error crosses processes in a parallel sweep, which pickles it by its arguments.
        took = {name: value for name, value in vars(self).items() if name not in ("kind", "message")}
        return _rebuilt, (type(self), self.kind, self.message, took)


class MalformedAnswer(JudgeError):
    """An answer that lacks an option, holds NaN, lies outside 0 to 1 or does not sum to 1."""

    def __init__(self, message: str, **took: Any) -> None:
        super().__init__("malformed", message, **took)


class JudgeRefused(JudgeError):
    """A refusal that every further request would meet too, so a run stops asking."""


def _rebuilt(model: type[JudgeError], kind: str, message: str, took: dict[str, Any]) -> JudgeError:
    error = model.__new__(model)
    JudgeError.__init__(error, kind, message, **took)
    return error

"""What a judge is asked and what it answers.

A question is a noul (a proposition), a choice (one of several options) or a score (ordered levels). A judge
answers with probabilities; `check_answer` refuses every answer that does not fit its question.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

from jeval.errors import MalformedAnswer
from jeval.fingerprint import compact, sha256
from jeval.state import State

__all__ = ["Answer", "Judge", "Question", "Reply", "check_answer", "choice", "noul", "score"]

QuestionType = Literal["noul", "choice", "score"]


@dataclass(frozen=True, slots=True)
class Question:
    """One bounded question, immutable, with its wire form and its hash computed once.

    `options` is (name, description or None) in the author's order, which is never changed: for a choice its
    options; for a score its levels worst first, named "0", "1", …, each described by its text; for a noul
    ("true", …) and ("false", …) or nothing. `about` repeats a part of `instructions` that code may want to
    read on its own (the claim, the action); it is not sent and not hashed.
    """

    type: QuestionType
    instructions: str
    options: tuple[tuple[str, str | None], ...] = ()
    about: str | None = None
    names: tuple[str, ...] = field(init=False, repr=False, compare=False)
    wire: str = field(init=False, repr=False, compare=False)
    sha256: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = tuple(name for name, _ in self.options)
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "wire", compact(self._body()))
        # A list of pairs, for the order of options is part of the question.
        identity = [self.type, self.instructions, [list(option) for option in self.options]]
        object.__setattr__(self, "sha256", sha256(identity))

    def _body(self) -> dict[str, Any]:
        body: dict[str, Any] = {"type": self.type, "instructions": self.instructions}
        if self.type == "score":
            body["criteria"] = [text for _, text in self.options]
        elif self.options:
            body["criteria"] = dict(self.options)
        return body


def noul(instructions: str, *, about: str | None = None) -> Question:
    """A proposition; the answer is P(true)."""
    return Question("noul", instructions, (), about)


def choice(instructions: str, options: Mapping[str, str | None], *, about: str | None = None) -> Question:
    """One of 2 to 255 options, in the order given."""
    return Question("choice", instructions, tuple(options.items()), about)


def score(instructions: str, levels: tuple[str, ...], *, about: str | None = None) -> Question:
    """A place on 2 to 10 ordered levels, worst first."""
    return Question("score", instructions, tuple((str(i), text) for i, text in enumerate(levels)), about)


class Answer(NamedTuple):
    """A judge's answer to one question.

    `probabilities` maps each option to its probability, 0 to 1, in the question's order; for a noul it is
    {"true": p}. `confidence` is the provider's statistic of the distribution's shape, 0 to 1, or None: it is
    kept, never used for a decision and never an accuracy. `score` is the provider's expected level of a
    score question, clamped to its range.
    """

    probabilities: Mapping[str, float]
    confidence: float | None = None
    score: float | None = None

    @property
    def leader(self) -> str:
        """The most probable option; the author's order breaks a tie."""
        return max(self.probabilities, key=self.probabilities.__getitem__)

    def stored(self) -> dict[str, Any]:
        """A JSON value that `restored` turns back into this answer."""
        body: dict[str, Any] = {"probabilities": dict(self.probabilities)}
        if self.confidence is not None:
            body["confidence"] = self.confidence
        if self.score is not None:
            body["score"] = self.score
        return body

    @classmethod
    def restored(cls, body: Mapping[str, Any]) -> "Answer":
        return cls(body["probabilities"], body.get("confidence"), body.get("score"))


class Reply(NamedTuple):
    """What one request brought: every answer by its key, and what it took.

    `model` is the version that answered; tokens, cost and request id are None where the judge does not say.
    `latency_ms` is the whole time including retries, `attempts` the requests sent and
    `replies` how many of those over HTTP got any reply, a refusal too.
    """

    answers: Mapping[str, Answer]
    model: str
    latency_ms: float | None = None
    attempts: int = 1
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    request_id: str | None = None
    replies: int = 0


class Judge(Protocol):
    """Anything that answers questions about a state.

    `name` is the judge's name in a config, `gateway` the door it is reached by and `model` the model asked:
    together the judge's identity. `simulated` is true where no model stands behind it.
    """

    name: str
    gateway: str
    model: str
    simulated: bool

    async def ask(self, state: State, questions: Mapping[str, Question]) -> Reply:
        """Answer every question about the state. Raises JudgeError where it cannot."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


def _probability(value: Any, what: str) -> float:
    # bool is an int to Python, but true is no probability.
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise MalformedAnswer(f"{what} is {value!r:.40}, not a number")
    if not 0 <= value <= 1:  # also catches NaN
        raise MalformedAnswer(f"{what} is {value!r:.40}, outside 0 to 1")
    return float(value)


def _confidence(raw: Mapping[str, Any]) -> float | None:
    value = raw.get("confidence")
    return None if value is None else _probability(value, "confidence")


def check_answer(question: Question, raw: Any) -> Answer:
    """The answer in `raw`, as it came over the wire, or MalformedAnswer saying what does not fit.

    Two-decimal rounding is normal, so a distribution of n options may miss 1 by 0.005·n + 0.01.
    """
    # Asked of every answer of a run, so the common type is tried before the abstract one, which is slow to ask.
    if type(raw) is not dict and not isinstance(raw, Mapping):
        raise MalformedAnswer(f"the answer is {type(raw).__name__}, not an object")
    if raw.get("type", question.type) != question.type:
        raise MalformedAnswer(f"asked a {question.type}, answered a {raw['type']!r:.40}")
    if question.type == "noul":
        return Answer({"true": _probability(raw.get("noul"), "noul")})
    given = raw.get("probabilities")
    if type(given) is not dict and not isinstance(given, Mapping):
        raise MalformedAnswer("the answer holds no probabilities")
    probabilities: dict[str, float] = {}
    total = 0.0
    for name in question.names:
        if name not in given:
            raise MalformedAnswer(f"the probability of {name!r} is missing")
        p = given[name]
        if type(p) is not float or not 0.0 <= p <= 1.0:
            p = _probability(p, f"the probability of {name!r}")
        probabilities[name] = p
        total += p
    if len(given) != len(question.names):
        extra = next(name for name in given if name not in question.names)
        raise MalformedAnswer(f"{extra!r:.60} was not among the options")
    # The last term lets a sum that misses by exactly that much through, as 0.5 + 0.48 does.
    if abs(total - 1) > 0.005 * len(probabilities) + 0.01 + 1e-9:
        raise MalformedAnswer(f"the probabilities sum to {total:.4g}")
    if question.type == "choice":
        return Answer(probabilities, _confidence(raw))
    return Answer(probabilities, _confidence(raw), _level(raw, probabilities))


def _level(raw: Mapping[str, Any], probabilities: Mapping[str, float]) -> float:
    """The API's own expected level, clamped to 0 … levels − 1."""
    value = raw.get("score")
    if isinstance(value, bool) or not isinstance(value, int | float) or not -math.inf < value < math.inf:
        raise MalformedAnswer(f"the score is {value!r:.40}, not a number")
    # Clamped first, for an int can exceed every float.
    return float(min(max(value, 0.0), len(probabilities) - 1.0))

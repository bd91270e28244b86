"""What is scored: a metric is weighted, bounded questions with a stable id and version. Reads no files.

A question's probabilities become a value from 0 to 1 and the values a weighted mean (`jeval.score`). Weights
and credits stay here: the judge sees the texts, the levels and the names of the options.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    AfterValidator,
    AliasChoices,
    BeforeValidator,
    Field,
    StrictBool,
    StringConstraints,
    model_validator,
)

from jeval.case import Id, Text, _Model
from jeval.fingerprint import sha256
from jeval.level_order import looks_reversed
from jeval.metric_field import ALL, FROM_CASE, STATE_FIELDS, SingleTurnField, TurnField
from jeval.rubric import Probability
from jeval.rules import Broken, Ruled

__all__ = ["Choice", "Metric", "MetricQuestion", "Noul", "Score"]

MAX_LEVELS = 10
MAX_OPTIONS = 255


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be empty")
    return text


Weight = Annotated[float, Field(gt=0, strict=True, allow_inf_nan=False)]
Words = Annotated[str, StringConstraints(max_length=20_000, strict=True), AfterValidator(_not_blank)]


def _worst_first(levels: tuple[str, ...]) -> tuple[str, ...]:
    if not 2 <= len(levels) <= MAX_LEVELS:
        raise ValueError(f"a score has 2 to {MAX_LEVELS} levels, worst first; this one has {len(levels)}")
    seen: set[str] = set()
    for level in levels:
        if level.strip() in seen:
            raise ValueError(f"the level {level!r:.80} occurs twice")
        seen.add(level.strip())
    return levels


def _named(options: Any) -> Any:
    if isinstance(options, Mapping):
        for name in options:
            # YAML reads an unquoted yes, no, on or 1 as something else, and would ask another question.
            if not isinstance(name, str):
                raise ValueError(f'the option {name!r} is not text; write its name in quotes, as in "yes": 1.0')
    return options


def _creditable(options: dict[str, float | None]) -> dict[str, float | None]:
    if not 2 <= len(options) <= MAX_OPTIONS:
        raise ValueError(f"a choice has 2 to {MAX_OPTIONS} options; this one has {len(options)}")
    if all(credit is None for credit in options.values()):
        raise ValueError("at least one option needs a credit from 0 to 1; null marks one that does not apply")
    return options


class _Asked(_Model):
    """A question whose text may be given by position: `Noul("…", weight=2)`."""

    def __init__(self, text: str | None = None, /, **data: Any) -> None:
        if text is not None:
            data["text"] = text
        super().__init__(**data)


class Noul(_Asked):
    """A proposition about the state, true or false. Its value is P(true)."""

    type: ClassVar[Literal["noul"]] = "noul"

    text: Words = Field(validation_alias=AliasChoices("noul", "text"), serialization_alias="noul")
    """The proposition, as the judge reads it."""
    true: Words | None = Field(default=None, validation_alias="true", serialization_alias="true")
    """What it means that it holds, where that needs saying."""
    false: Words | None = Field(default=None, validation_alias="false", serialization_alias="false")
    """What it means that it does not."""
    weight: Weight = 1.0
    """Its share in the mean, above 0, relative to the other questions'."""

    if TYPE_CHECKING:

        def __init__(
            self, text: str, *, weight: float = 1, true: str | None = None, false: str | None = None
        ) -> None: ...


class Score(_Asked):
    """A place on ordered levels. Its value is the expected level, from 0 at the worst to 1 at the best."""

    type: ClassVar[Literal["score"]] = "score"

    text: Words = Field(validation_alias=AliasChoices("score", "text"), serialization_alias="score")
    """The question, as the judge reads it."""
    levels: Annotated[tuple[Words, ...], AfterValidator(_worst_first)]
    """2 to 10 distinct descriptions, worst first."""
    weight: Weight = 1.0
    """Its share in the mean, above 0, relative to the other questions'."""

    if TYPE_CHECKING:

        def __init__(self, text: str, *, levels: list[str] | tuple[str, ...], weight: float = 1) -> None: ...


class Choice(_Asked):
    """Which of some behaviours occurred. Its value is the mean credit of the options that have one."""

    type: ClassVar[Literal["choice"]] = "choice"

    text: Words = Field(validation_alias=AliasChoices("choice", "text"), serialization_alias="choice")
    """The question, as the judge reads it."""
    options: Annotated[dict[Words, Probability | None], BeforeValidator(_named), AfterValidator(_creditable)]
    """2 to 255 options and the credit each earns, 0 to 1; null where it means that nothing applies."""
    weight: Weight = 1.0
    """Its share in the mean, above 0, relative to the other questions'."""

    if TYPE_CHECKING:

        def __init__(self, text: str, *, options: Mapping[str, float | None], weight: float = 1) -> None: ...


MetricQuestion = Noul | Score | Choice
_TYPES: dict[str, type[Noul] | type[Score] | type[Choice]] = {"noul": Noul, "score": Score, "choice": Choice}


def _read(value: Any) -> Any:
    """A question from its form on disk: `{noul: TEXT, weight: 2}`."""
    if isinstance(value, Noul | Score | Choice):
        return value
    if not isinstance(value, Mapping):
        raise ValueError(f"a question is an object such as {{noul: TEXT}}, not {type(value).__name__}")
    for key in value:
        if not isinstance(key, str):
            raise ValueError(f'the key {key!r} is not text; write it in quotes, as in "true": …')
    found = [name for name in _TYPES if name in value]
    if len(found) != 1:
        keys = ", ".join(value) or "none"
        raise ValueError(f"a question has exactly one of the keys noul, score and choice; this one has: {keys:.200}")
    return _TYPES[found[0]].model_validate(value)


def _some(questions: tuple[MetricQuestion, ...]) -> tuple[MetricQuestion, ...]:
    if not questions:
        raise ValueError("a metric asks at least one question")
    return questions


def _list(names: Any) -> Any:
    return list(ALL) if names in ALL else names


def _all_or_some(names: tuple[str, ...]) -> tuple[str, ...]:
    if names != ALL and set(ALL) & set(names):
        raise ValueError("all stands alone: it is every field a case has, under the names rubrics use")
    return names


def _distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{name} occurs twice")
    return names


class Metric(_Model, Ruled):
    """Weighted questions about chosen fields of a case, and the score from which a case passes."""

    id: Id
    """Stable: scores are compared by it."""
    version: Annotated[str, StringConstraints(min_length=1, max_length=50, strict=True)]
    """Raised whenever the questions change; scores of different versions are never compared."""
    description: Text | None = None
    """For people; never sent."""
    fields: Annotated[
        tuple[SingleTurnField, ...],
        BeforeValidator(_list),
        AfterValidator(_distinct),
        AfterValidator(_all_or_some),
    ] = ()
    """What the judge may see of a single exchange, and nothing else; `all` is what it sees for the rubrics."""
    turns: Annotated[tuple[TurnField, ...], AfterValidator(_distinct)] = ()
    """What the judge may see of a conversation; role and content always belong to it."""
    threshold: Probability = 0.5
    """The least score that passes, 0 to 1. Under `strict` it is 1, whatever was written."""
    strict: StrictBool = False
    """Whether the score is 1 where every applicable question passes in its best possible way, else 0."""
    questions: Annotated[tuple[Annotated[MetricQuestion, BeforeValidator(_read)], ...], AfterValidator(_some)]
    """What is asked, in order."""

    @classmethod
    def broken(cls, given: Any) -> Iterator[Broken]:
        """Whether it is about one exchange, or about a conversation."""
        if bool(given.fields) == bool(given.turns):
            both = "has both" if given.fields else "has neither"
            text = f"a metric names the `fields` of one exchange or the `turns` of a conversation; it {both}"
            yield ("fields", "turns"), text

    @model_validator(mode="after")
    def _strictly(self) -> Self:
        if self.strict:
            self.__dict__["threshold"] = 1.0  # the model is frozen, and not finished yet
        return self

    @property
    def conversational(self) -> bool:
        """Whether it is about a whole conversation."""
        return bool(self.turns)

    @property
    def sees_all(self) -> bool:
        """Whether the judge sees the state that the rubrics' questions are about."""
        return self.fields == ALL

    @property
    def seen(self) -> tuple[str, ...]:
        """The fields the judge sees, in the state's order; a conversation's content and role too."""
        if not self.turns:
            return self.fields
        return (*self.turns, *(name for name in ("content", "role") if name not in self.turns))

    @cached_property
    def sha256(self) -> str:
        """Hash of all that can change a score: all but the description, the order of options too."""
        definition = self.definition(description=False)
        for question in definition["questions"]:
            if "options" in question:
                question["options"] = list(question["options"].items())
        return sha256(definition)

    def definition(self, *, description: bool = True) -> dict[str, Any]:
        """The metric as on disk, without what is left at its default."""
        exclude = None if description else {"description"}
        # Not exclude_none: a null credit means something.
        return self.model_dump(by_alias=True, exclude_defaults=True, mode="json", exclude=exclude)

    def warnings(self) -> tuple[str, ...]:
        """What is allowed but probably not meant, one line each, naming the question by its number from 1."""
        found = []
        for name in self.seen:
            if name not in FROM_CASE:
                found.append(f"{self.id}: no case holds {name}, so no case can be scored; take it out of the metric")
        first: dict[tuple[str, ...], int] = {}
        # Only of names that are no everyday words can one say that a field is meant.
        strange = {name for name in (FROM_CASE if self.sees_all else STATE_FIELDS) if "_" in name}
        for number, question in enumerate(self.questions, start=1):
            for name in sorted(strange & set(re.findall(r"\w+", question.text))):
                found.append(
                    f"{self.id}: question {number} speaks of {name}, which the judge does not see; "
                    f"it sees {', '.join(sorted(STATE_FIELDS) if self.sees_all else self.seen)}"
                )
            found += [f"{self.id}: question {number} {doubt}" for doubt in _doubts(question, self.strict)]
            original = first.setdefault(_identity(question), number)
            if original != number:
                found.append(
                    f"{self.id}: question {number} repeats question {original}, so it counts twice; "
                    "give one of them a higher weight instead"
                )
        return tuple(found)


def _identity(question: MetricQuestion) -> tuple[str, ...]:
    match question:
        case Score():
            return (question.type, question.text, *question.levels)
        case Choice():
            return (question.type, question.text, *question.options)
    return (question.type, question.text)


def _doubts(question: MetricQuestion, strict: bool) -> list[str]:
    if isinstance(question, Score) and looks_reversed(question.levels):
        first, last = question.levels[0], question.levels[-1]
        return [f"has levels that look best first ({first!r:.60} … {last!r:.60}); they are read worst first"]
    if isinstance(question, Choice):
        credits = {credit for credit in question.options.values() if credit is not None}
        if strict and 1 not in credits:
            return ["has no option with credit 1, so it never passes strictly"]
        if len(credits) == 1:
            return [f"gives every option the credit {credits.pop():g}, so its answer cannot change the score"]
    return []

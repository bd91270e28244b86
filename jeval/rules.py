"""Rules between the fields of a model, told together with what is wrong in single fields. Reads no files.

A rule that pydantic checks when all fields are read stays untold where one of them is faulty, and whoever corrects that
one meets it only then. Here it is told at once, as far as the fields that it looks at are sound.
"""

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from types import SimpleNamespace
from typing import Annotated, Any, Self, get_args

from pydantic import AliasChoices, BaseModel, ModelWrapValidatorHandler, TypeAdapter, ValidationError, model_validator
from pydantic.alias_generators import to_snake

__all__ = ["Broken", "Ruled", "refusal"]

Broken = tuple[tuple[str, ...], str]
"""The fields a broken rule looks at, by their names in Python and dotted, and what is wrong."""

Path = tuple[str, ...]


class Ruled(BaseModel):
    """A model with rules between its fields. Raises a ValidationError of all of them that are broken."""

    @classmethod
    def broken(cls, given: Any) -> Iterator[Broken]:
        """The rules that a model breaks. Of one with faulty fields `given` has the sound ones, each of the others at
        its default, or None where it has none."""
        yield from ()

    @model_validator(mode="wrap")
    @classmethod
    def _all_at_once(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            made = handler(data)
        except ValidationError as error:
            if not isinstance(data, Mapping):
                raise
            more = _beside(cls, data, error)
            if not more:
                raise
            raise refusal(cls.__name__, data, more, error) from None
        texts = [text for _, text in cls.broken(made)]
        if texts:
            raise refusal(cls.__name__, data, texts)
        return made


def refusal(title: str, data: Any, texts: Sequence[str], error: ValidationError | None = None) -> ValidationError:
    """The error of a value that breaks these rules, beside the faults that were found in it already."""
    faults: list[Any] = [
        {"type": fault["type"], "loc": fault["loc"], "input": fault["input"], "ctx": fault.get("ctx", {})}
        for fault in (error.errors(include_url=False) if error else ())
    ]
    faults += [{"type": "value_error", "loc": (), "input": data, "ctx": {"error": ValueError(text)}} for text in texts]
    return ValidationError.from_exception_data(title, faults)


def _beside(model: type[Ruled], data: Mapping[Any, Any], error: ValidationError) -> list[str]:
    """The rules broken beside faulty fields, by those that are sound."""
    faults = error.errors(include_url=False)
    unsound = [path for fault in faults for path in _unsound(model, fault)]
    given = SimpleNamespace()
    for name, field in model.model_fields.items():
        value = None if field.is_required() else field.get_default(call_default_factory=True)
        key = next((key for key in _keys(name, field) if key in data), None)
        if key is not None and (name.rstrip("_"),) not in unsound:
            inner = [path[1:] for path in unsound if path[0] == name.rstrip("_")]
            try:
                value = _reader(model, name).validate_python(_without(data[key], inner))
            except ValidationError:
                unsound.append((name.rstrip("_"),))
        setattr(given, name, value)
    return [text for needs, text in model.broken(given) if not any(_touch(need, unsound) for need in needs)]


def _unsound(model: type[Ruled], fault: Any) -> list[Path]:
    """The field that a fault makes unsound; of an unknown key itself and the one it may be a misspelling of."""
    path = tuple(to_snake(part).rstrip("_") for part in fault["loc"][:2] if isinstance(part, str))
    if fault["type"] != "extra_forbidden" or not path:
        return [path] if path else []
    fields: Any = model.model_fields
    if len(path) == 2:
        inner = fields.get(path[0])
        types = () if inner is None else (inner.annotation, *get_args(inner.annotation))
        fields = next((one.model_fields for one in types if hasattr(one, "model_fields")), {})
    meant = get_close_matches(path[-1], fields, n=1)
    return [path, *((*path[:-1], name.rstrip("_")) for name in meant)]


def _touch(need: str, unsound: list[Path]) -> bool:
    wanted = tuple(part.rstrip("_") for part in need.split("."))
    return any(all(a == b for a, b in zip(wanted, path, strict=False)) for path in unsound)


def _without(value: Any, inner: list[Path]) -> Any:
    """A value without what is unsound in it."""
    if not inner or not isinstance(value, Mapping):
        return value
    names = {path[0] for path in inner if path}
    return {key: one for key, one in value.items() if to_snake(str(key)).rstrip("_") not in names}


def _keys(name: str, field: Any) -> list[str]:
    given = field.validation_alias
    aliases = [str(one) for one in given.choices] if isinstance(given, AliasChoices) else [str(given or field.alias)]
    return [*aliases, name]


@cache
def _reader(model: type[Ruled], name: str) -> TypeAdapter[Any]:
    field = model.model_fields[name]
    annotation: Any = field.annotation
    return TypeAdapter(Annotated[annotation, *field.metadata] if field.metadata else annotation)

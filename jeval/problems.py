"""What pydantic finds wrong, in words people can act on: field, value, fault, remedy. Reads no files."""

from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic.alias_generators import to_camel, to_snake

from jeval.errors import Problem
from jeval.sketch import sketch

__all__ = ["nearest", "problems_of", "shorten"]


# As they are written on disk.
_WORDS = {"None": "null", "True": "true", "False": "false"}


def shorten(value: Any, width: int = 60) -> str:
    """A value for display: one line, control characters escaped, at most `width` characters."""
    text = getattr(value, "written", None) or _WORDS.get(repr(value)) or repr(value)
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return text if len(text) <= width else f"{text[: width - 1]}…"


def nearest(name: str, names: Any) -> str | None:
    """The known name most like a mistyped one, or None."""
    known: list[str] = list(names)
    folded = {n.lower().replace("_", "").replace("-", ""): n for n in known}
    hit = folded.get(name.lower().replace("_", "").replace("-", ""))
    if hit:
        return hit
    close = get_close_matches(name, known, n=1, cutoff=0.6)
    return close[0] if close else None


# What a value must be, and the remedy, by pydantic's name for the fault.
_WHOLE = ("must be a whole number", "write one, such as 10")
_NUMBER = ("must be a number", "write one, such as 0.5")
_TRUTH = ("must be true or false", "write true or false")
_LIST = ("must be a list", "write [ … ]")
_OBJECT = ("must be an object", "write { … }")
_SHAPES = {
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float", "int_parsing_size"), _WHOLE),
    **dict.fromkeys(("float_type", "float_parsing", "finite_number"), _NUMBER),
    **dict.fromkeys(("bool_type", "bool_parsing"), _TRUTH),
    **dict.fromkeys(("list_type", "tuple_type"), _LIST),
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), _OBJECT),
    "missing": ("is missing", "add it"),
    "string_too_short": ("is empty", "write a text"),
    "string_pattern_mismatch": (
        "is no valid id",
        "use letters, digits and . _ : - only, beginning with a letter or digit",
    ),
}
_BOUNDS = {
    "less_than_equal": ("is too large", "write at most", "le"),
    "less_than": ("is too large", "write less than", "lt"),
    "greater_than_equal": ("is too small", "write at least", "ge"),
    "greater_than": ("is too small", "write more than", "gt"),
}


def problems_of(error: ValidationError, model: type[BaseModel], place: str) -> list[Problem]:
    """One Problem for each fault in a validation error, but for those of values that are told already."""
    faults = error.errors(include_url=False)
    return [_problem(fault, model, place) for fault in faults if not _is_told(fault)]


def _is_told(fault: Any) -> bool:
    # A reader that goes on past a value it cannot read leaves a text that says so.
    return fault["type"] != "extra_forbidden" and getattr(fault["input"], "told", False) is True


def _problem(fault: Any, model: type[BaseModel], place: str) -> Problem:
    kind, location = fault["type"], fault["loc"]
    value: str | None = shorten(fault["input"])
    if kind in ("missing", "extra_forbidden", "string_too_long", "too_long", "value_error"):
        value = None  # too much, or nothing, or said in the message
    if kind == "extra_forbidden":
        message, remedy = _unknown_key(location, model)
    else:
        message, remedy = _message(kind, fault)
    if _SHAPES.get(kind) in (_LIST, _OBJECT) and (form := sketch(model, location)) != "…":
        remedy = f"write {form}"
    return Problem(place, _path(location), value, message, remedy)


def _message(kind: str, fault: Any) -> tuple[str, str]:
    """What is wrong, and the remedy."""
    context = fault.get("ctx", {})
    if kind in _SHAPES:
        return _SHAPES[kind]
    if kind in _BOUNDS:
        message, remedy, name = _BOUNDS[kind]
        return message, f"{remedy} {context[name]:g}"
    if kind == "string_type":
        return "must be text", _quote_remedy(fault["input"])
    if kind in ("string_too_long", "too_long"):
        actual = context.get("actual_length") or len(fault["input"])
        unit = "characters" if kind == "string_too_long" else "items"
        return f"has {actual:,} {unit}", f"the most is {context['max_length']:,}; shorten it"
    if kind == "literal_error":
        return "is none of the values there are", f"use {context['expected']}"
    text = str(context.get("error", fault["msg"])) if kind == "value_error" else _lower(fault["msg"])
    return text, "correct it"


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def _unknown_key(location: tuple[int | str, ...], model: type[BaseModel]) -> tuple[str, str]:
    known = _known_names(model, location)
    name = str(location[-1])
    if to_camel(name) in known:  # it is known under either name, so both are there
        return "is given under both of its names", "keep one of the two"
    close = nearest(name, known)
    return (
        "is not a known key",
        f"did you mean {close}?" if close else f"the keys there are {', '.join(known)}",
    )


def _quote_remedy(value: Any) -> str:
    written = getattr(value, "written", None)
    if written is None and isinstance(value, int | float) and not isinstance(value, bool):
        written = repr(value)
    return f'write it in quotes: "{written}"' if written is not None else "write a text"


def _path(location: tuple[int | str, ...]) -> str:
    path = ""
    for part in location:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else str(part)
    return path


def _known_names(model: type[BaseModel], location: tuple[int | str, ...]) -> list[str]:
    """The keys, as on disk, that the model at this place understands."""
    fields: Any = model.model_fields
    keyed = False  # whether the next part is a key of an open map
    for part in location[:-1]:
        if isinstance(part, int) or keyed:
            keyed = False
            continue
        field = fields.get(part) or fields.get(to_snake(part))
        if field is not None:
            inner = _model_in(field.annotation)
            fields, keyed = inner.model_fields if inner else {}, "dict[str" in str(field.annotation)
    return [_on_disk(name, field) for name, field in fields.items()]


def _on_disk(name: str, field: Any) -> str:
    return str(field.serialization_alias or field.alias or name)


def _model_in(annotation: Any) -> Any:
    """The first model class inside an annotation like `tuple[Model, ...] | None`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for inner in getattr(annotation, "__args__", ()):
        found = _model_in(inner)
        if found is not None:
            return found
    return None

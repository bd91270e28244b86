"""What pydantic finds wrong, in words people can act on: field, value, fault, remedy."""

from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic.alias_generators import to_snake

from jeval.errors import Problem

__all__ = ["nearest", "problems_of", "shorten"]


def shorten(value: Any, width: int = 60) -> str:
    """A value for display: one line, control characters escaped, at most `width` characters."""
    text = getattr(value, "written", None) or repr(value)
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return text if len(text) <= width else f"{text[: width - 1]}…"


def nearest(name: str, names: Any) -> str | None:
    """The known name most like a mistyped one, or None."""
    known = list(names)
    folded = {n.lower().replace("_", "").replace("-", ""): n for n in known}
    hit = folded.get(name.lower().replace("_", "").replace("-", ""))
    if hit:
        return hit
    close = get_close_matches(name, known, n=1, cutoff=0.6)
    return close[0] if close else None


def problems_of(error: ValidationError, model: type[BaseModel], place: str) -> list[Problem]:
    """One Problem for each fault in a validation error."""
    return [_problem(fault, model, place) for fault in error.errors(include_url=False)]


def _problem(fault: Any, model: type[BaseModel], place: str) -> Problem:
    kind = fault["type"]
    field = _path(fault["loc"])
    value: str | None = shorten(fault["input"])
    context = fault.get("ctx", {})
    if kind == "missing":
        return Problem(place, field, None, "is missing", "add it")
    if kind == "extra_forbidden":
        known = _known_names(model, fault["loc"])
        close = nearest(str(fault["loc"][-1]), known)
        hint = f"did you mean {close}?" if close else f"the keys there are {', '.join(known)}"
        return Problem(place, field, None, "is not a known key", hint)
    if kind == "string_type":
        return Problem(place, field, value, "must be text", _quote_remedy(fault["input"]))
    if kind == "string_pattern_mismatch":
        remedy = "use letters, digits and . _ : - only, beginning with a letter or digit"
        return Problem(place, field, value, "is no valid id", remedy)
    if kind in ("string_too_long", "too_long"):
        most = context["max_length"]
        actual = context.get("actual_length") or len(fault["input"])
        unit = "characters" if kind == "string_too_long" else "items"
        return Problem(place, field, None, f"has {actual:,} {unit}", f"the most is {most:,}; shorten it")
    if kind == "literal_error":
        return Problem(place, field, value, "is none of the values there are", f"use {context['expected']}")
    if kind == "value_error":
        message = str(context.get("error", fault["msg"]))
        return Problem(place, field, None, message, "correct it")
    return Problem(place, field, value, fault["msg"][:1].lower() + fault["msg"][1:], "correct it")


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
    here: Any = model
    for part in location[:-1]:
        if isinstance(part, int) or not isinstance(here, type):
            continue
        field = here.model_fields.get(str(part)) or here.model_fields.get(to_snake(str(part)))
        here = _model_in(field.annotation) if field is not None else here
    if not isinstance(here, type) or not issubclass(here, BaseModel):
        return []
    return [_on_disk(name, field) for name, field in here.model_fields.items()]


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

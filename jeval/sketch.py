"""What a value of some type looks like as people write it: an object with the keys it cannot do without."""

from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.alias_generators import to_snake

__all__ = ["sketch"]


def sketch(model: type[BaseModel], location: tuple[int | str, ...]) -> str:
    """The value at this place in a model, e.g. `{"id": …, "content": …}`; `…` where nothing is known of it."""
    found: Any = model
    for part in location:
        found = _inside(_bare(found), part)
    return _written(_bare(found))


def _bare(annotation: Any) -> Any:
    """The type under what annotates it and makes it optional."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _bare(get_args(annotation)[0])
    if origin in (Union, UnionType):
        return _bare(next((arg for arg in get_args(annotation) if arg is not type(None)), None))
    return annotation


def _inside(annotation: Any, part: int | str) -> Any:
    if _is_model(annotation):
        fields = annotation.model_fields
        field = fields.get(part) or fields.get(to_snake(str(part)))
        return field.annotation if field is not None else None
    origin, args = get_origin(annotation), get_args(annotation)
    if origin in (list, tuple) and args:
        return args[0]
    return args[1] if origin is dict else None


def _written(annotation: Any) -> str:
    origin, args = get_origin(annotation), get_args(annotation)
    if _is_model(annotation):
        needed = {
            str(field.serialization_alias or field.alias or name): field.annotation
            for name, field in annotation.model_fields.items()
            if field.is_required()
        }
        keys = [f'"{name}": {_written(_bare(inner))}' for name, inner in needed.items()]
        return f"{{{', '.join(keys)}}}" if keys else "{ … }"
    if origin is Literal:
        return f'"{args[0]}"'
    if origin in (list, tuple) and args:
        inner = _written(_bare(args[0]))
        return f"[{inner}]" if inner != "…" else "[ … ]"
    if origin is dict:
        inner = _written(_bare(args[1]))
        return f'{{"…": {inner}}}' if inner != "…" else "{ … }"
    return "…"


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)

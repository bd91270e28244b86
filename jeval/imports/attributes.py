"""Attributes of OpenTelemetry's spans, in every form in which they are written, as one flat object."""

from typing import Any

__all__ = ["attributes_of", "listed"]

_PLAIN = ("stringValue", "boolValue", "doubleValue", "bytesValue", "string_value", "bool_value", "double_value")


def attributes_of(value: Any) -> dict[str, Any]:
    """Attributes by dotted name; OTLP writes them as a list of typed values, other exports as an object."""
    if isinstance(value, list):
        return _pairs(value)
    return _flat(value) if isinstance(value, dict) else {}


def _pairs(values: Any) -> dict[str, Any]:
    pairs = values if isinstance(values, list) else []
    named = (one for one in pairs if isinstance(one, dict) and isinstance(one.get("key"), str))
    return {one["key"]: _typed(one.get("value")) for one in named}


def _typed(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    for name in ("arrayValue", "array_value"):
        if isinstance(value.get(name), dict):
            items = value[name].get("values")
            return [_typed(one) for one in items] if isinstance(items, list) else []
    for name in ("kvlistValue", "kvlist_value"):
        if isinstance(value.get(name), dict):
            return _pairs(value[name].get("values"))
    for name in ("intValue", "int_value"):
        if isinstance(value.get(name), str | int):
            text = str(value[name])
            return int(text) if text.lstrip("-").isdecimal() and len(text) < 20 else text
    return next((value[name] for name in _PLAIN if name in value), None)


def _flat(value: dict[str, Any], head: str = "") -> dict[str, Any]:
    """Nested attributes under dotted names, lists of messages and documents left whole."""
    found: dict[str, Any] = {}
    for key, inner in value.items():
        name = f"{head}{key}"
        found.update(_flat(inner, f"{name}.") if isinstance(inner, dict) else {name: inner})
    return found


def listed(attributes: dict[str, Any], name: str, item: str = "") -> list[dict[str, Any]]:
    """A list that is spread over attributes named `name.0.item.key`, or `name.0.key`; nested lists included."""
    inside = f"{item}." if item else ""
    given = attributes.get(name)
    if isinstance(given, list):
        flat = [_flat(one) for one in given if isinstance(one, dict)]
        return [_message({key.removeprefix(inside): value for key, value in one.items()}) for one in flat]
    found: dict[int, dict[str, Any]] = {}
    for key, value in attributes.items():
        if key.startswith(f"{name}."):
            number, _, rest = key.removeprefix(f"{name}.").partition(".")
            if number.isdecimal() and len(number) < 7 and rest.startswith(inside) and rest != inside:
                found.setdefault(int(number), {})[rest.removeprefix(inside)] = value
    return [_message(found[number]) for number in sorted(found)]


def _message(flat: dict[str, Any]) -> dict[str, Any]:
    """A message put together again: the parts of its content, and its calls."""
    parts = listed(flat, "contents", "message_content")
    calls = listed(flat, "tool_calls", "tool_call") or listed(flat, "tool_calls")
    name, arguments = flat.get("function_call_name"), flat.get("function_call_arguments_json")
    if parts:
        flat = {key: value for key, value in flat.items() if not key.startswith("contents")} | {"content": parts}
    if calls:
        flat = {key: value for key, value in flat.items() if not key.startswith("tool_calls")}
        flat["tool_calls"] = [
            {
                "id": call.get("id"),
                "name": call.get("function.name", call.get("name")),
                "arguments": call.get("function.arguments", call.get("arguments")),
            }
            for call in calls
        ]
    elif isinstance(name, str) and name:
        flat["function_call"] = {"name": name, "arguments": arguments}
    return flat

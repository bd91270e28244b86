"""The generated parts of docs/configuration.md: a table for each group, from the settings and conf/."""

from pathlib import Path
from typing import Any

import yaml

from jeval.app.settings import RunSettings

CONF = Path(__file__).resolve().parent.parent / "conf"


def table(group: str, *options: str) -> str:
    """A group's overrides: what they take, what they mean, and their values in these options, as Markdown."""
    schema = RunSettings.model_json_schema(by_alias=True, mode="serialization")
    model = schema["$defs"][schema["properties"][group].get("$ref", "").rpartition("/")[2] or _model(group)]
    values = [yaml.safe_load((CONF / group / f"{option}.yaml").read_text(encoding="utf-8")) for option in options]
    names = [f"`{option}`" for option in options] if len(options) > 1 else ["default"]
    lines = [_row("override", "takes", *names, "meaning"), _row(*["---"] * (len(options) + 3))]
    for name, field in model["properties"].items():
        meaning = " ".join(field["description"].split())
        shown = (_shown(value.get(name, field.get("default"))) for value in values)
        lines.append(_row(f"`{group}.{name}`", _takes(field), *shown, meaning))
    return "\n".join(lines)


def top_level() -> str:
    """The settings that are in no group."""
    properties = RunSettings.model_json_schema(by_alias=True, mode="serialization")["properties"]
    defaults = yaml.safe_load((CONF / "jeval_run.yaml").read_text(encoding="utf-8"))
    lines = [_row("override", "takes", "default", "meaning"), _row(*["---"] * 4)]
    for name in ("store", "name", "tags"):
        field = properties[name]
        lines.append(_row(f"`{name}`", _takes(field), _shown(defaults[name]), field["description"]))
    return "\n".join(lines)


def _model(group: str) -> str:
    return getattr(RunSettings.model_fields[group].annotation, "__name__", "")


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _shown(value: Any) -> str:
    if value == "???":
        return "none: set it"
    return f"`{yaml.safe_dump(value, default_flow_style=True).removesuffix('...' + chr(10)).strip()}`"


def _takes(field: dict[str, Any]) -> str:
    """The type and range of a field in words."""
    if "anyOf" in field:
        return ", or ".join(_takes(one) for one in field["anyOf"])
    if "enum" in field:
        return ", ".join(f"`{one}`" for one in field["enum"])
    least, most = field.get("minimum"), field.get("maximum")
    span = ""
    if least is not None:
        span = f" {least:g} to {most:g}" if most is not None else f" ≥ {least:g}"
    elif "exclusiveMinimum" in field:
        span = f" > {field['exclusiveMinimum']:g}"
    kind = field.get("type", "")
    words = {"null": "`null`", "string": "text", "boolean": "`true`, `false`", "array": "a list", "object": "KEY=VALUE"}
    return words.get(kind) or {"integer": "whole number", "number": "number"}[kind] + span

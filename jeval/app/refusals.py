"""What Hydra or OmegaConf refuse, in one line that says what to type instead and which options there are."""

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jeval.errors import ConfigError
from jeval.problems import nearest

__all__ = ["at_once", "in_words"]

# Which settings name a file that ends like this.
_SETTINGS = {
    ".jsonl": ("dataset",),
    ".ndjson": ("dataset",),
    ".json": ("dataset", "rubrics"),
    ".yaml": ("rubrics", "metrics"),
    ".yml": ("rubrics", "metrics"),
}
_FILES = ("dataset", "rubrics", "metrics")
_SWEPT = re.compile(r"(?:Ambiguous value for argument|Sweep parameters) '(.*?)'(?: requires --multirun)?$", re.S)


def in_words(error: Exception, overrides: Sequence[str] = ()) -> Exception:
    """The error as a ConfigError of one line; anything that is neither Hydra's nor OmegaConf's as it is.

    `overrides` are those that Hydra was given: some of its errors name what nobody typed.
    """
    from hydra.errors import HydraException, MissingConfigException, OverrideParseException
    from omegaconf.errors import OmegaConfBaseException
    from yaml import YAMLError

    if isinstance(error, MissingConfigException) and error.options is not None:
        return ConfigError(_no_option(error.missing_cfg_file or "", error.options, overrides))
    if isinstance(error, OverrideParseException):
        return ConfigError(f"{str(error.override).lstrip('+')}: is no override; {_override_for(error.override)}")
    if isinstance(error, YAMLError):
        mark = getattr(error, "problem_mark", None)
        place = f"{mark.name}:{mark.line + 1}" if mark else "a file in conf/"
        reason = getattr(error, "problem", None) or "it cannot be read"
        return ConfigError(f"{place}: is not YAML: {reason}; correct it there")
    if not isinstance(error, HydraException | OmegaConfBaseException):
        return error
    cause: BaseException = error.__cause__ or error
    text = str(error).strip().splitlines()[0]
    swept = _SWEPT.match(text)
    if swept:
        return ConfigError(_several(swept.group(1).lstrip("+")))
    unknown = re.search(r"Key '([^']+)' is not in struct", f"{cause} {error}")
    full = re.search(r"full_key: (\S+)", f"{cause} {error}")
    if unknown:
        return ConfigError(_unknown_key(full.group(1) if full else unknown.group(1)))
    grouped = re.search(r"Could not override '([^']+)'", text)
    if grouped:
        return ConfigError(_unknown_key(grouped.group(1)))
    return ConfigError(f"{text}; see `jeval run --help` for the overrides there are")


def at_once(group: str) -> str:
    """How to use several options of a group in one run; empty for a group that has only one at a time."""
    if group not in ("rubrics", "metrics"):
        return ""
    return (
        f"; to use several at once list their files in a conf/{group}/NAME.yaml (path: [A.yaml, B.yaml]), "
        f"or as '{group}.path=[A.yaml,B.yaml]'"
    )


def _several(override: str) -> str:
    key = override.partition("=")[0]
    return f"{override}: one value is needed; to sweep over several add -m{at_once(key)}"


def _no_option(missing: str, known: Sequence[str], overrides: Sequence[str]) -> str:
    group, _, option = missing.partition("/")
    names = ", ".join(name for name in known if name != "file")
    file = f", or name a file with {group}.path=FILE" if group in _FILES else ""
    if group == "rubrics" and _follows_dataset(option, overrides):
        return (
            f"dataset={option}: there are no rubrics {option}, and a dataset brings those of its own name unless "
            f"others are named; add rubrics=NAME, there are: {names}{file}"
        )
    settings = [name for name in _settings_for(option) if name == group]
    if settings:
        return f"{group}={option}: there is no such option; name a file with {group}.path={option}"
    close = nearest(option, known)
    hint = f"did you mean {group}={close}? " if close else ""
    return f"{group}={option}: there is no such option; {hint}there are: {names}{file}"


def _follows_dataset(option: str, overrides: Sequence[str]) -> bool:
    """Whether these rubrics are wanted only because a dataset of that name is."""
    given = [override.lstrip("+").partition("=")[::2] for override in overrides]
    chosen = [value for key, value in given if key == "dataset"]
    return all(key != "rubrics" for key, _ in given) and any(option in value.split(",") for value in chosen)


def _settings_for(text: str) -> tuple[str, ...]:
    """The settings that the file of this name may be meant for; none where it is no file's name."""
    found = _SETTINGS.get(Path(text).suffix.lower(), ())
    try:
        return found or (("dataset",) if Path(text).is_file() else ())
    except (OSError, ValueError):  # a name that no file can have
        return ()


def _override_for(argument: str) -> str:
    settings = _settings_for(argument) if "=" not in argument else ()
    if not settings:
        return "write KEY=VALUE, and a value with odd characters in quotes: \"KEY='VALUE'\""
    nouns = {"dataset": "cases", "rubrics": "rubrics", "metrics": "metrics"}
    typed = [f"{shlex.quote(f'{name}.path={argument}')} if it holds {nouns[name]}" for name in settings]
    return f"write {', '.join(typed)}"


def _unknown_key(key: str) -> str:
    from jeval.app.settings import RunSettings

    group, _, name = key.partition(".")
    field = RunSettings.model_fields.get(group)
    if field is None or not name:
        known = [n for n in RunSettings.model_fields if n != "fingerprint"]
        close = nearest(key, known)
    else:
        model: Any = field.annotation
        known = [f"{group}.{f.serialization_alias or n}" for n, f in getattr(model, "model_fields", {}).items()]
        close = nearest(key, known)
    hint = f"did you mean {close}? there are: " if close else "there are: "
    return f"{key}: there is no such setting; {hint}{', '.join(known)}"

"""A stored run's configuration as overrides, so that Hydra composes it again; and what has changed since."""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jeval.app.compose import literal
from jeval.errors import ConfigError, NotFound
from jeval.store.runs import find_run

__all__ = ["Original", "changes_since", "original", "overrides_from"]

_GROUPS = ("dataset", "rubrics", "metrics", "thresholds", "judge", "gate")


@dataclass(frozen=True)
class Original:
    """What is reproduced: its configuration; of a run in the store also its id and pk, whether it is complete, and the
    gateway and model of its judge."""

    config: Mapping[str, Any]
    run_id: str | None = None
    run: int | None = None
    complete: bool = False
    judge: tuple[str, str] | None = None


def original(name: str, connection: sqlite3.Connection | None) -> Original:
    """The run of this name, or the configuration in a YAML file saved from one. Raises NotFound or ConfigError."""
    import yaml

    path = Path(name)
    if path.suffix in (".yaml", ".yml") and path.is_file():
        try:
            config = yaml.safe_load(path.read_text(encoding="utf-8"))
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            raise ConfigError(f"--from-run {name}: is not YAML; write the config_yaml of a run there") from error
        if not isinstance(config, dict) or not set(_GROUPS[:2]) <= set(config):
            raise ConfigError(f"--from-run {name}: is no saved configuration; write the config_yaml of a run there")
        return Original(config)
    if connection is None:
        raise NotFound(f"--from-run {name}: there is no store; name one with store=, or a saved YAML file")
    row = find_run(connection, name)
    # A name is one run's own: were it handed on, it would mean the copy from then on.
    config = {**yaml.safe_load(row["config_yaml"]), "name": None}
    judge = row["gateway"], row["model_asked"]
    return Original(config, row["id"], row["pk"], row["status"] == "complete", judge)


def overrides_from(config: Mapping[str, Any], given: Sequence[str]) -> list[str]:
    """Overrides that compose the configuration, without the groups that `given` chooses anew."""
    chosen = {argument.partition("=")[0].lstrip("+~") for argument in given}
    found: list[str] = []
    for group in _GROUPS:
        body = config.get(group)
        if group in chosen or not isinstance(body, Mapping):
            continue
        if group in ("dataset", "rubrics", "metrics") and f"{group}.path" in chosen:
            body = {key: value for key, value in body.items() if key not in ("path", "name")}
        found.append(f"{group}={_base(group, config[group])}")
        found += _leaves(group, body, chosen)
    for key in ("name", "tags"):
        if config.get(key) and key not in chosen:
            found += _leaves(key, config[key], chosen)
    return found


def _base(group: str, body: Mapping[str, Any]) -> str:
    """A group option of ours to begin with; its values are overridden one by one."""
    if group in ("dataset", "rubrics", "metrics"):
        return "file" if body.get("path") is not None else "none"
    return {"thresholds": "default", "gate": "strict", "judge": "offline"}[group]


def _leaves(path: str, value: Any, chosen: set[str]) -> list[str]:
    if path in chosen:
        return []
    if isinstance(value, Mapping):
        return [leaf for key, inner in value.items() for leaf in _leaves(f"{path}.{key}", inner, chosen)]
    return [f"++{path}={_literal(value)}"]  # there or not: an option need not hold every setting


def _literal(value: Any) -> str:
    """A value in Hydra's override grammar."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ",".join(_literal(item) for item in value) + "]"
    return literal(str(value))


def changes_since(config: Mapping[str, Any], fingerprint: Mapping[str, Any]) -> list[str]:
    """What the files held then and hold no more, one line each; empty where nothing changed."""
    then = config.get("fingerprint") or {}
    found = []
    if then.get("dataset") not in (None, fingerprint["dataset"]):
        found.append(f"the dataset changed: {then['dataset'][:12]} then, {fingerprint['dataset'][:12]} now")
    for noun in ("rubrics", "metrics"):
        before, after = then.get(noun) or {}, fingerprint[noun]
        for name in sorted(set(before) | set(after)):
            old, new = before.get(name), after.get(name)
            if old is None:
                found.append(f"{noun[:-1]} {name} {new['version']} was not there then")
            elif new is None:
                found.append(f"{noun[:-1]} {name} {old['version']} is gone")
            elif old != new:
                how = (
                    f"version {old['version']} then, {new['version']} now"
                    if old["version"] != new["version"]
                    else "its content"
                )
                found.append(f"{noun[:-1]} {name} changed: {how}")
    return found

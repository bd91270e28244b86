"""What may be wrong with a project: its conf/, what `jeval run` is composed of, its store."""

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jeval.app.compose import compose, conf_file
from jeval.app.doctor import Item
from jeval.app.places import bundled_conf, locate
from jeval.app.settings import settings_of
from jeval.counted import counted
from jeval.errors import JevalError, StoreError
from jeval.problems import nearest
from jeval.store.health import VERSION, store_health

if TYPE_CHECKING:
    from jeval.app.settings import RunSettings

__all__ = ["conf_items", "run_item", "store_items", "user_conf"]

# What names a variable, and may be a key by mistake.
_KEY = re.compile(r"^(\S*key_env)=.*", re.S)
_MB = 2**20
# Free bytes beneath which a run may not be finished, and beneath which it is time to look.
_TOO_FULL, _NEARLY_FULL = 100 * _MB, 1024 * _MB
# A log of writes this large is not emptied, for somebody has been reading since.
_LONG_LOG = 200 * _MB


def user_conf(root: Path) -> Path | None:
    """The project's own conf/, None where it has none or is jeval's."""
    conf = root / "conf"
    return conf if conf.is_dir() and conf.resolve() != bundled_conf().resolve() else None


def conf_items(root: Path) -> Iterator[Item]:
    """The project, and each thing in its conf/ that may not be what it looks like."""
    held = [name for name in ("conf", "jeval.db", "pyproject.toml") if (root / name).exists()]
    why = f"it holds {', '.join(held)}" if held else "the working directory, for no folder above holds a conf/"
    yield Item("project", "folder", "fine", f"{root} ({why})")
    conf = user_conf(root)
    if conf is None:
        what = "jeval's own" if (root / "conf").is_dir() else "none; options that come with jeval are all there are"
        yield Item("project", "conf", "none", what)
        return
    groups = sorted(entry.name for entry in bundled_conf().iterdir() if entry.is_dir())
    options = [file for group in groups for file in sorted((conf / group).glob("*.yaml"))]
    yield Item("project", "conf", "fine", f"{counted(len(options), 'option')} in {conf}")
    yield from _strangers(conf, groups)
    for file in [*conf.glob("*.yaml"), *options]:
        name = file.relative_to(root).as_posix()
        fault = _fault(file)
        if fault:
            yield Item("project", "conf", "bad", f"{name} {fault}", "correct it")
        elif (bundled_conf() / file.relative_to(conf)).is_file():
            what = f"{name} is used in place of the one that comes with jeval"
            yield Item("project", "conf", "warning", what, "rename it, unless that is meant")


def _strangers(conf: Path, groups: Sequence[str]) -> Iterator[Item]:
    """What in a conf/ is never read."""
    for entry in sorted(conf.iterdir()):
        if entry.is_dir() and entry.name not in (*groups, "hydra") and any(entry.glob("*.y*ml")):
            close = nearest(entry.name, groups)
            remedy = f"rename it to {close}" if close else f"the groups are {', '.join(groups)}"
            yield Item("project", "conf", "warning", f"conf/{entry.name} is no group of options", remedy)
    for file in sorted(conf.rglob("*.yml")):
        name = file.relative_to(conf.parent).as_posix()
        yield Item("project", "conf", "warning", f"{name} is not read, for it ends in .yml", "rename it to .yaml")


def _fault(file: Path) -> str | None:
    import yaml

    try:
        found = yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    except UnicodeDecodeError:
        return "is not UTF-8"
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" on line {mark.line + 1}" if mark is not None else ""
        return f"is not YAML: {getattr(error, 'problem', None) or 'it cannot be parsed'}{line}"
    return None if isinstance(found, dict) else "holds no settings"


def run_item(overrides: Sequence[str], root: Path) -> tuple[Item, "RunSettings | None"]:
    """What `jeval run` with these overrides is composed of, and that; None where it cannot be composed."""
    from omegaconf import OmegaConf

    typed = " ".join(["jeval run", *(_KEY.sub(r"\1=…", override) for override in overrides)])
    try:
        values: Any = OmegaConf.to_container(compose(overrides, root), resolve=True)
        settings = settings_of(values, lambda field: conf_file(field, root))
        for what, path in (
            ("dataset.path", settings.dataset.path),
            *(("rubrics.path", path) for path in settings.rubrics.paths),
            *(("metrics.path", path) for path in settings.metrics.paths),
        ):
            locate(path, root, what=what)
    except JevalError as error:
        text, _, remedy = str(error).rpartition("; ")
        return Item("project", "run", "bad", f"{typed}: {text or error}", remedy or "correct it"), None
    chosen = f"dataset {settings.dataset.name}, rubrics {settings.rubrics.name}, metrics {settings.metrics.name}"
    limits = f"thresholds {settings.thresholds.name}, judge {settings.judge.name}"
    return Item("project", "run", "fine", f"{typed}: {chosen}, {limits}"), settings


def store_items(path: Path) -> Iterator[Item]:
    """The store at `path`, which need not be there, and the disk it is on."""
    if not path.exists():
        yield Item("project", "store", "none", f"{path} is not there yet; the first run makes it")
        if not path.parent.is_dir():
            yield Item(
                "project", "store folder", "bad", f"{path.parent} does not exist", "make it, or name another store"
            )
            return
    else:
        yield from _store(path)
    if not os.access(path.parent, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        remedy = "change its permissions, or name another store with store="
        yield Item("project", "permissions", "bad", f"{path} and its folder may not be written", remedy)
    yield _disk(path.parent)


def _store(path: Path) -> Iterator[Item]:
    try:
        health = store_health(path)
    except StoreError as error:
        text, _, remedy = str(error).partition("; ")
        yield Item("project", "store", "bad", text, remedy or "name another with store=")
        return
    held = f"{counted(health.runs, 'run')}, {counted(health.judgments, 'judgment')}, {counted(health.labels, 'label')}"
    schema = f"schema {health.version}" + ("" if health.version == VERSION else f", {VERSION} once a command opens it")
    yield Item("project", "store", "fine", f"{path}: {held}, {size(health.file_bytes)}, {schema}")
    if health.faults:
        remedy = "keep a copy, and take what can be read with the sqlite3 command's .recover"
        yield Item("project", "integrity", "bad", "; ".join(health.faults)[:300], remedy)
    elif health.missing:
        text = f"tables or views of schema {health.version} are missing: {', '.join(health.missing)}"
        yield Item("project", "integrity", "bad", text, "put back a copy of the store, or name another with store=")
    else:
        yield Item("project", "integrity", "fine", "every page is sound")
    if health.log_bytes > _LONG_LOG:
        remedy = "end what has been reading the store for long, such as jeval serve"
        yield Item("project", "log", "warning", f"{size(health.log_bytes)} are written beside the store", remedy)


def _disk(folder: Path) -> Item:
    free = shutil.disk_usage(folder).free
    text = f"{size(free)} free"
    if free < _TOO_FULL:
        return Item("project", "disk", "bad", text, "make room, or name a store elsewhere with store=")
    if free < _NEARLY_FULL:
        return Item("project", "disk", "warning", text, "make room before a long run")
    return Item("project", "disk", "fine", text)


def size(count: int) -> str:
    """Bytes as people say them."""
    for unit, factor in (("GB", 2**30), ("MB", _MB)):
        if count >= factor:
            return f"{count / factor:,.1f} {unit}"
    return f"{count / 1024:,.0f} KB"

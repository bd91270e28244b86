"""What may be wrong around a run: items that say what is, how it is and what to do; here those of the installation."""

import re
import sqlite3
import sys
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Literal, NamedTuple, TextIO

from jeval import __version__
from jeval.app.places import PACKAGE
from jeval.store.health import LEAST_SQLITE, has_full_text

__all__ = ["Item", "State", "installation"]

State = Literal["fine", "none", "warning", "bad"]
"""`none` is what is not there and need not be."""

_RELEASE = re.compile(r"\d+(?:\.\d+)*")
_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)\s*\(?([^;)]*)\)?\s*(?:;(.*))?")
_RANGE = re.compile(r"(>=|<|==)\s*([^,\s]+)")


class Item(NamedTuple):
    """One thing looked at. `remedy` is None where nothing needs one, and never where `state` is warning or bad."""

    section: str
    name: str
    state: State
    text: str
    remedy: str | None = None


def installation(stdout: TextIO) -> Iterator[Item]:
    """Python, jeval, SQLite, the packages, and what the terminal can show."""
    where = "installation"
    yield Item(where, "python", "fine", f"{'.'.join(map(str, sys.version_info[:3]))} ({sys.executable})")
    yield _jeval()
    yield _sqlite()
    yield _packages()
    yield _uvloop()
    joblib = _installed("hydra-joblib-launcher")
    if joblib:
        yield Item(where, "joblib", "fine", f"{joblib}, for parallel sweeps (hydra/launcher=joblib)")
    else:
        yield Item(where, "joblib", "none", "not installed; only parallel sweeps need it")
    encoding = (getattr(stdout, "encoding", None) or "utf-8").lower()
    if encoding.replace("-", "") == "utf8":
        yield Item(where, "output", "fine", "UTF-8")
    else:
        yield Item(
            where, "output", "warning", f"{encoding} lacks some signs, which are shown as escapes", "set PYTHONUTF8=1"
        )


def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _jeval() -> Item:
    found = _installed("jeval")
    place = f"{__version__} ({PACKAGE})"
    if found is None:
        return Item("installation", "jeval", "fine", f"{place}, run without being installed")
    if found != __version__:
        remedy = "install it again"
        return Item("installation", "jeval", "warning", f"{place}, but {found} is what was installed", remedy)
    return Item("installation", "jeval", "fine", place)


def _sqlite() -> Item:
    text = sqlite3.sqlite_version
    if sqlite3.sqlite_version_info < LEAST_SQLITE:
        least = ".".join(map(str, LEAST_SQLITE))
        return Item("installation", "sqlite", "bad", f"{text} is older than {least}", "use a newer Python")
    if not has_full_text():
        remedy = "use a Python whose SQLite has it"
        return Item("installation", "sqlite", "warning", f"{text} without FTS5: searching cases is slow", remedy)
    return Item("installation", "sqlite", "fine", f"{text} with FTS5")


def _uvloop() -> Item:
    found = _installed("uvloop")
    if found:
        return Item("installation", "uvloop", "fine", found)
    if sys.platform == "win32" or sys.implementation.name != "cpython":
        return Item("installation", "uvloop", "none", "not for this platform")
    return Item("installation", "uvloop", "warning", "not installed: runs take longer", "pip install uvloop")


def _packages() -> Item:
    try:
        declared = requires("jeval") or []
    except PackageNotFoundError:
        return Item("installation", "packages", "none", "not checked, for jeval is not installed")
    faults = list(_faults(declared))
    if faults:
        return Item("installation", "packages", "bad", "; ".join(faults), "install jeval again")
    return Item("installation", "packages", "fine", "all there, as declared")


def _faults(declared: Iterable[str]) -> Iterator[str]:
    for line in declared:
        match = _REQUIREMENT.fullmatch(line)
        if match is None or (match[3] or "").strip():  # for an extra, or for some platforms
            continue
        name, ranges = match[1], match[2]
        found = _installed(name)
        if found is None:
            yield f"{name} is missing"
        elif not all(_holds(found, sign, limit) for sign, limit in _RANGE.findall(ranges)):
            yield f"{name} {found} is not {ranges.strip()}"


def _holds(found: str, sign: str, limit: str) -> bool:
    one, other = _release(found), _release(limit)
    return one >= other if sign == ">=" else one < other if sign == "<" else one[: len(other)] == other


def _release(text: str) -> tuple[int, ...]:
    match = _RELEASE.match(text)
    return tuple(map(int, match[0].split("."))) if match else ()

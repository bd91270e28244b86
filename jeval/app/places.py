"""Where things lie: the project, the store, the files that come with jeval. Imports nothing heavy."""

import os
from pathlib import Path

from jeval.errors import ConfigError

__all__ = ["bundled_conf", "locate", "project_root", "store_path"]

PACKAGE = Path(__file__).resolve().parent.parent


def bundled_conf() -> Path:
    """The folder of the config groups that come with jeval."""
    installed = PACKAGE / "_conf"
    return installed if installed.is_dir() else PACKAGE.parent / "conf"


def project_root(start: Path | None = None) -> Path:
    """The nearest folder, from the working one up, with a conf/, jeval.db or pyproject.toml; else the working one."""
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if any((folder / name).exists() for name in ("conf", "jeval.db", "pyproject.toml")):
            return folder
    return here


def store_path(setting: str | None, root: Path) -> Path:
    """The store: the setting, else JEVAL_STORE, else jeval.db in the project."""
    named = setting or os.environ.get("JEVAL_STORE")
    if not named:
        return root / "jeval.db"
    path = _expanded(named)
    return path if path.is_absolute() else Path.cwd() / path


def locate(path: str, root: Path, *, what: str) -> Path:
    """The file a setting names: bundled with jeval, or relative to the working directory or the project.

    Raises ConfigError where there is no such file.
    """
    if not path:
        raise ConfigError(f"{what} is empty; name a file with {what}=FILE")
    if path.startswith("bundled:"):
        return _bundled(path, what)
    given = _expanded(path)
    try:
        for candidate in (Path.cwd() / given, root / given):
            if candidate.is_file():
                return candidate
        folder = given.is_dir()
    except (OSError, ValueError) as error:  # a name too long, or with NUL in it
        raise ConfigError(f"{what}={path:.60}: {error.__class__.__name__} at that name; check the path") from error
    if folder:
        raise ConfigError(f"{what}={path} is a directory; name the file in it")
    places = f"in {Path.cwd()}" if root == Path.cwd() else f"neither in {Path.cwd()} nor in {root}"
    raise ConfigError(f"{what}={path}: no such file, {places}; check the path")


def _expanded(path: str) -> Path:
    """With a leading ~ as the home folder, where there is such a home."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


def _bundled(path: str, what: str) -> Path:
    folder, _, name = path.removeprefix("bundled:").partition("/")
    for candidate in (PACKAGE / f"_{folder}" / name, PACKAGE.parent / folder / name):
        if candidate.is_file():
            return candidate
    raise ConfigError(f"{what}={path}: no such file comes with jeval; name one of your own, or a group option")

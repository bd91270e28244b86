"""Where things lie: the project, the store, the files that come with jeval. Imports nothing heavy."""

import os
from pathlib import Path

from jeval.errors import ConfigError

__all__ = ["bundled_conf", "locate", "project_root", "store_path"]

PACKAGE = Path(__file__).resolve().parent.parent


def bundled_conf() -> Path:
    """The folder of the config groups that come with jeval."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "_conf"
    return installed if installed.is_dir() else package.parent / "conf"


def project_root(start: Path | None = None) -> Path:
    """The nearest folder, from the working one up, with a conf/, a jeval.db or a pyproject.toml; else the working one."""
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
    path = Path(named).expanduser()
    return path if path.is_absolute() else Path.cwd() / path


def locate(path: str, root: Path, *, what: str) -> Path:
    """The file a setting names: bundled with jeval, or relative to the working directory or the project.

    Raises ConfigError where there is no such file.
    """
    if path.startswith("bundled:"):
        folder, _, name = path.removeprefix("bundled:").partition("/")
        installed = PACKAGE / f"_{folder}" / name
        return installed if installed.exists() else PACKAGE.parent / folder / name
    given = Path(path).expanduser()
    for candidate in (Path.cwd() / given, root / given):
        if candidate.is_file():
            return candidate
    places = str(Path.cwd()) if root == Path.cwd() else f"{Path.cwd()} nor in {root}"
    if given.is_dir():
        raise ConfigError(f"{what}={path} is a directory; name the file in it")
    raise ConfigError(f"{what}={path}: no such file, neither in {places}; check the path")

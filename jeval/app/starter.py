"""A project to begin with: options, cases and rubrics to change, put where nothing is yet."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from jeval.errors import ConfigError

__all__ = ["CI", "NEXT", "Started", "start_project", "starter_files"]

_FOLDER = Path(__file__).parent / "starter_files"

# Where a service looks for what it should do, and which of our files says so.
CI = {"github": (".github/workflows/jeval.yml", "github.yml")}

# What to type in the new project, and what for. Each works as it stands, without a network.
NEXT = (
    ("jeval run dataset=boxoffice", "8 cases, judged offline"),
    ("jeval review @last", "label what is unclear, a key a check"),
    ("jeval run -m dataset=boxoffice thresholds=default,careful", "what other thresholds would change"),
)

# The store, and the two files beside it while it is open.
_IGNORED = "jeval.db*"


class Started(NamedTuple):
    """What became of each file, by its path in the project."""

    written: list[str]
    kept: list[str]
    """Those that were there and are as they were."""
    ignored: bool
    """Whether .gitignore has a new line."""


def starter_files(ci: str | None = None) -> dict[str, bytes]:
    """The content of each file by its path; `ci` adds that of a service."""
    found = {
        path.relative_to(_FOLDER).as_posix(): path.read_bytes() for path in sorted(_FOLDER.rglob("*")) if path.is_file()
    }
    templates = {template: place for place, template in CI.values()}
    wanted = {name: content for name, content in found.items() if name not in templates}
    if ci is not None:
        place, template = CI[ci]
        wanted[place] = found[template]
    return wanted


def start_project(folder: Path, files: Mapping[str, bytes], *, missing: bool = False) -> Started:
    """Write files into a folder, which is made where there is none, and have the store ignored by git.

    No file is ever written over. Where some are there already, nothing is written unless `missing` is set; then those
    that are not are. Raises ConfigError, and leaves the folder as it was, where that cannot be.
    """
    there = [name for name in files if _exists(folder / name)]
    if there and not missing:
        are = "is" if len(there) == 1 else "are"
        raise ConfigError(
            f"init {folder}: {', '.join(there)} {are} there already; nothing was written; name another folder, or add"
            " what is missing with --missing"
        )
    made: list[Path] = []
    try:
        for name, content in files.items():
            if name not in there:
                _make_folder((folder / name).parent, made)
                with (folder / name).open("xb") as file:
                    made.append(folder / name)
                    file.write(content)
        ignored = _ignore(folder / ".gitignore", made)
    except OSError as error:
        _unmake(made)
        where = error.filename or folder
        raise ConfigError(
            f"init {folder}: {where} cannot be made ({error.strerror}); nothing was written; name another folder"
        ) from error
    except BaseException:
        _unmake(made)
        raise
    return Started([name for name in files if name not in there], there, ignored)


def _exists(path: Path) -> bool:
    """Whether anything is there, be it a link to nothing."""
    try:
        return path.is_symlink() or path.exists()
    except OSError as error:
        raise ConfigError(f"init {str(path)[:80]}…: {error.strerror}; name another folder") from error


def _make_folder(folder: Path, made: list[Path]) -> None:
    for parent in (*reversed(folder.parents), folder):
        if not parent.is_dir():
            parent.mkdir()
            made.append(parent)


def _ignore(file: Path, made: list[Path]) -> bool:
    """Add the store to a .gitignore, unless it names it."""
    before = file.read_bytes() if file.exists() else None
    lines = [] if before is None else before.decode("utf-8", "replace").split()
    if {_IGNORED, "jeval.db", "*.db"} & set(lines):
        return False
    if before is None:
        made.append(file)
    gap = b"\n" if before and not before.endswith(b"\n") else b""
    with file.open("ab") as end:
        end.write(gap + _IGNORED.encode() + b"\n")
    return True


def _unmake(made: list[Path]) -> None:
    """Take away what was made, the last first. A folder that somebody else put something into stays."""
    for path in reversed(made):
        with suppress(OSError):
            path.rmdir() if path.is_dir() else path.unlink()

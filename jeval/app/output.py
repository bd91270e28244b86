"""A file that a command writes for people or machines: whole or not at all, and never over what is something else."""

import errno
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import NamedTuple

from jeval.errors import ConfigError

__all__ = ["HTML", "JUNIT", "MARKDOWN", "Output", "file_mode", "output", "refuse_database"]

HTML = (".html", ".htm")
JUNIT = (".xml",)
MARKDOWN = (".md", ".markdown", ".txt")
_SQLITE = b"SQLite format 3\0"
_BESIDE = ("-wal", "-shm", "-journal")


class Output(NamedTuple):
    """A place that may be written: an option, what was given for it, and the file, None for the standard output."""

    option: str
    name: str
    path: Path | None

    def write(self, pieces: Iterable[str]) -> None:
        """Write them. Raises ConfigError where it cannot be; what was there is then as it was."""
        if self.path is None:
            for piece in pieces:
                sys.stdout.write(piece)
            return
        try:
            if self.path.exists() and not self.path.is_file():  # a pipe or a device is no place to rename to
                with self.path.open("w", encoding="utf-8") as file:
                    file.writelines(pieces)
            else:
                _replace(self.path, pieces)
        except OSError as error:
            raise _unwritable(self.option, self.name, error) from error


def output(option: str, name: str, endings: tuple[str, ...] = ()) -> Output:
    """The place called `name`, - the standard output, looked at before anything is written.

    Raises ConfigError where it cannot be written, is part of a SQLite database, or is a file with something in it
    that ends in none of the `endings`, if there are any.
    """
    if name == "-":
        return Output(option, name, None)
    try:
        # Through a link, so that the link stays one.
        path = Path(os.path.realpath(_expanded(name)))
        _refuse_unwritable(path)
        refuse_database(option, name, path)
        if endings and path.is_file() and path.stat().st_size and path.suffix.lower() not in endings:
            kinds = ", ".join(endings)
            raise ConfigError(f"{option} {name}: is there and ends in none of {kinds}; name another file, or remove it")
    except (OSError, ValueError) as error:  # ValueError: a name with NUL in it
        raise _unwritable(option, name, error) from error
    return Output(option, name, path)


def refuse_database(option: str, name: str, path: Path) -> None:
    """Raise ConfigError where the file is a SQLite database or part of one, whatever else may be written over."""
    if _is_database(path):
        raise ConfigError(f"{option} {name}: is a SQLite database, which would be lost; name another file")


def _expanded(name: str) -> Path:
    try:
        return Path(name).expanduser()
    except RuntimeError:  # ~ of nobody
        return Path(name)


def _refuse_unwritable(path: Path) -> None:
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    path.parent.stat()
    if path.exists() and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def _is_database(path: Path) -> bool:
    """Whether it is one, or one of the files that SQLite keeps beside one."""
    if any(path.with_name(path.name + end).exists() for end in _BESIDE):
        return True
    names = [path.name, *(path.name.removesuffix(end) for end in _BESIDE if path.name.endswith(end))]
    return any(_begins_as_one(path.with_name(name)) for name in names if name)


def _begins_as_one(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_SQLITE)) == _SQLITE


def _replace(path: Path, pieces: Iterable[str]) -> None:
    """Write beside the place, and put it there when it is whole."""
    mode = path.stat().st_mode & 0o777 if path.exists() else file_mode()
    with NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, prefix=".jeval-", delete=False) as file:
        try:
            file.writelines(pieces)
            file.close()
            os.chmod(file.name, mode)
            os.replace(file.name, path)
        except BaseException:
            with suppress(OSError):
                file.close()
            with suppress(OSError):
                os.unlink(file.name)
            raise


def file_mode() -> int:
    """The rights of a new file, for a temporary one is its owner's alone."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _unwritable(option: str, name: str, error: Exception) -> ConfigError:
    why = getattr(error, "strerror", None) or str(error)
    remedy = "name a file in a folder that exists and may be written"
    if isinstance(error, IsADirectoryError):
        remedy = "name another file"
    elif getattr(error, "errno", None) == errno.ENOSPC:
        remedy = "make room, or name a file elsewhere"
    return ConfigError(f"{option} {name}: cannot be written ({why}); {remedy}")

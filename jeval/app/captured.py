"""From a file of traces to a file of cases: read as a stream, every case checked, written whole or not."""

import os
import shlex
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Any

from pydantic import ValidationError

from jeval.app.other_form import TABLES, other_form
from jeval.app.output import file_mode, refuse_database
from jeval.app.records import Record, records_of
from jeval.case import Case
from jeval.errors import ConfigError, Problem
from jeval.findings import Findings
from jeval.fingerprint import compact
from jeval.imports.draft import Draft, Options, Unfit
from jeval.imports.formats import FORMATS, detect, drafts, is_own_form
from jeval.problems import problems_of, shorten

__all__ = ["Capture", "Target"]


@dataclass
class Capture:
    """One file being captured, and what became of its records.

    `format` "auto" is settled by the first record, and `found` says that it was. `faults` holds what is wrong;
    `left_out` counts records, or cases, not captured for them.
    """

    path: Path
    format: str
    options: Options
    limit: int | None = None
    found: bool = False
    records: int = 0
    cases: int = 0
    left_out: int = 0
    renamed: int = 0
    fields: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    faults: Findings = field(default_factory=Findings)

    def __iter__(self) -> Iterator[Case]:
        """The cases, one at a time; what is wrong with the others is in `faults` afterwards."""
        ids: set[str] = set()
        for place, draft in drafts(self._settled(), self._good(), self.options):
            if isinstance(draft, Unfit):
                value = None if draft.value is None else shorten(draft.value)
                self._fault([Problem(place, draft.field, value, draft.message, draft.remedy)])
                continue
            case = self._case(draft, place, ids)
            if case is not None:
                yield case

    def _settled(self) -> str:
        if self.format == "auto":
            first = self._first()
            if is_own_form(first) and self.path.suffix.lower() not in TABLES:
                raise ConfigError(_already(self.path))
            name = detect(first)
            if name is None:
                raise ConfigError(_unknown(self.path, first))
            self.format, self.found = name, True
        return self.format

    def _first(self) -> Any:
        """The first record that can be read, None in an empty file. Raises DataError where none can."""
        faults = Findings()
        for _, value in records_of(self.path):
            if not isinstance(value, Problem):
                return value
            faults.add([value])
        faults.check()
        return None

    def _good(self) -> Iterator[Record]:
        for place, value in records_of(self.path):
            if self.limit is not None and self.records >= self.limit:
                return
            self.records += 1
            if isinstance(value, Problem):
                self._fault([value])
            else:
                yield place, value

    def _case(self, draft: Draft, place: str, ids: set[str]) -> Case | None:
        given = draft.settled_id(self.format)
        case_id, number = given, 1
        while case_id in ids:
            number += 1
            case_id = f"{given[:190]}:{number}"
        try:
            case = Case.model_validate({**draft.body, "id": case_id})
        except ValidationError as error:
            self._fault(problems_of(error, Case, place))
            return None
        ids.add(case_id)
        self.renamed += number > 1
        self.cases += 1
        self.fields.update(key for key in draft.body if key not in ("id", "input", "output"))
        self.notes.update(draft.notes)
        return case

    def _fault(self, problems: list[Problem]) -> None:
        self.left_out += 1
        self.faults.add(problems)

    def as_dict(self, out: str | None) -> dict[str, Any]:
        """What was captured and what was not, as a machine reads it."""
        return {
            "file": str(self.path),
            "format": self.format,
            "records": self.records,
            "cases": self.cases,
            "left_out": self.left_out,
            "ids_suffixed": self.renamed,
            "fields": dict(self.fields),
            "notes": dict(self.notes),
            "problems": [
                {
                    "place": p.place,
                    "field": p.field,
                    "value": p.value,
                    "message": p.message,
                    "remedy": p.remedy,
                    "alike": p.alike,
                }
                for p in self.faults.problems
            ],
            "more_problems": self.faults.more,
            "out": out,
        }


def _already(path: Path) -> str:
    """Why a file of cases is not captured: it would lose their labels and the ids in their lists."""
    typed = shlex.quote(str(path))
    whole = other_form(path)
    how = f"but the file {whole.message}; {whole.remedy}" if whole else f"`jeval run dataset.path={typed}` reads it"
    return (
        f"{path}: holds cases already{', ' if whole else '; '}{how} "
        "(to capture it all the same name a format: --format generic)"
    )


def _unknown(path: Path, first: Any) -> str:
    looks = "it is no object"
    if first is None:
        looks = "the file is empty"
    elif isinstance(first, dict):
        looks = f"its keys are {', '.join(map(str, first))[:120]}"
    return f"{path}: its first record is in no known format ({looks}); name it: --format {'|'.join(FORMATS)}"


class Target:
    """The file that is written: beside its place until all is well, so that a fault leaves nothing behind."""

    def __init__(self, path: Path, *, force: bool) -> None:
        if path.is_dir():
            raise ConfigError(f"-o {path} is a directory; name a file in it")
        if path.exists() and not force:
            raise ConfigError(f"-o {path} exists; name another file, or write over it with --force")
        refuse_database("-o", str(path), path)
        if not path.parent.is_dir():
            raise ConfigError(f"-o {path}: its folder {path.parent} does not exist; make it, or name another")
        self._path = path
        try:
            self._file: IO[bytes] = NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False)  # noqa: SIM115
        except OSError as error:
            raise ConfigError(f"-o {path} cannot be written: {error.strerror}; check the folder") from error

    def write(self, line: str) -> None:
        """Write one line."""
        self._file.write(line.encode() + b"\n")

    def keep(self) -> None:
        """Put the file in its place."""
        self._file.close()
        os.chmod(self._file.name, file_mode())
        os.replace(self._file.name, self._path)

    def drop(self) -> None:
        """Leave nothing."""
        self._file.close()
        with suppress(FileNotFoundError):
            os.unlink(self._file.name)


def line_of(case: Case) -> str:
    """A case as a line of a dataset."""
    return compact(case.model_dump(by_alias=True, exclude_none=True, mode="json"))

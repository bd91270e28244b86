"""Files people write: cases as a stream of JSONL, rubrics and metrics as JSON or YAML.

Every fault is a `Problem` with its file, line, field, value and remedy, and all of them are told at once.
"""

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from jeval.app.metadata_seen import MetadataSeen
from jeval.app.other_form import other_form
from jeval.app.parse import BadText, is_no_text, parse_json
from jeval.app.parse_yaml import read_yaml
from jeval.app.selection import Selection, keep_lowest
from jeval.case import Case
from jeval.errors import ConfigError, DataError, Problem
from jeval.findings import Findings
from jeval.fingerprint import canonical
from jeval.metric import Metric
from jeval.problems import problems_of, shorten
from jeval.rubric import Rubric

__all__ = ["Dataset", "Selection", "read_cases", "read_metrics", "read_rubrics", "scan"]

# Bytes of a file whose cases are kept from checking to judging, so that they are not read twice. What lies beyond is
# read again: memory does not grow with the file.
KEPT = 4_000_000


@dataclass(frozen=True)
class Dataset:
    """A checked file: how many cases are selected and the hash of all in them that can change a check."""

    path: Path
    selection: Selection
    cases: int
    sha256: str
    highest_draw: int | None
    stamp: tuple[int, int] = (0, 0)
    labels: Mapping[str, int] = field(default_factory=dict)
    """How many labels each rubric id has, in the cases that `where` selects."""
    seen: MetadataSeen = field(default_factory=MetadataSeen, repr=False, compare=False)
    """Their metadata, and where `where` selects none, that of all cases."""
    kept: tuple[Case, ...] = field(default=(), repr=False)
    """The first cases that `where` selects, as they were read."""
    kept_lines: int = 0
    """The lines of the file that `kept` covers."""

    def is_still(self, path: Path, selection: Selection) -> bool:
        """Whether this is the same selection of the same file, untouched since it was checked."""
        return (path, selection) == (self.path, self.selection) and self.stamp == _stamp(path) != (0, 0)

    def __iter__(self) -> Iterator[Case]:
        left = self.selection.limit
        beyond = (case for case in read_cases(self.path, after=self.kept_lines) if self.selection.wants(case))
        for case in chain(self.kept, beyond):
            if left is not None and left <= 0:
                return
            if self.highest_draw is not None and self.selection.draw(case.id) > self.highest_draw:
                continue
            if left is not None:
                left -= 1
            yield case


def scan(path: Path, selection: Selection) -> Dataset:
    """Check a whole file before anything is asked. Raises DataError with every problem in it.

    One pass over the file, and a second where a sample is drawn.
    """
    stamp = _stamp(path)
    faults = Findings()
    ids = array("q")
    draws: list[int] = []
    digest, count = sha256(), 0
    labels: Counter[str] = Counter()
    seen, passed_by = MetadataSeen(), MetadataSeen()
    kept: list[Case] = []
    kept_lines = 0
    for number, end, case in _numbered(path):
        if isinstance(case, list):
            faults.add(case)
            continue
        ids.append(hash(case.id))
        wanted = selection.wants(case)
        if end <= KEPT:
            kept_lines = number
            if wanted:
                kept.append(case)
        (seen if wanted else passed_by).add(case.metadata)
        if not wanted:
            continue
        if case.expected:
            labels.update(case.expected.keys())
        if selection.sample is not None:
            keep_lowest(draws, selection.draw(case.id), selection.sample)
        elif selection.limit is None or count < selection.limit:
            digest.update(_identity(case))
            count += 1
    if _any_twice(ids):
        faults.add(_duplicates(path))
    faults.check()
    highest = None if selection.sample is None else -draws[0] if draws else -1
    found = Dataset(
        path, selection, count, "", highest, stamp, labels, seen if seen.cases else passed_by, tuple(kept), kept_lines
    )
    if selection.sample is not None:
        for count, case in enumerate(found, 1):  # noqa: B007 - how many there were
            digest.update(_identity(case))
    return replace(found, cases=count, sha256=digest.hexdigest())


def _stamp(path: Path) -> tuple[int, int]:
    """A file's size and time of change, (0, 0) where it cannot be asked."""
    try:
        status = path.stat()
    except OSError:
        return 0, 0
    return status.st_size, status.st_mtime_ns


def _identity(case: Case) -> bytes:
    """All of a case that can change a check: not its labels."""
    return canonical(case.model_dump(exclude={"expected"}, exclude_none=True, mode="json")).encode() + b"\n"


def _any_twice(ids: "array[int]") -> bool:
    ordered = sorted(ids)
    return any(left == right for left, right in pairwise(ordered))


def _duplicates(path: Path) -> list[Problem]:
    """The lines whose id stood on an earlier line. Read again, so that the common case keeps no ids."""
    first: dict[str, int] = {}
    problems = []
    for number, _, found in _numbered(path):
        if isinstance(found, Case):
            if found.id in first:
                problems.append(
                    Problem(f"{path}:{number}", "id", repr(found.id), f"stands on line {first[found.id]} already",
                            "give every case its own id")
                )  # fmt: skip
            else:
                first[found.id] = number
    return problems


def read_cases(path: Path | str, *, after: int = 0) -> Iterator[Case]:
    """The cases of a JSONL file, one at a time, from the line behind `after` on. Raises DataError at the first line
    that is none."""
    for _, _, found in _numbered(Path(path), after):
        if isinstance(found, list):
            raise DataError(found)
        yield found


def _numbered(path: Path, after: int = 0) -> Iterator[tuple[int, int, Case | list[Problem]]]:
    """Each line's number and the byte it ends at, with its case or what is wrong with it. Lines end at \\n alone."""
    begun = False
    end = 0
    name = str(path)
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                end += len(line)
                if number <= after:
                    continue
                if number == 1:
                    line = line.removeprefix(b"\xef\xbb\xbf")
                if not line.strip():
                    continue
                found = _case(line, f"{name}:{number}")
                if isinstance(found, list) and not begun and (whole := other_form(path)):
                    yield number, end, [whole]
                    return
                yield number, end, found
                begun = True
                if number == 1 and is_no_text(line):
                    return
    except OSError as error:
        raise ConfigError(
            f"dataset {path} cannot be read: {error.strerror}; check the path and its permissions"
        ) from error


def _case(line: bytes, place: str) -> Case | list[Problem]:
    try:
        value = parse_json(line)
    except BadText as bad:
        return [Problem(place, bad.field, bad.value, bad.message, bad.remedy)]
    if not isinstance(value, dict):
        return [
            Problem(
                place,
                "",
                shorten(value),
                "is not an object",
                'write one case a line: {"id": …, "input": …, "output": …}',
            )
        ]
    try:
        return Case.model_validate(value)
    except ValidationError as error:
        return problems_of(error, Case, place)


def read_rubrics(path: Path | str) -> list[Rubric]:
    """The rubrics of a JSON or YAML file. Raises DataError with every problem in it."""
    return _read_list(Path(path), Rubric, "rubric")


def read_metrics(path: Path | str) -> list[Metric]:
    """The metrics of a JSON or YAML file. Raises DataError with every problem in it."""
    return _read_list(Path(path), Metric, "metric")


def _read_list(path: Path, model: type[BaseModel], noun: str) -> list[Any]:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{noun}s file {path} cannot be read: {error.strerror}; check the path") from error
    faults: list[BadText] = []
    try:
        if path.suffix.lower() == ".json":
            value = parse_json(data)
        else:
            value, faults = read_yaml(data)
    except BadText as bad:
        raise DataError([_at_line(path, bad)]) from bad
    found = Findings()
    found.add([_at_line(path, fault) for fault in faults])
    if isinstance(value, dict) and set(value) == {f"{noun}s"}:
        value = value[f"{noun}s"]
    if not isinstance(value, list):
        remedy = "begin each with '- id: …'"
        found.add([Problem(str(path), "", shorten(value), f"is not a list of {noun}s", remedy)])
        value = []
    models = _validated(value, model, path, noun, found)
    found.check()
    return models


def _at_line(path: Path, bad: BadText) -> Problem:
    return Problem(f"{path}:{bad.line}" if bad.line else str(path), bad.field, bad.value, bad.message, bad.remedy)


def _validated(items: Sequence[Any], model: type[BaseModel], path: Path, noun: str, found: Findings) -> list[Any]:
    """The models of all sound items; what is wrong with the others is found."""
    models: list[Any] = []
    seen: dict[str, int] = {}
    for position, item in enumerate(items):
        name = item.get("id") if isinstance(item, dict) else None
        place = f"{path}: {noun} {position + 1}" + (f" ({name})" if isinstance(name, str) else "")
        try:
            models.append(model.model_validate(item))
        except ValidationError as error:
            found.add(problems_of(error, model, place))
        if isinstance(name, str):
            if name in seen:
                found.add(
                    [
                        Problem(
                            place,
                            "id",
                            repr(name),
                            f"is {noun} {seen[name]}'s already",
                            "give each its own id",
                        )
                    ]
                )
            seen.setdefault(name, position + 1)
    return models

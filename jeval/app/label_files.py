"""Files of labels: JSONL, one label a line, read whole so that all that is wrong with one is told at once."""

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from jeval.app.parse import BadText, is_no_text, parse_json
from jeval.errors import ConfigError, Problem
from jeval.findings import Findings
from jeval.fingerprint import compact
from jeval.label import CheckKey, CheckLabel
from jeval.problems import problems_of, shorten

__all__ = ["label_line", "read_labels"]

_FORM = '{"caseId": …, "rubricId": …, "expected": "pass"}'

# Who says what about which check; one author has one opinion.
_Author = tuple[CheckKey, str, str | None]


def read_labels(path: Path) -> list[CheckLabel]:
    """The labels of a file. Raises ConfigError where it cannot be read, DataError with every problem in it.

    A label that its author gave twice in the same words counts once.
    """
    labels: list[CheckLabel] = []
    problems = Findings()
    first: dict[_Author, tuple[int, str]] = {}
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                line = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
                if not line.strip():
                    continue
                place = f"{path}:{number}"
                found = _parsed(line, place)
                if isinstance(found, list):
                    problems.add(found)
                    if number == 1 and is_no_text(line):
                        break
                    continue
                author = (found.check, found.source, found.reviewer)
                before = first.setdefault(author, (number, found.expected))
                if before == (number, found.expected):
                    labels.append(found)
                elif before[1] != found.expected:
                    problems.add([_of_two_minds(place, found, *before)])
    except OSError as error:
        raise ConfigError(f"--labels {path} cannot be read: {error.strerror}; check the path") from error
    problems.check()
    return labels


def _parsed(line: bytes, place: str) -> CheckLabel | list[Problem]:
    try:
        value = parse_json(line)
    except BadText as bad:
        return [Problem(place, bad.field, bad.value, bad.message, bad.remedy)]
    if not isinstance(value, dict):
        return [Problem(place, "", shorten(value), "is not an object", f"write one label a line: {_FORM}")]
    if _is_case(value):
        remedy = "write its labels to a file first: jeval labels CASES.jsonl -o labels.jsonl"
        return [Problem(place, "", None, "is a case, not a label", remedy)]
    try:
        return CheckLabel.model_validate(value)
    except ValidationError as error:
        return problems_of(error, CheckLabel, place)


def _is_case(value: dict[str, Any]) -> bool:
    return "input" in value and "output" in value


def _of_two_minds(place: str, label: CheckLabel, number: int, said: str) -> Problem:
    who = label.reviewer or "nobody in particular"
    remedy = "keep one of the two" if label.reviewer else "keep one of the two, or name each reviewer"
    message = f"is not what {who} said of this check on line {number}, {said}"
    return Problem(place, "expected", repr(label.expected), message, remedy)


def label_line(label: CheckLabel) -> str:
    """A label as a line of a file; what is not known is null."""
    return compact(label.model_dump(by_alias=True, mode="json"))

"""A reviewer's labels: kept in the store at once, one transaction each, and in a file of labels where one is named."""

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

from pydantic import ValidationError

from jeval.app.label_files import label_line, read_labels
from jeval.errors import ConfigError, StoreError
from jeval.label import CheckLabel
from jeval.store.reviewing import StoredLabel, label_by, put_label, take_back_label

__all__ = ["KeptLabels"]


class KeptLabels:
    """The labels of one reviewer. A file holds one line for each check: a label that is changed or taken back is
    changed or taken back there too.
    """

    def __init__(
        self, connection: sqlite3.Connection, reviewer: str | None, file: Path | None, now: Callable[[], str]
    ) -> None:
        """`now` gives the time in UTC, ISO 8601. Raises ConfigError or DataError where the file cannot be used."""
        self._connection, self._now = connection, now
        self.reviewer, self.file = reviewer, file
        self.trouble: str | None = None
        """Why the last label is in the store and not in the file; None where it is in both."""
        self.missed: set[tuple[str, str]] = set()
        """The checks, by case id and rubric id, of which the file does not say what the store says."""
        if file is not None:
            _check(file)

    def own(self, case_id: str, rubric_id: str) -> StoredLabel | None:
        """What the reviewer said of a check."""
        return label_by(self._connection, case_id, rubric_id, self.reviewer)

    def put(self, case_id: str, rubric_id: str, expected: str, note: str | None) -> StoredLabel | None:
        """Keep a label; the one of the same reviewer whose place it takes. Raises StoreError.

        A file that cannot be written is no error, for the label is kept: `trouble` says so.
        """
        return self._keep(case_id, rubric_id, StoredLabel(expected, note, self._now()))

    def put_back(self, case_id: str, rubric_id: str, before: StoredLabel | None) -> None:
        """Keep what was there before instead, or nothing. Raises StoreError."""
        self._keep(case_id, rubric_id, before)

    def _keep(self, case_id: str, rubric_id: str, label: StoredLabel | None) -> StoredLabel | None:
        try:
            before = self.own(case_id, rubric_id)
            if label is None:
                take_back_label(self._connection, case_id, rubric_id, self.reviewer)
            else:
                put_label(self._connection, case_id, rubric_id, self.reviewer, label)
        except sqlite3.Error as error:
            raise StoreError(f"nothing was labelled: the store cannot be written ({error}); try again") from error
        self.trouble = None
        if self.file is not None:
            try:
                self._write(self.file, case_id, rubric_id, label)
                self.missed.discard((case_id, rubric_id))
            except OSError as error:
                self.trouble = f"this is in the store, but not in the file ({error.strerror})"
                self.missed.add((case_id, rubric_id))
        return before

    def _write(self, file: Path, case_id: str, rubric_id: str, label: StoredLabel | None) -> None:
        lines = file.read_bytes().splitlines(keepends=True) if file.exists() else []
        others = [line for line in lines if not self._is_of(line, case_id, rubric_id)]
        if others and not others[-1].endswith(b"\n"):
            others[-1] += b"\n"
        added = b""
        if label is not None:
            said = CheckLabel.model_validate(
                {
                    "case_id": case_id,
                    "rubric_id": rubric_id,
                    "expected": label.expected,
                    "reviewer": self.reviewer,
                    "note": label.note,
                }
            )
            added = label_line(said).encode() + b"\n"
        if others == lines:
            with file.open("ab") as end:
                end.write(added)
        else:
            _replace(file, b"".join([*others, added]))

    def _is_of(self, line: bytes, case_id: str, rubric_id: str) -> bool:
        """Whether a line is this reviewer's label of this check."""
        try:
            label = CheckLabel.model_validate_json(line.removeprefix(b"\xef\xbb\xbf"))
        except ValidationError:  # no line that was there is lost, whatever it is
            return False
        return label.check == (case_id, rubric_id) and label.source == "human" and label.reviewer == self.reviewer


def _check(file: Path) -> None:
    if file.is_dir():
        raise ConfigError(f"--labels {file}: is a directory; name a file in it")
    if file.exists():
        read_labels(file)
    if not file.parent.is_dir():
        raise ConfigError(f"--labels {file}: its folder does not exist; make it, or name another file")
    if not os.access(file if file.exists() else file.parent, os.W_OK):
        raise ConfigError(f"--labels {file}: may not be written; name another file, or leave --labels out")


def _replace(file: Path, content: bytes) -> None:
    """Put the content into the file's place, whole or not at all."""
    file = file.resolve()
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        beside.write_bytes(content)
        beside.chmod(file.stat().st_mode & 0o777)
        beside.replace(file)
    finally:
        beside.unlink(missing_ok=True)

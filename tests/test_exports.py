"""What docs/sql.md shows of the command that takes data out of a store: each line does what is said of it."""

import csv
import io
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.running import project, quick, rows

PAGE = Path(__file__).resolve().parent.parent / "docs" / "sql.md"
LINES = re.findall(r"^sqlite-utils (.*)$", PAGE.read_text(encoding="utf-8"), re.M)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    assert quick(*project(tmp_path, 3), "name=after").code == 0
    return tmp_path


def exported(folder: Path, line: str) -> str:
    """What the line prints, for the run at hand."""
    [run] = [row[0] for row in rows(folder / "jeval.db", "SELECT id FROM runs")]
    words = shlex.split(line.partition(" > ")[0].replace("'after'", f"'{run}'"))
    ran = subprocess.run(
        [sys.executable, "-m", "sqlite_utils", *words], cwd=folder, capture_output=True, text=True, timeout=60
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_the_page_shows_four_ways_out() -> None:
    assert len(LINES) == 4


def test_a_view_is_printed_as_a_table(folder: Path) -> None:
    assert "decided_coverage" in exported(folder, LINES[0])


def test_every_check_of_a_run_is_a_line_of_csv(folder: Path) -> None:
    found = list(csv.DictReader(io.StringIO(exported(folder, LINES[1]))))
    assert len(found) == 6 and {row["case_id"] for row in found} == {"case-0000", "case-0001", "case-0002"}


def test_probabilities_are_json_and_no_text_that_holds_it(folder: Path) -> None:
    found = [json.loads(line) for line in exported(folder, LINES[2]).splitlines()]
    assert len(found) == 6 and all(isinstance(row["probabilities"], dict) for row in found)


def test_the_cases_of_a_store_are_a_dataset_that_asks_nothing_new(folder: Path) -> None:
    _, *rest = project(folder, 3)
    (folder / "out.jsonl").write_text(exported(folder, LINES[3]), encoding="utf-8")
    again = quick(f"dataset.path={folder / 'out.jsonl'}", *rest, "--json")
    assert again.code == 0 and again.json["judgments"] == {"asked": 0, "reused": 6}

"""A run whose judge says of each case what the case tells it to say, and labels to hold it against."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from jeval.case import Case
from jeval.question import Answer, Question, Reply
from jeval.rubric import Rubric
from jeval.state import State
from jeval.store.connect import open_store
from tests.running import judged

RUN = "20260101-000000-aaaaaa"


class Row(NamedTuple):
    """One case: p(unacceptable), what people say of it, and its metadata."""

    bad: float
    expected: str | None
    split: str = "tuning"
    reviewer: str | None = "ann"


class ToldJudge:
    """Gives the middle one of three options the probability that stands in the case's input, the first the rest."""

    name, gateway, model, simulated = "told", "here", "told-1", False

    async def ask(self, state: State, questions: Mapping[str, Question]) -> Reply:
        bad = float(json.loads(state.json)["user_input"])
        shares = (round(1 - bad, 4), bad, 0.0)
        answers = {key: Answer(dict(zip(one.names, shares, strict=True)), 0.5) for key, one in questions.items()}
        return Reply(answers, "told-1.0")

    async def close(self) -> None:
        """There is nothing to let go of."""


def rubric(name: str = "tone", **more: Any) -> Rubric:
    """A rubric that needs nothing but the answer."""
    body = {"criterion": f"About {name}.", "outcomes": {"acceptable": "Yes.", "unacceptable": "No."}, **more}
    return Rubric.model_validate({"id": name, "version": "1.0.0", "kind": "custom", **body})


def told_run(
    folder: Path, rows: Sequence[Row], rubrics: Sequence[Rubric] = (), *, tool_events: Any = None, **columns: Any
) -> sqlite3.Connection:
    """Judge cases c000, c001, … and store them as the run RUN, with these columns of `runs` set."""
    log = {} if tool_events is None else {"toolEvents": tool_events}
    cases = [
        Case.model_validate(
            {"id": f"c{i:03d}", "input": str(row.bad), "output": "x", "metadata": {"split": row.split}, **log}
        )
        for i, row in enumerate(rows)
    ]
    connection = open_store(folder / "jeval.db")
    judged(connection, cases, list(rubrics) or [rubric()], ToldJudge(), run_id=RUN)
    given = {"threshold_pass": 0.75, "threshold_fail": 0.5, "thresholds": "default", "status": "complete", **columns}
    for name, value in given.items():
        connection.execute(f"UPDATE runs SET {name} = ?", (value,))
    return connection


def write_labels(folder: Path, rows: Sequence[Row], rubric_id: str = "tone", *more: Mapping[str, Any]) -> Path:
    """The labels of these rows as a file, and any others."""
    lines = [
        {"caseId": f"c{i:03d}", "rubricId": rubric_id, "expected": row.expected, "reviewer": row.reviewer}
        for i, row in enumerate(rows)
        if row.expected is not None
    ]
    path = folder / "labels.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in [*lines, *more]), encoding="utf-8")
    return path


def fair(number: int, split: str = "tuning") -> list[Row]:
    """So many rows of which the judge is right, every third failing."""
    return [Row(0.95, "fail", split) if i % 3 == 0 else Row(0.05, "pass", split) for i in range(number)]

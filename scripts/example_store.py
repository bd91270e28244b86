"""A small store whose every run, check and answer is the same each time: what docs/sql.md is generated from.

An orchard's shop assistant, before and after a change of its prompt, and the change decided once more by
stricter thresholds. The whole of jeval makes it, except that a script stands in for the judge.
"""

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from jeval.app.prepare import prepare
from jeval.app.progress import Progress
from jeval.app.run import execute
from jeval.app.settings import settings_of
from jeval.question import Answer, Question, Reply
from jeval.state import State
from jeval.store.connect import open_store

__all__ = ["make_store"]

RUBRICS = [
    {
        "id": "refund-claim",
        "version": "1.0.0",
        "kind": "tool-claim",
        "severity": "critical",
        "params": {"toolName": "issue_refund", "action": "sending the refund"},
    },
    {"id": "facts", "version": "1.0.0", "kind": "claim-support"},
    {
        "id": "tone",
        "version": "1.0.0",
        "kind": "custom",
        "severity": "minor",
        "required": False,
        "criterion": "assistant_response blames nobody.",
        "outcomes": {
            "acceptable": "It blames nobody.",
            "unacceptable": "It blames the customer or a courier.",
        },
    },
]

_SHELF = {"id": "keeping", "content": "Conference pears keep until January in a cool cellar. A crate is €12."}


def _refund(status: str) -> list[dict[str, Any]]:
    return [{"id": "t1", "name": "issue_refund", "status": status}]


# Case id, input, output, status of the refund's tool; then two probabilities of each rubric's answer.
_Row = tuple[str, str, str, str, tuple[float, float], tuple[float, float], tuple[float, float]]
_NONE, _NO, _YES = (0.0, 0.0), (0.04, 0.93), (0.95, 0.03)
BEFORE: list[_Row] = [
    (
        "pear-1",
        "Where is my refund?",
        "It is sent: €12 on your card.",
        "success",
        _YES,
        (0.9, 0.04),
        (0.94, 0.02),
    ),
    (
        "pear-2",
        "Can I have my money back?",
        "Yes, I have sent you €12.",
        "success",
        _YES,
        (0.88, 0.05),
        (0.9, 0.03),
    ),
    ("pear-3", "How long do pears keep?", "Until March.", "", _NONE, (0.06, 0.9), (0.93, 0.02)),
    ("pear-4", "And in a cellar?", "Until January.", "", _NONE, (0.91, 0.03), (0.95, 0.01)),
    ("pear-5", "What is a crate?", "€12, and worth it.", "", _NONE, (0.81, 0.07), (0.9, 0.04)),
    ("pear-6", "Are they organic?", "I believe so.", "", _NONE, (0.2, 0.15), (0.92, 0.02)),
]
AFTER: list[_Row] = [
    BEFORE[0],
    (
        "pear-2",
        "Can I have my money back?",
        "Yes, I have sent you €12.",
        "failure",
        _YES,
        (0.88, 0.05),
        (0.9, 0.03),
    ),
    (
        "pear-3",
        "How long do pears keep?",
        "In a cellar until January.",
        "",
        _NONE,
        (0.94, 0.02),
        (0.95, 0.01),
    ),
    BEFORE[3],
    ("pear-5", "What is a crate?", "€12 or so, ask the courier.", "", _NONE, (0.58, 0.2), (0.35, 0.6)),
    BEFORE[5],
]


def _case(row: _Row) -> dict[str, Any]:
    name, asked, answered, refund, *_ = row
    labels = {"facts": {"status": "fail", "source": "human", "note": "it cannot know"}} if name == "pear-6" else {}
    events = _refund(refund) if refund else []
    body = {"id": name, "input": asked, "output": answered, "context": [_SHELF], "toolEvents": events}
    return {**body, **({"expected": labels} if labels else {})}


class _Script:
    """Answers from the rows above."""

    name, gateway, model, simulated = "jev", "jev", "jev-1", False

    def __init__(self) -> None:
        self._rows = {(row[2], row[3]): row for row in BEFORE + AFTER}

    async def ask(self, state: State, questions: Mapping[str, Question]) -> Reply:
        shown = json.loads(state.json)
        events = shown.get("tool_events") or [{"status": ""}]
        row = self._rows[shown["assistant_response"], events[0]["status"]]
        answers = {key: self._answer(question, row) for key, question in questions.items()}
        return Reply(answers, "jev-1.13.0", 120.0, 1, 800, 9, 0.00003)

    def _answer(self, question: Question, row: _Row) -> Answer:
        if question.names[0] == "claims_completed":
            first, second = row[4] if row[3] else _NO
        else:
            first, second = row[5] if question.names[0] == "supported" else row[6]
        shares = (first, second, round(1 - first - second, 2))
        return Answer(dict(zip(question.names, shares, strict=True)), confidence=round(max(shares) * 1.1 - 0.1, 2))

    async def close(self) -> None:
        """Holds nothing."""


def make_store(folder: Path) -> sqlite3.Connection:
    """A store in `folder` with the runs before, after and after-strict."""
    (folder / "rubrics.json").write_text(json.dumps(RUBRICS), encoding="utf-8")
    connection = open_store(folder / "example.db")
    for name, rows, profile in (
        ("before", BEFORE, ("default", 0.75, 0.5)),
        ("after", AFTER, ("default", 0.75, 0.5)),
        ("after-strict", AFTER, ("strict", 0.9, 0.3)),
    ):
        dataset = folder / f"{name}.jsonl"
        dataset.write_text("".join(json.dumps(_case(row)) + "\n" for row in rows), encoding="utf-8")
        nothing = {"name": "none", "path": None}
        config = {
            "dataset": {"name": "orchard", "path": str(dataset)},
            "rubrics": {"name": "orchard", "path": str(folder / "rubrics.json")},
            "metrics": nothing,
            "thresholds": {"name": profile[0], "pass": profile[1], "fail": profile[2]},
            "judge": {"name": "jev", "gateway": "jev", "model": "jev-1", "concurrency": 1},
            "gate": {"name": "off"},
            "name": name,
        }
        prepared = prepare(settings_of(config), folder)
        execute(prepared, connection, _Script(), Progress(), run_id=name, overrides=[], root=folder)
    return connection


if __name__ == "__main__":
    import sys

    with closing(make_store(Path(sys.argv[1]))):
        pass

"""Stored judgments, looked up by state and question."""

import sqlite3
from collections.abc import Mapping

import orjson

from jeval.evaluator import Recalled
from jeval.question import Answer, Question
from jeval.store.rows import question_key, state_key

__all__ = ["StoredJudgments"]

_FIND = """
SELECT q.id, q.asked_at, j.question, j.answer FROM request_rows q JOIN judgment_rows j ON j.request = q.id
WHERE q.state_key = ? AND q.state = ? AND q.judge = ? AND q.repeat = ? {} ORDER BY q.asked_at, q.id
"""


class StoredJudgments:
    """Looks up judgments of one judge; where there are several of one question, the latest counts.

    With `of_run` (a run's pk) only judgments that run rested on are found, whoever asked for them first: so a
    run is reproduced exactly even when the same was asked afresh since.
    """

    def __init__(self, connection: sqlite3.Connection, judge: int, of_run: int | None = None) -> None:
        self._connection, self._judge = connection, judge
        restriction = ""
        if of_run is not None:
            connection.execute("DROP TABLE IF EXISTS temp.replayed")
            connection.execute("CREATE TEMP TABLE replayed (id INTEGER PRIMARY KEY)")
            connection.execute(
                "INSERT OR IGNORE INTO replayed SELECT s.value FROM run_cases, json_each(run_cases.sources) s"
                " WHERE run_cases.run = ?",
                (of_run,),
            )
            restriction = "AND q.id IN (SELECT id FROM temp.replayed)"
        self._sql = _FIND.format(restriction)

    @classmethod
    def of(cls, connection: sqlite3.Connection, gateway: str, model: str) -> "StoredJudgments | None":
        """Those of a judge by name, None where the store knows no such judge."""
        sql = "SELECT pk FROM judges WHERE gateway = ? AND model_asked = ?"
        row = connection.execute(sql, (gateway, model)).fetchone()
        return cls(connection, row[0]) if row else None

    def __call__(self, state_sha256: str, questions: Mapping[str, Question], repeat: int) -> Recalled:
        state = bytes.fromhex(state_sha256)
        rows = self._connection.execute(self._sql, (state_key(state), state, self._judge, repeat)).fetchall()
        if not rows:
            return Recalled({}, (), None)
        latest = {row[2]: row for row in rows}
        answers: dict[str, Answer] = {}
        used = []
        for sha in questions:
            row = latest.get(question_key(sha))
            if row is not None:
                answers[sha] = Answer.restored(orjson.loads(row[3]))
                used.append(row)
        sources = tuple(dict.fromkeys(row[0] for row in used))
        return Recalled(answers, sources, min((row[1] for row in used), default=None))

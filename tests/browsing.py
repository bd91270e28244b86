"""Stores to browse, made by real runs of the offline judge, and a way to ask Datasette for a page of them.

Every text of the hostile dataset tries something: a script, a javascript: link, ANSI, a direction override, a
zero-width space, broken markup.
"""

import asyncio
import json
import re
import sqlite3
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from jeval.app.cli import main
from jeval.browse.server import make_datasette

SCRIPT = "<script>window.owned=1</script><img src=x onerror=alert(1)>"
EVIL = (
    f"{SCRIPT} [click](javascript:alert(1)) \x1b[31mred\x1b[0m \u202eesrever\u202c"
    f" zero\u200bwidth 'q\" {{{{7*7}}}} & </textarea></style>"
)

RUBRICS = [
    {
        "id": "kept-promise",
        "version": "1.0.0",
        "kind": "tool-claim",
        "severity": "critical",
        "description": f"A booking is backed by its tool. {SCRIPT}",
        "params": {"toolName": "book", "action": "booking a table"},
    },
    {
        "id": "polite",
        "version": "2.1",
        "kind": "custom",
        "severity": "minor",
        "criterion": f"assistant_response is polite. {SCRIPT}",
        "outcomes": {"acceptable": "It is polite.", "unacceptable": f"It is rude. {SCRIPT}"},
    },
    {"id": "values", "version": "1.0.0", "kind": "grounded-values"},
]


def hostile_case(number: int) -> dict[str, Any]:
    """A case whose every text is hostile. Odd ones claim what failed."""
    return {
        "id": f"case-{number}",
        "input": f"Book a table for {number}. {EVIL}",
        "output": f"Your table is booked, I have completed the booking for you. {EVIL}",
        "messages": [
            {"id": f"m1{SCRIPT}", "role": "user", "content": f"hello heliotrope {EVIL}"},
            {"id": "m2", "role": "assistant", "content": EVIL},
        ],
        "context": [{"id": "p1", "title": EVIL, "source": "javascript:alert(1)", "content": f"periwinkle {EVIL}"}],
        "policy": EVIL,
        "toolEvents": [
            {
                "id": "t1",
                "name": "book",
                "status": "failure" if number % 2 else "success",
                "input": {SCRIPT: EVIL},
                "output": {"note": f"chartreuse {EVIL}"},
            }
        ],
        "metadata": {"team": "red" if number % 3 else "blue", SCRIPT: EVIL, "vip": True},
        "expected": {"polite": {"status": "pass", "source": "imported", "reviewer": EVIL, "note": EVIL}},
    }


def write_dataset(folder: Path, cases: int = 6) -> tuple[Path, Path]:
    """The hostile dataset and its rubrics as files."""
    dataset, rubrics = folder / "cases.jsonl", folder / "rubrics.json"
    dataset.write_text("".join(json.dumps(hostile_case(i)) + "\n" for i in range(cases)), encoding="utf-8")
    rubrics.write_text(json.dumps(RUBRICS), encoding="utf-8")
    return dataset, rubrics


def make_store(folder: Path, cases: int = 6) -> Path:
    """A store with two runs of the hostile dataset, `first` and `second`, and a run that never ended,
    `broken`."""
    dataset, rubrics = write_dataset(folder, cases)
    store = folder / "hostile.db"
    common = [f"dataset.path={dataset}", f"rubrics.path={rubrics}", f"store={store}"]
    assert main(["run", *common, "name=first"]) in (0, 2)
    assert main(["run", *common, "name=second", "thresholds=strict"]) in (0, 2)
    connection = sqlite3.connect(store, isolation_level=None)
    add_runs(connection)
    connection.close()
    return store


def add_runs(connection: sqlite3.Connection) -> None:
    """By hand what is hard to bring about: an error, a metric's score, a run that never ended, a sweep, a
    hostile name."""
    run = dict(_rows(connection, "SELECT * FROM runs WHERE name = 'second'")[0])
    run |= {
        "pk": None,
        "id": "29990101-000000-broken",
        "name": f"broken {SCRIPT}",
        "finished_at": None,
        "exit_code": None,
    }
    run |= {
        "status": "running",
        "started_at": "2000-01-01T00:00:00.000Z",
        "stopped_because": EVIL,
        "cost_usd": 0.25,
    }
    run |= {"tags": json.dumps({"note": EVIL}), "model_served": EVIL}
    names = ", ".join(run)
    marks = ", ".join("?" * len(run))
    key = connection.execute(f"INSERT INTO runs ({names}) VALUES ({marks})", tuple(run.values())).lastrowid
    second = connection.execute("SELECT pk FROM runs WHERE name = 'second'").fetchone()[0]
    connection.execute(
        "INSERT INTO run_rubrics SELECT ?, position, rubric FROM run_rubrics WHERE run = ?", (key, second)
    )
    connection.execute(
        "INSERT INTO run_cases SELECT ?, position, case_key, content, NULL FROM run_cases WHERE run = ? LIMIT 1",
        (key, second),
    )
    connection.execute("INSERT INTO verdicts VALUES (77, 4, NULL, 'rate_limited', ?)", (f"rate_limited: {EVIL}",))
    connection.execute(
        "INSERT INTO check_rows SELECT ?, case_key, rubric, 4, 0, finding, 77 FROM check_rows WHERE run = ?"
        " AND case_key = (SELECT case_key FROM run_cases WHERE run = ?)",
        (key, second, key),
    )
    connection.execute("INSERT INTO tallies SELECT ?, rubric, 4, 1 FROM run_rubrics WHERE run = ?", (key, key))
    case_key, judge = connection.execute(
        "SELECT case_key, (SELECT min(pk) FROM judges) FROM run_cases WHERE run = ?", (key,)
    ).fetchone()
    connection.execute(
        "INSERT INTO request_rows (id, run, case_key, judge, state_key, state, repeat, asked_at,"
        " latency_ms, attempts,"
        " error_kind, error_message) VALUES (999999999, ?, ?, ?, 1, x'00', 0,"
        " '2000-01-01T00:00:00Z', 2500, 3, 'rate_limited', ?)",
        (key, case_key, judge, EVIL),
    )
    connection.execute("INSERT INTO metrics VALUES (5, 'warmth', '1.0', 'abc', '{}')")
    part = {
        "position": 1,
        "type": "noul",
        "question": EVIL,
        "weight": 1,
        "probabilities": {"true": 0.7, "false": 0.3},
    }
    part |= {"value": 0.7, "applicable": True, "passed": None, "confidence": 0.4}
    connection.execute(
        "INSERT INTO score_results VALUES (6, 'scored', 0.7, 1, 0, 0.5, 0.4, ?, ?)",
        (EVIL, json.dumps([part])),
    )
    connection.execute("INSERT INTO score_rows SELECT run, case_key, 5, 6 FROM run_cases WHERE run = ?", (second,))
    connection.execute("UPDATE request_rows SET latency_ms = 100 + case_key WHERE latency_ms IS NULL")
    connection.execute("UPDATE runs SET sweep_id = 'sweep-1', sweep_position = pk WHERE name IN ('first', 'second')")


def _rows(connection: sqlite3.Connection, sql: str) -> list[Any]:
    cursor = connection.cursor()
    cursor.row_factory = sqlite3.Row
    return cursor.execute(sql).fetchall()


class Dangers(HTMLParser):
    """Collects what of a page could run or lead elsewhere: as the browser reads it, not as a search would."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.scripts: list[str] = []
        self.feed(text)
        self.found += [f"{ord(c):#x}" for c in re.findall("[\x00-\x08\x0b-\x1f\x7f\u200b\u202a-\u202e]", text)]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "script":
            self.scripts.append(given.get("src", "inline"))
        if tag in ("img", "iframe", "object", "embed", "base"):
            self.found.append(tag)
        for name, value in given.items():
            if name.startswith("on") or name == "style":
                self.found.append(f"{tag} {name}")
            if name in ("href", "src", "action", "formaction", "xlink:href") and not value.startswith(("/", "#", "?")):
                self.found.append(f"{tag} {name}={value}")


class Browser:
    """Asks one Datasette for pages, from code that is not async."""

    def __init__(self, store: Path, **options: Any) -> None:
        self.store = store
        self.datasette = make_datasette(store, **options)
        asyncio.run(self.datasette.invoke_startup())

    def get(self, path: str, **options: Any) -> Any:
        """The response to GET, redirects not followed."""
        return asyncio.run(self._ask("get", path, **options))

    def post(self, path: str, **options: Any) -> Any:
        """The response to POST."""
        return asyncio.run(self._ask("post", path, **options))

    async def _ask(self, method: str, path: str, **options: Any) -> Any:
        return await getattr(self.datasette.client, method)(path, **options)

    def run_id(self, name: str) -> str:
        """The id of a run by its name."""
        connection = sqlite3.connect(self.store)
        try:
            return str(
                connection.execute(
                    "SELECT id FROM runs WHERE name LIKE ? ORDER BY pk LIMIT 1", (f"{name}%",)
                ).fetchone()[0]
            )
        finally:
            connection.close()

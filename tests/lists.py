"""A small store whose every check is known, and what filters must leave of it, said a second time in Python.

Two nights of the same six cases, swept together, where one word is in each part of a case; and an old run of
another dataset by another judge.
"""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs

from jeval.fingerprint import compact, key63
from jeval.rubric import Rubric
from jeval.store.connect import open_store
from jeval.store.runs import begin_run
from jeval.store.status import STATUS_CODES

OUTCOMES = {"acceptable": "It is so.", "unacceptable": "It is not."}
RUBRICS = {
    "claim": Rubric(
        id="claim",
        version="1.0.0",
        kind="tool-claim",
        severity="critical",
        criterion="About the booking.",
        params={"toolName": "book", "action": "booking"},
    ),
    "facts": Rubric(id="facts", version="1.0.0", kind="claim-support", criterion="About the facts."),
    "tone": Rubric(
        id="tone", version="1.0.0", kind="custom", severity="minor", criterion="About tone.", outcomes=OUTCOMES
    ),
}

# Where the word that only one case has is found.
WORDS = {
    "c1": ("input", "apricot"),
    "c2": ("output", "quince"),
    "c3": ("messages", "medlar"),
    "c4": ("context", "damson"),
    "c5": ("toolEvents", "sloe"),
    "c6": ("policy", "bullace"),
}
Way = tuple[str, str, str | None]  # status, rule, outcome

OK: Way = ("pass", "pass-threshold", "acceptable")
CLAIMED: Way = ("pass", "claim-confirmed", "claims_completed")
BROKEN: Way = ("fail", "claim-contradicted", "claims_completed")
RUDE: Way = ("fail", "fail-threshold", "unacceptable")
UNSURE: Way = ("review", "insufficient-leads", "not_covered")
UNCLEAR: Way = ("review", "unclear-claim", "unclear")
TIMEOUT: Way = ("error", "timeout", None)
LIMITED: Way = ("error", "rate_limited", None)

MONDAY = {(case, "claim"): CLAIMED for case in WORDS} | {(case, "tone"): OK for case in WORDS}
MONDAY |= {(case, "facts"): UNSURE for case in WORDS} | {("c1", "claim"): BROKEN, ("c6", "tone"): RUDE}
TUESDAY = MONDAY | {("c2", "claim"): BROKEN, ("c3", "claim"): BROKEN, ("c3", "facts"): TIMEOUT, ("c4", "tone"): RUDE}
TUESDAY |= {("c5", "tone"): LIMITED, ("c1", "facts"): OK, ("c6", "tone"): OK, ("c6", "claim"): UNCLEAR}
OLD = {("s1", "tone"): OK, ("s2", "tone"): RUDE}
RUNS = {"old": OLD, "monday": MONDAY, "tuesday": TUESDAY}


class Known(NamedTuple):
    """A check as the tests know it."""

    run: str
    case: str
    rubric: str
    way: Way

    def matches(self, query: str) -> bool:
        """Whether filters, written as in an address, leave this check."""
        asked = parse_qs(query)
        status, rule, outcome = self.way
        rubric = RUBRICS[self.rubric]
        has = {"status": status, "rule": rule, "outcome": outcome, "rubric": self.rubric, "case": self.case}
        has |= {"severity": rubric.severity, "kind": rubric.kind}
        slow = int(self.case[1:]) * 100 if self.case in WORDS else float("nan")  # no bound holds what is unmeasured
        return (
            all(has[name] in asked[name] for name in has if name in asked)
            and ("key" not in asked or self.metadata.get(asked["key"][0]) in asked.get("value", ["red", "blue"]))
            and ("slower" not in asked or slow >= float(asked["slower"][0]))
            and ("faster" not in asked or slow <= float(asked["faster"][0]))
            and ("q" not in asked or asked["q"][0] in (WORDS.get(self.case, ("", ""))[1], "orchard"))
        )

    @property
    def metadata(self) -> dict[str, str]:
        return {"team": "red" if self.case in ("c1", "c2", "c3") else "blue"} if self.case in WORDS else {}


def known(*runs: str) -> Iterator[Known]:
    """Every check of these runs."""
    for run in runs:
        for (case, rubric), way in RUNS[run].items():
            yield Known(run, case, rubric, way)


def body_of(case: str) -> dict[str, Any]:
    """A case: the word of its own in one part, `orchard` in all."""
    body: dict[str, Any] = {"id": case, "input": "Of an orchard", "output": "It grows."}
    if case not in WORDS:
        return body
    body["metadata"] = Known("", case, "", OK).metadata
    part, word = WORDS[case]
    texts = {
        "messages": [{"id": "m1", "role": "user", "content": word}],
        "context": [{"id": "p1", "content": word}],
        "toolEvents": [{"id": "t1", "name": "book", "status": "success", "output": {"note": word}}],
    }
    return body | {part: texts.get(part, f"orchard {word}")}


def make_lists(folder: Path) -> Path:
    """The store. Monday asked the judge, each case 100 ms slower than the one before; Tuesday asked nothing."""
    path = folder / "lists.db"
    connection = open_store(path)
    add(connection, "old", OLD, ["tone"], dataset="shop", judge="vercel", simulated=1, tags='{"branch": "main"}')
    for place, (name, checks) in enumerate((("monday", MONDAY), ("tuesday", TUESDAY)), 1):
        add(
            connection,
            name,
            checks,
            list(RUBRICS),
            thresholds=("default", "strict")[place - 1],
            sweep_id="nights",
            sweep_position=place,
            cost_usd=float(place),
        )
    connection.close()
    return path


def add(
    connection: sqlite3.Connection, name: str, checks: dict[tuple[str, str], Way], rubrics: list[str], **columns: Any
) -> int:
    """Store a run with these checks."""
    number = connection.execute("SELECT count(*) FROM runs").fetchone()[0]
    row = {"id": f"2026-{name}", "name": name, "started_at": f"2026-01-01T00:0{number}:00.000Z"}
    row |= {"finished_at": f"2026-01-01T00:0{number}:30.000Z", "status": "complete", "exit_code": 0}
    row |= {"dataset": "orchard", "thresholds": "default", "threshold_pass": 0.75, "threshold_fail": 0.5}
    row |= {"judge": "jev", "gateway": "jev", "model_asked": "jev-1", "config_yaml": "", "config_sha256": ""}
    row |= {"jeval_version": "0.1.0", "python_version": "3.11", "cases": len({case for case, _ in checks})}
    keys = begin_run(connection, row | columns, [RUBRICS[one] for one in rubrics], [])
    for place, case in enumerate(dict.fromkeys(case for case, _ in checks)):
        connection.execute("INSERT OR IGNORE INTO case_ids (id) VALUES (?)", (case,))
        key = connection.execute("SELECT key FROM case_ids WHERE id = ?", (case,)).fetchone()[0]
        body = (key, bytes([key]), compact(body_of(case)))
        connection.execute("INSERT OR IGNORE INTO case_rows (case_key, sha256, body) VALUES (?, ?, ?)", body)
        content = connection.execute("SELECT pk FROM case_rows WHERE case_key = ?", (key,)).fetchone()[0]
        if name == "monday":
            request = (key, keys.run, key, keys.judge, int(case[1:]) * 100)
            connection.execute(
                "INSERT INTO request_rows (id, run, case_key, judge, state_key, state, repeat, asked_at, latency_ms,"
                " attempts) VALUES (?, ?, ?, ?, 1, x'00', 0, '2026-01-01T00:00:00Z', ?, 1)",
                request,
            )
        sources = f"[{key}]" if case in WORDS else None
        connection.execute("INSERT INTO run_cases VALUES (?, ?, ?, ?, ?)", (keys.run, place, key, content, sources))
        for (of, rubric), way in checks.items():
            if of == case:
                _check(connection, keys.run, keys.rubrics[RUBRICS[rubric].sha256], key, RUBRICS[rubric], way)
    return keys.run


def _check(connection: sqlite3.Connection, run: int, rubric_key: int, case: int, rubric: Rubric, way: Way) -> None:
    status, rule, outcome = way
    code, reason = STATUS_CODES[status], f"{rule} in run {run}"
    verdict = key63(f"{way}{reason}")
    connection.execute("INSERT OR IGNORE INTO findings VALUES (?, 1, NULL, NULL, NULL, '{\"fields\":[]}')", (case,))
    connection.execute("INSERT OR IGNORE INTO verdicts VALUES (?, ?, ?, ?, ?)", (verdict, code, outcome, rule, reason))
    critical = int(status == "fail" and rubric.severity == "critical")
    connection.execute(
        "INSERT INTO check_rows VALUES (?, ?, ?, ?, ?, 1, ?)", (run, case, rubric_key, code, critical, verdict)
    )
    connection.execute(
        "INSERT INTO tallies VALUES (?, ?, ?, 1) ON CONFLICT DO UPDATE SET n = n + 1", (run, rubric_key, code)
    )

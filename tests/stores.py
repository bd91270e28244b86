"""Small stores with runs whose every check is chosen, for tests of what reads a store."""

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jeval.fingerprint import compact, key63
from jeval.rubric import Rubric
from jeval.store.connect import open_store
from jeval.store.runs import begin_run
from jeval.store.status import STATUS_CODES

Checks = Mapping[tuple[str, str], str]


def rubric(name: str, version: str = "1.0.0", **more: Any) -> Rubric:
    """A rubric that needs nothing but the answer."""
    outcomes = {"acceptable": "It is so.", "unacceptable": "It is not."}
    body = {"criterion": f"About {name}.", "outcomes": outcomes, **more}
    return Rubric(id=name, version=version, kind="custom", **body)


def new_store(folder: Path) -> sqlite3.Connection:
    """An empty store in a folder."""
    return open_store(folder / "jeval.db")


def add_run(
    connection: sqlite3.Connection,
    run_id: str,
    checks: Checks,
    rubrics: Sequence[Rubric] | None = None,
    *,
    contents: Mapping[str, str] | None = None,
    scores: Mapping[tuple[str, str], float | None] | None = None,
    reasons: Mapping[tuple[str, str], str] | None = None,
    flips: Sequence[tuple[str, str]] = (),
    **columns: Any,
) -> int:
    """Store a run with these statuses by (case id, rubric id); its key. Columns of `runs` may be given."""
    used = list(rubrics) if rubrics is not None else [rubric(name) for name in sorted({r for _, r in checks})]
    number = connection.execute("SELECT count(*) FROM runs").fetchone()[0]
    row = {
        "id": run_id,
        "started_at": f"2026-01-01T00:00:{number:02d}.000Z",
        "finished_at": f"2026-01-01T00:01:{number:02d}.000Z",
        "status": "complete",
        "exit_code": 0,
        "dataset": "orchard",
        "dataset_sha256": "d" * 64,
        "thresholds": "default",
        "threshold_pass": 0.75,
        "threshold_fail": 0.5,
        "judge": "jev",
        "gateway": "jev",
        "model_asked": "jev-1",
        "model_served": "jev-1.13.0",
        "config_yaml": "",
        "config_sha256": "",
        "jeval_version": "0.1.0",
        "python_version": "3.11",
        **columns,
    }
    row.setdefault("cases", len({case for case, _ in checks}))
    keys = begin_run(connection, row, used, [])
    by_id = {item.id: item for item in used}
    connection.execute("BEGIN")
    names = dict.fromkeys([*(case for case, _ in checks), *(case for case, _ in scores or {})])
    case_keys = {case: _case(connection, keys.run, i, case, contents or {}) for i, case in enumerate(names)}
    for (case, name), status in checks.items():
        reason = (reasons or {}).get((case, name), f"it was {status}")
        _check(
            connection,
            keys.run,
            keys.rubrics[by_id[name].sha256],
            case_keys[case],
            by_id[name],
            status,
            reason,
        )
    for (case, metric), score in (scores or {}).items():
        _score(connection, keys.run, case_keys[case], metric, score)
    for case, name in flips:
        values = (keys.run, case_keys[case], keys.rubrics[by_id[name].sha256], '["pass","fail"]')
        connection.execute("INSERT INTO repeat_flips VALUES (?, ?, ?, ?)", values)
    connection.execute("COMMIT")
    return keys.run


def _case(connection: sqlite3.Connection, run: int, position: int, case: str, contents: Mapping[str, str]) -> int:
    connection.execute("INSERT OR IGNORE INTO case_ids (id) VALUES (?)", (case,))
    key = int(connection.execute("SELECT key FROM case_ids WHERE id = ?", (case,)).fetchone()[0])
    output = contents.get(case, "Pears keep until March.")
    sha = key63(output).to_bytes(32, "big")
    body = compact({"id": case, "input": "How long do pears keep?", "output": output})
    connection.execute("INSERT OR IGNORE INTO case_rows (case_key, sha256, body) VALUES (?, ?, ?)", (key, sha, body))
    content = connection.execute("SELECT pk FROM case_rows WHERE case_key = ? AND sha256 = ?", (key, sha)).fetchone()[0]
    connection.execute("INSERT INTO run_cases VALUES (?, ?, ?, ?, NULL)", (run, position, key, content))
    return key


def _check(
    connection: sqlite3.Connection,
    run: int,
    rubric_key: int,
    case: int,
    rubric: Rubric,
    status: str,
    reason: str,
) -> None:
    code = STATUS_CODES[status]
    asked = status not in ("skipped", "error")
    probabilities = '{"acceptable":0.6,"unacceptable":0.4}' if asked else None
    criterion = key63(rubric.criterion)
    connection.execute("INSERT OR IGNORE INTO criteria VALUES (?, ?)", (criterion, rubric.criterion))
    finding = key63(f"{criterion}{probabilities}")
    connection.execute(
        "INSERT OR IGNORE INTO findings VALUES (?, ?, ?, ?, ?, ?)",
        (case, finding, criterion if asked else None, probabilities, 0.5 if asked else None, '{"fields":[]}'),
    )
    verdict = key63(f"{status}{reason}")
    connection.execute(
        "INSERT OR IGNORE INTO verdicts VALUES (?, ?, ?, ?, ?)",
        (verdict, code, "acceptable" if asked else None, "a-rule", reason),
    )
    critical = int(status == "fail" and rubric.severity == "critical")
    connection.execute(
        "INSERT INTO check_rows VALUES (?, ?, ?, ?, ?, ?, ?)",
        (run, case, rubric_key, code, critical, finding, verdict),
    )
    connection.execute(
        "INSERT INTO tallies VALUES (?, ?, ?, 1) ON CONFLICT DO UPDATE SET n = n + 1", (run, rubric_key, code)
    )


def _score(connection: sqlite3.Connection, run: int, case: int, metric: str, score: float | None) -> None:
    connection.execute(
        "INSERT OR IGNORE INTO metrics (id, version, sha256, definition) VALUES (?, '1.0.0', ?, '{}')",
        (metric, "m" * 64),
    )
    key = connection.execute("SELECT pk FROM metrics WHERE id = ?", (metric,)).fetchone()[0]
    result = key63(f"{metric}{score}")
    status = "skipped" if score is None else "scored"
    passed = None if score is None else int(score >= 0.5)
    connection.execute(
        "INSERT OR IGNORE INTO score_results VALUES (?, ?, ?, ?, 0, 0.5, 0.9, ?, '[]')",
        (result, status, score, passed, f"scored {score}"),
    )
    connection.execute("INSERT INTO score_rows VALUES (?, ?, ?, ?)", (run, case, key, result))

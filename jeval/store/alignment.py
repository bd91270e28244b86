"""Two runs of one store side by side, read in a few passes over integers.

The changed checks are found by one join over the primary key; only their texts are read. How many checks did
not change follows from the runs' tallies, so nothing is counted twice.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from jeval.comparability import OneSided, Overlap, RunFacts, Versioned
from jeval.compare import Alignment, Change
from jeval.score_change import score_changes
from jeval.significance import Pairs
from jeval.store.queries import QUERIES
from jeval.store.scores import run_scores
from jeval.store.status import STATUS_NAMES

__all__ = ["align", "run_facts"]

# How many of the cases that only one run has are named.
_NAMED = 5

_PAIRED_CASES = """
SELECT count(*), total(a.content <> b.content) FROM run_cases a
CROSS JOIN run_cases b ON b.run = :b AND b.case_key = a.case_key WHERE a.run = :a
"""

_ONLY_HERE = "NOT EXISTS (SELECT 1 FROM run_cases o WHERE o.run = :other AND o.case_key = {}.case_key)"

_ONLY_CASES = f"""
SELECT case_ids.id FROM run_cases r JOIN case_ids ON case_ids.key = r.case_key
WHERE r.run = :run AND {_ONLY_HERE.format("r")} ORDER BY r.position LIMIT {_NAMED}
"""  # noqa: S608 - our own fragments

_ONLY_STATUSES = f"""
SELECT c.rubric, c.status, count(*) FROM check_rows c
WHERE c.run = :run AND {_ONLY_HERE.format("c")} GROUP BY c.rubric, c.status
"""  # noqa: S608 - our own fragments

# Status pairs by the plain join: where tallies do not say enough.
_MATRIX = """
SELECT a.status, b.status, count(*) FROM check_rows a
CROSS JOIN check_rows b ON b.run = :b AND b.case_key = a.case_key AND b.rubric = a.rubric
WHERE a.run = :a GROUP BY a.status, b.status
"""

# Of cases with a changed check: did any required check fail that both runs decided, before and after?
_CHANGED_CASES = """
SELECT failed_before, failed_after, count(*) FROM (
  SELECT max(a.status) AS failed_before, max(b.status) AS failed_after FROM check_rows a
  CROSS JOIN check_rows b ON b.run = :b AND b.case_key = a.case_key AND b.rubric = a.rubric AND b.status < 2
  WHERE a.run = :a AND a.status < 2
    AND a.case_key IN (SELECT key FROM case_ids WHERE id IN (SELECT value FROM json_each(:changed)))
    AND a.rubric IN (SELECT value FROM json_each(:required))
  GROUP BY a.case_key
) GROUP BY failed_before, failed_after
"""

# The same of all other cases, whose checks are alike in both runs.
_OTHER_CASES = """
SELECT failed, count(*) FROM (
  SELECT case_key, max(status) AS failed FROM check_rows
  WHERE run = :a AND status < 2 AND (:all OR rubric IN (SELECT value FROM json_each(:required)))
  GROUP BY case_key
) AS g
WHERE case_key NOT IN (SELECT key FROM case_ids WHERE id IN (SELECT value FROM json_each(:changed)))
  AND (:same_cases OR EXISTS (SELECT 1 FROM run_cases o WHERE o.run = :b AND o.case_key = g.case_key))
GROUP BY failed
"""

Rubrics = Mapping[int, bool]


def run_facts(connection: sqlite3.Connection, run: sqlite3.Row) -> RunFacts:
    """What of a stored run decides whether another may be held against it; `run` is its row."""
    rubrics = connection.execute(
        "SELECT rubrics.id, version, sha256, coalesce(t.n, 0) FROM run_rubrics u"
        " JOIN rubrics ON rubrics.pk = u.rubric"
        " LEFT JOIN tallies t ON t.run = u.run AND t.rubric = u.rubric AND t.status = 1"
        " WHERE u.run = ? ORDER BY u.position",
        (run["pk"],),
    ).fetchall()
    metrics = connection.execute(
        "SELECT id, version, sha256 FROM metrics"
        " WHERE pk IN (SELECT DISTINCT metric FROM score_rows WHERE run = ?) ORDER BY id",
        (run["pk"],),
    ).fetchall()
    checks = connection.execute("SELECT total(n) FROM tallies WHERE run = ?", (run["pk"],)).fetchone()[0]
    served = run["model_served"]
    return RunFacts(
        id=run["id"],
        name=run["name"],
        status=run["status"],
        dataset=run["dataset"],
        dataset_sha256=run["dataset_sha256"],
        thresholds=run["thresholds"],
        threshold_pass=run["threshold_pass"],
        threshold_fail=run["threshold_fail"],
        gateway=run["gateway"],
        model_asked=run["model_asked"],
        models_served=tuple(served.split(", ")) if served else (),
        simulated=bool(run["simulated"]),
        checks=int(checks),
        rubrics=tuple(Versioned(*row) for row in rubrics),
        metrics=tuple(Versioned(*row) for row in metrics),
    )


def align(connection: sqlite3.Connection, baseline: sqlite3.Row, candidate: sqlite3.Row) -> Alignment:
    """Hold the checks and scores of two stored runs side by side; both are rows of `runs`.

    All is read as it stood at one moment, for a run may be writing.
    """
    if connection.in_transaction:
        return _align(connection, baseline, candidate)
    connection.execute("BEGIN")
    try:
        return _align(connection, baseline, candidate)
    finally:
        connection.execute("COMMIT")


def _align(connection: sqlite3.Connection, baseline: sqlite3.Row, candidate: sqlite3.Row) -> Alignment:
    pair = {"a": baseline["pk"], "b": candidate["pk"]}
    found = connection.execute(QUERIES["compare"].sql, {"run_a": baseline["id"], "run_b": candidate["id"]})
    changes = tuple(_change(row) for row in found)
    rubrics = _shared_rubrics(connection, pair)
    cases, other_content = connection.execute(_PAIRED_CASES, pair).fetchone()
    sides, statuses = [], []
    for run, other in ((pair["a"], pair["b"]), (pair["b"], pair["a"])):
        side, left_out = _one_sided(connection, run, other, cases)
        sides.append(side)
        statuses.append(_statuses(connection, run, rubrics, left_out))
    checks, matrix = _matrix(connection, pair, statuses, changes)
    same_cases = not sides[0].cases
    return Alignment(
        Overlap(checks, cases, int(other_content), *sides),
        changes,
        checks=Pairs(matrix["pass", "pass"], matrix["pass", "fail"], matrix["fail", "pass"], matrix["fail", "fail"]),
        cases=_case_pairs(connection, pair, rubrics, changes, same_cases=same_cases),
        scores=score_changes(run_scores(connection, baseline["id"]), run_scores(connection, candidate["id"])),
    )


def _change(row: Sequence[Any]) -> Change:
    case_id, rubric_id, version, before, after, _, severity, required, reason_before, reason_after, flips = row
    return Change(
        case_id,
        rubric_id,
        version,
        before,
        after,
        severity,
        bool(required),
        reason_before,
        reason_after,
        bool(flips),
    )


def _shared_rubrics(connection: sqlite3.Connection, pair: Mapping[str, int]) -> Rubrics:
    """The rubrics that both runs used, in the very same content: whether each is required, by key."""
    rows = connection.execute(
        "SELECT pk, required FROM rubrics WHERE pk IN (SELECT rubric FROM run_rubrics WHERE run = :a)"
        " AND pk IN (SELECT rubric FROM run_rubrics WHERE run = :b)",
        pair,
    )
    return {pk: bool(required) for pk, required in rows}


def _one_sided(
    connection: sqlite3.Connection, run: int, other: int, paired: int
) -> tuple[OneSided, Counter[tuple[int, int]]]:
    """The cases that only `run` has, and how often each (rubric, status) occurs in them."""
    total = connection.execute("SELECT count(*) FROM run_cases WHERE run = ?", (run,)).fetchone()[0]
    if total == paired:
        return OneSided(), Counter()
    keys = {"run": run, "other": other}
    first = tuple(row[0] for row in connection.execute(_ONLY_CASES, keys))
    left_out = Counter({(rubric, status): n for rubric, status, n in connection.execute(_ONLY_STATUSES, keys)})
    failures = sum(n for (_, status), n in left_out.items() if STATUS_NAMES[status] == "fail")
    return OneSided(total - paired, first, failures), left_out


def _statuses(
    connection: sqlite3.Connection, run: int, rubrics: Rubrics, left_out: Counter[tuple[int, int]]
) -> Counter[str]:
    """How often each status occurs in the checks that the other run holds too."""
    found: Counter[str] = Counter()
    for rubric, status, n in connection.execute("SELECT rubric, status, n FROM tallies WHERE run = ?", (run,)):
        if rubric in rubrics:
            found[STATUS_NAMES[status]] += n - left_out[rubric, status]
    return found


def _matrix(
    connection: sqlite3.Connection,
    pair: Mapping[str, int],
    statuses: Sequence[Counter[str]],
    changes: Iterable[Change],
) -> tuple[int, Counter[tuple[str, str]]]:
    """All paired checks, and how often each status before goes with each after."""
    changed = Counter((change.before, change.after) for change in changes)
    matrix = Counter(changed)
    for name in STATUS_NAMES:
        alike = [
            counts[name] - sum(n for moved, n in changed.items() if moved[i] == name)
            for i, counts in enumerate(statuses)
        ]
        if alike[0] != alike[1]:  # a check of a shared case and rubric is missing on one side
            rows = connection.execute(_MATRIX, pair)
            matrix = Counter({(STATUS_NAMES[before], STATUS_NAMES[after]): n for before, after, n in rows})
            break
        matrix[name, name] = alike[0]
    return matrix.total(), matrix


def _case_pairs(
    connection: sqlite3.Connection,
    pair: Mapping[str, int],
    rubrics: Rubrics,
    changes: Iterable[Change],
    *,
    same_cases: bool,
) -> Pairs:
    """Cases by whether any required check failed that both runs decided."""
    required = [pk for pk, is_required in rubrics.items() if is_required]
    used = connection.execute("SELECT count(*) FROM run_rubrics WHERE run = :a", pair).fetchone()[0]
    parameters = {
        **pair,
        "required": json.dumps(required),
        "all": len(required) == used,
        "changed": json.dumps(sorted({change.case_id for change in changes})),
        "same_cases": same_cases,
    }
    found: Counter[tuple[int, int]] = Counter()
    for before, after, n in connection.execute(_CHANGED_CASES, parameters):
        found[before, after] += n
    for failed, n in connection.execute(_OTHER_CASES, parameters):
        found[failed, failed] += n
    return Pairs(found[0, 0], found[0, 1], found[1, 0], found[1, 1])

"""The cases of a run that filters on cases leave: by id, metadata, latency and words."""

import sqlite3
from typing import Any

from jeval.browse.filters import Filters
from jeval.browse.search import indexed, match_text, terms

__all__ = ["LATENCIES", "chosen_cases", "some_cases"]

_VALUE = (
    "CASE json_type(b.body, :path) WHEN 'true' THEN 'true' WHEN 'false' THEN 'false'"
    " ELSE CAST(json_extract(b.body, :path) AS TEXT) END"
)

# Cases the index does not hold yet are compared one by one.
_COMPARED = "rc.content IN (SELECT b.pk FROM case_rows b WHERE b.pk > :indexed AND {})"

# A run that asked nothing rests on the requests of others: those count as well as its own.
LATENCIES = """
SELECT case_key, latency_ms AS ms FROM request_rows WHERE run = :run
UNION ALL SELECT k.case_key, q.latency_ms FROM run_cases k, json_each(k.sources) s
  CROSS JOIN request_rows q ON q.id = s.value WHERE k.run = :run"""
_SLOWEST = f"rc.case_key IN (SELECT case_key FROM ({LATENCIES}) GROUP BY case_key HAVING {{}})"  # noqa: S608 - our own


def chosen_cases(conn: sqlite3.Connection, run: int, filters: Filters) -> list[int] | None:
    """The keys of the cases that all filters on cases leave, or None where there is no such filter."""
    conditions: list[str] = []
    params: dict[str, Any] = {"run": run, "indexed": -1}
    last = indexed(conn) if filters.key or filters.q else None
    if last is not None:
        params["indexed"] = last
    if filters.case:
        conditions.append("rc.case_key IN (SELECT key FROM case_ids WHERE id = :case)")
        params["case"] = filters.case
    if filters.key:
        conditions.append(_metadata(filters, params, last))
    bounds = [(name, sign) for name, sign in (("slower", ">="), ("faster", "<=")) if getattr(filters, name) is not None]
    if bounds:
        conditions.append(_SLOWEST.format(" AND ".join(f"max(ms) {sign} :{name}" for name, sign in bounds)))
        params |= {name: getattr(filters, name) for name, _ in bounds}
    if filters.q:
        conditions.append(_words(filters.q, params, last))
    if not conditions:
        return None
    sql = f"SELECT rc.case_key FROM run_cases rc WHERE rc.run = :run AND {' AND '.join(conditions)}"  # noqa: S608 - our own
    return [row[0] for row in conn.execute(sql, params)]


def some_cases(conn: sqlite3.Connection, run: int, filters: Filters) -> list[int] | None:
    """The same, but None as well where the filters leave every case: then none needs to be looked up."""
    found = chosen_cases(conn, run, filters)
    if not found:
        return found
    every = conn.execute("SELECT count(*) FROM run_cases WHERE run = ?", (run,)).fetchone()[0]
    return None if len(found) == every else found


def _metadata(filters: Filters, params: dict[str, Any], last: int | None) -> str:
    params |= {
        "key": filters.key,
        "value": filters.value,
        "path": f'$.metadata."{filters.key.replace(chr(34), "")}"',
    }
    late = f"{_VALUE} = :value" if filters.value else "json_type(b.body, :path) IS NOT NULL"
    compared = _COMPARED.format(late)
    if last is None:
        return compared
    equal = "AND value = :value" if filters.value else ""
    found = f"rc.content IN (SELECT content FROM case_metadata WHERE key = :key {equal})"  # noqa: S608
    return f"({found} OR {compared})"


def _words(text: str, params: dict[str, Any], last: int | None) -> str:
    tests = []
    for i, (term, _) in enumerate(terms(text) or [(text, False)]):
        escaped = term.replace("!", "!!").replace("%", "!%").replace("_", "!_")
        params[f"like{i}"] = f"%{escaped}%"
        tests.append(f"b.body LIKE :like{i} ESCAPE '!'")
    compared = _COMPARED.format(" AND ".join(tests))
    query = match_text(text)
    if last is None or not query:
        return compared.replace(":indexed", "-1")
    params["q"] = query
    found = "rc.content IN (SELECT rowid FROM case_search WHERE case_search MATCH :q)"
    return f"({found} OR {compared})"

"""The cases of a run that filters on cases leave: by id, metadata, latency and words."""

import sqlite3
from typing import Any

from jeval.browse.filters import Filters
from jeval.browse.search import indexed, match_text

__all__ = ["chosen_cases"]

_VALUE = (
    "CASE json_type(b.body, :path) WHEN 'true' THEN 'true' WHEN 'false' THEN 'false'"
    " ELSE CAST(json_extract(b.body, :path) AS TEXT) END"
)

# Cases the index does not hold yet are compared one by one.
_COMPARED = "rc.content IN (SELECT b.pk FROM case_rows b WHERE b.pk > :indexed AND {})"


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
    for name, sign in (("slower", ">="), ("faster", "<=")):
        if getattr(filters, name) is not None:
            conditions.append(
                "rc.case_key IN (SELECT case_key FROM request_rows WHERE run = :run"  # noqa: S608 - our own words
                f" GROUP BY case_key HAVING max(latency_ms) {sign} :{name})"
            )
            params[name] = getattr(filters, name)
    if filters.q:
        conditions.append(_words(filters.q, params, last))
    if not conditions:
        return None
    sql = f"SELECT rc.case_key FROM run_cases rc WHERE rc.run = :run AND {' AND '.join(conditions)}"  # noqa: S608 - our own
    return [row[0] for row in conn.execute(sql, params)]


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
    escaped = text.replace("!", "!!").replace("%", "!%").replace("_", "!_")
    params["like"] = f"%{escaped}%"
    query = match_text(text)
    test = "b.body LIKE :like ESCAPE '!'"
    if last is None or not query:
        return _COMPARED.format(test).replace(":indexed", "-1")
    params["q"] = query
    found = "rc.content IN (SELECT rowid FROM case_search WHERE case_search MATCH :q)"
    return f"({found} OR {_COMPARED.format(test)})"

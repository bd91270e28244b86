"""Facets of a view that are counted together: one pass over its rows gives all of them, and how many rows there are.

Datasette's own count a view once for each facet, and once more for the number of rows. Where the filters are only
on what the tallies know, checks are not counted at all, but added up.
"""

from collections import Counter
from typing import Any

from datasette.database import QueryInterrupted
from datasette.facets import Facet
from datasette.utils import escape_sqlite, path_with_added_args, path_with_removed_args

from jeval.store.queries import status_name

__all__ = ["TogetherFacet", "from_tallies"]

_TALLIED = ("run_id", "rubric_id", "rubric_version", "kind", "severity", "required", "status")
# Under the view's own name, which it hides, so that conditions on the view fit it as they are.
_TALLIES = f"""WITH checks AS (SELECT runs.id AS run_id, rubrics.id AS rubric_id, rubrics.version AS rubric_version,
  rubrics.kind AS kind, rubrics.severity AS severity, rubrics.required AS required,
  {status_name("t.status")} AS status, t.n AS n
  FROM tallies t JOIN runs ON runs.pk = t.run JOIN rubrics ON rubrics.pk = t.rubric)"""  # noqa: S608 - our own names


def from_tallies(table: str | None, request: Any) -> bool:
    """Whether the tallies answer how many rows of a table this address leaves."""
    names = [name for name in request.args if not name.startswith("_") or "__" in name]
    special = {"_search", "_where", "_through"}.intersection(name.split("__")[0] for name in request.args)
    searched = any(name.startswith("_search_") for name in request.args)
    tallied = all(name.rsplit("__", 1)[0] in _TALLIED for name in names)
    return table == "checks" and tallied and not special and not searched


class TogetherFacet(Facet):
    """Facets that a table's metadata names as {"together": column}."""

    type = "together"

    async def facet_results(self) -> tuple[list[dict[str, Any]], list[str]]:
        """What Datasette shows, and the names of those that took too long. Sets `rows` of a request that has it."""
        columns = [one["config"].get("column") or one["config"]["simple"] for one in self.get_configs()]
        if not columns:
            return [], []
        try:
            groups = await self._groups(columns)
        except QueryInterrupted:
            return [], columns
        if hasattr(self.request, "rows"):
            self.request.rows = sum(group[-1] for group in groups)
        return [self._result(column, i, groups) for i, column in enumerate(columns)], []

    async def _groups(self, columns: list[str]) -> list[Any]:
        """Every combination of values with the number of rows that have it, last."""
        names = ", ".join(escape_sqlite(column) for column in columns)
        numbers = ", ".join(str(i + 1) for i in range(len(columns)))
        if from_tallies(self.table, self.request) and set(columns) <= set(_TALLIED):
            conditions = self.sql.split(" from checks ", 1)[1]
            sql = f"{_TALLIES} SELECT {names}, sum(n) FROM checks {conditions} GROUP BY {numbers}"  # noqa: S608
        else:
            sql = f"SELECT {names}, count(*) FROM ({self.sql}) GROUP BY {numbers}"  # noqa: S608 - Datasette's own
        limit = self.ds.setting("facet_time_limit_ms")
        found = await self.ds.execute(self.database, sql, self.params, truncate=False, custom_time_limit=limit)
        return [tuple(row) for row in found.rows]

    def _result(self, column: str, place: int, groups: list[Any]) -> dict[str, Any]:
        counts: Counter[Any] = Counter()
        for group in groups:
            if group[place] is not None:
                counts[group[place]] += group[-1]
        size = self.get_facet_size()
        ordered = sorted(counts.items(), key=lambda pair: (-pair[1], str(pair[0])))
        return {
            "name": column,
            "type": "column",  # to people and to JSON it is a facet like any other
            "hideable": False,
            "toggle_url": self.ds.urls.path(path_with_removed_args(self.request, {"_facet": column})),
            "results": [self._value(column, value, count) for value, count in ordered[:size]],
            "truncated": len(ordered) > size,
        }

    def _value(self, column: str, value: Any, count: int) -> dict[str, Any]:
        selected = (column, str(value)) in self.get_querystring_pairs()
        change = path_with_removed_args if selected else path_with_added_args
        path = change(self.request, {column: str(value)})
        url = self.ds.absolute_url(self.request, self.ds.urls.path(path))
        return {"value": value, "label": value, "count": count, "toggle_url": url, "selected": selected}

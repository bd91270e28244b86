"""Datasette's own pages of a store's tables: the columns people read first, quick counts, one row to a page upright.

The addresses stay Datasette's. A choice of columns in an address (`_col`, `_nocol`, or `_cols=all`) is followed;
JSON and CSV hold every column unless it makes one.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from datasette.database import QueryInterrupted
from datasette.utils import MultiParams, escape_sqlite, path_with_replaced_args, tilde_decode, tilde_encode
from datasette.utils.asgi import Request
from datasette.views.database import QueryView
from datasette.views.row import RowView
from datasette.views.table import TableView

from jeval.browse.look import LOOK, Look
from jeval.browse.shown import SHOWN, shown_columns
from jeval.browse.stores import find_stores
from jeval.store.queries import QUERIES

__all__ = ["FRAMES", "table_routes"]

FRAMES = Path(__file__).resolve().parent / "frames"

# Counting the rows of a view may take so long; a page without the number is better than one that is late.
COUNT_LIMIT_MS = 200

# Rows of a named query on its page; its JSON and CSV have more.
QUERY_ROWS = 200


class _Uncounted(Request):
    """A request that keeps Datasette from counting a view's rows its way; `rows` is where they are told instead."""

    rows: int | None = None

    @property
    def args(self) -> Any:
        return MultiParams({**dict(super().args._data), "_nocount": ["1"], "_nosuggest": ["1"]})


class StoreTable(TableView):
    """A table, a view or a named query of a store."""

    async def columns_to_select(self, table_columns: Any, pks: Any, request: Any) -> list[str]:
        """The columns of the address, else on a page those that are shown first, else all."""
        found: list[str] = await super().columns_to_select(table_columns, pks, request)
        if request.url_vars.get("format") is None and not _chosen(request):
            return shown_columns(tilde_decode(request.url_vars["table"]), found, pks)
        return found

    async def data(self, request: Any, default_labels: bool = False, _next: Any = None, _size: Any = None) -> Any:
        """As Datasette makes it, with the rows of a view counted as quickly as it can be done."""
        LOOK.set(Look(run=request.args.get("run_b") or request.args.get("run")))
        database = self.ds.get_database(route=tilde_decode(request.url_vars["database"]))
        table = tilde_decode(request.url_vars["table"])
        query = await self.ds.get_canned_query(database.name, table, request.actor)
        if query and table in QUERIES and request.url_vars.get("format") is None:
            return await self._first_rows(request, table, query)
        view = bool(await database.get_view_definition(table)) and not request.args.get("_nocount")
        asked = _Uncounted(request.scope, request.receive) if view else request
        found = await super().data(asked, default_labels, _next, _size)
        if not isinstance(found, tuple) or "filtered_table_rows_count" not in found[0]:
            return found  # somewhere else to go, or a query of somebody's own
        data, context, templates, *rest = found
        if view:
            rows = asked.rows if asked.rows is not None else await _count(database, table, data["query"])
            data["filtered_table_rows_count"] = rows
        return (data, _framed(context, request, table), (templates[0], "jeval/table.html", *templates[1:]), *rest)

    async def _first_rows(self, request: Any, name: str, query: dict[str, Any]) -> Any:
        """A named query's page: its first rows, for a page of thousands is read by nobody and slow for everybody."""
        sql = f"{query['sql']}\nLIMIT {QUERY_ROWS + 1}"
        made = QueryView(self.ds).data(
            request, sql, metadata=query, editable=False, canned_query=name, named_parameters=query.get("params")
        )
        data, context, templates, *rest = await made
        cut = len(data["rows"]) > QUERY_ROWS
        del data["rows"][QUERY_ROWS:]  # the list that the page is made from

        async def framed() -> dict[str, Any]:
            return {**await context(), "jeval_rows": QUERY_ROWS if cut else None}

        return ({**data, "truncated": cut}, framed, (templates[0], "jeval/query.html", *templates[1:]), *rest)

    async def as_csv(self, request: Any, database: str) -> Any:
        """As Datasette makes it; a stream of everything goes in the largest steps, for each step counts off those
        before it."""
        if request.args.get("_stream") and not request.args.get("_size"):
            query = f"{request.query_string}&_size=max".encode("latin-1")
            request = Request(dict(request.scope, query_string=query), request.receive)
        return await super().as_csv(request, database)


class StoreRow(RowView):
    """One row of a store's table, its columns beneath each other."""

    async def data(self, request: Any, default_labels: bool = False) -> Any:
        """As Datasette makes it."""
        LOOK.set(Look(row=True))
        data, context, templates, *rest = await super().data(request, default_labels)
        return (data, context, (templates[0], "jeval/row.html", *templates[1:]), *rest)


def table_routes(datasette: Any) -> list[tuple[str, Callable[..., Any]]]:
    """Routes for the tables of the databases there are; those that turn out to be no store stay as they are."""
    names = "|".join(re.escape(tilde_encode(database.route)) for database in datasette.databases.values())
    if not names:
        return []
    table = rf"/(?P<database>{names})/(?P<table>[^\/\.]+)(\.(?P<format>\w+))?$"
    row = rf"/(?P<database>{names})/(?P<table>[^/]+?)/(?P<pks>[^/]+?)(\.(?P<format>\w+))?$"
    return [(table, _either(StoreTable, TableView)), (row, _either(StoreRow, RowView))]


def _either(ours: Any, theirs: Any) -> Callable[..., Any]:
    async def view(request: Any, send: Any, datasette: Any) -> Any:
        route = tilde_decode(request.url_vars["database"])
        stores = [datasette.databases[name].route for name in await find_stores(datasette)]
        return await (ours if route in stores else theirs).as_view(datasette)(request, send)

    return view


def _chosen(request: Any) -> bool:
    return "_col" in request.args or request.args.get("_cols") == "all"


def _framed(context: Any, request: Any, table: str) -> Callable[[], Any]:
    """What the template is given, and which columns it shows."""

    async def framed() -> dict[str, Any]:
        given: dict[str, Any] = await context()
        hidden = ("_nocount", "_nosuggest")
        given["form_hidden_args"] = [pair for pair in given["form_hidden_args"] if pair[0] not in hidden]
        choice = None
        if table in SHOWN:
            everything = request.args.get("_cols") == "all"
            changed = {"_cols": None if everything else "all", "_col": None, "_nocol": None}
            shown, there = len(given["display_columns"]), len(given["filter_columns"])
            url = path_with_replaced_args(request, changed)
            choice = {"everything": everything, "shown": shown, "there": there, "url": url}
        return given | {"jeval_columns": choice}

    return framed


async def _count(database: Any, table: str, query: dict[str, Any]) -> int | None:
    """How many rows a view has under a page's conditions; None where it takes long to count them."""
    conditions = re.search(
        rf" from {re.escape(escape_sqlite(table))} (.*?)(order by .*?)?limit \d+( offset \d+)?$", query["sql"], re.S
    )
    if conditions is None:
        return None
    sql = f"select count(*) from {escape_sqlite(table)} {conditions[1]}"  # noqa: S608 - Datasette's own conditions
    try:
        found = await database.execute(sql, query["params"], custom_time_limit=COUNT_LIMIT_MS)
    except QueryInterrupted:
        return None
    return int(found.rows[0][0])

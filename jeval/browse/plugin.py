"""The Datasette plugin: pages, descriptions, named queries and cells for every database that is a store.

Plugin configuration, under plugins → jeval: `labels` (default false) lets reviewers write
labels; `reviewer` is the name offered to them.
"""

from typing import Any

from datasette import hookimpl

from jeval.browse.cells import cell
from jeval.browse.descriptions import database_metadata
from jeval.browse.named import named_queries
from jeval.browse.routes import ROUTES
from jeval.browse.stores import find_stores, is_store
from jeval.browse.tending import keep_tended, tend

__all__ = [
    "canned_queries",
    "extra_css_urls",
    "get_metadata",
    "menu_links",
    "register_routes",
    "render_cell",
    "startup",
]


@hookimpl
def startup(datasette: Any) -> Any:
    """Look at every database once, so that the hooks that cannot wait know the stores; make their index."""

    async def inner() -> None:
        for name in await find_stores(datasette):
            await tend(datasette.databases[name], steps=1)

    return inner


@hookimpl
def register_routes(datasette: Any) -> Any:
    return ROUTES


@hookimpl
def get_metadata(datasette: Any, key: str | None, database: str | None, table: str | None) -> dict[str, Any]:
    stores = [name for name in datasette.databases if is_store(datasette, name)]
    return {"databases": {name: database_metadata() for name in stores}} if stores else {}


@hookimpl
def canned_queries(datasette: Any, database: str, actor: Any) -> dict[str, Any]:
    return named_queries() if is_store(datasette, database) else {}


@hookimpl
def render_cell(row: Any, value: Any, column: str, table: str | None, database: str, datasette: Any) -> Any:
    if not is_store(datasette, database):
        return None
    return cell(row, value, column, table, datasette.urls.path("/-/jeval"))


@hookimpl
def extra_css_urls(database: str | None, datasette: Any) -> list[str]:
    return [datasette.urls.path("/-/jeval/assets/tables.css")] if is_store(datasette, database) else []


@hookimpl
def menu_links(datasette: Any, actor: Any, request: Any) -> list[dict[str, str]]:
    for name, database in datasette.databases.items():
        if is_store(datasette, name):
            keep_tended(database)
    return [{"href": datasette.urls.path("/-/jeval"), "label": "Runs, review, history"}]

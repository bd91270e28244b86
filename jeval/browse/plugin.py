"""The Datasette plugin: pages, descriptions, named queries and cells for every database that is a store.

Plugin configuration, under plugins → jeval: `labels` (default false) lets reviewers write
labels; `reviewer` is the name offered to them.

Datasette loads its plugins in the middle of its own import, so nothing here imports what imports its views.
"""

from typing import Any

from datasette import hookimpl
from jinja2 import ChoiceLoader, Environment, FileSystemLoader, PrefixLoader

from jeval.browse.cells import cell
from jeval.browse.descriptions import database_metadata
from jeval.browse.links import Links
from jeval.browse.look import LOOK
from jeval.browse.named import named_queries
from jeval.browse.stores import find_stores, is_store, known_stores
from jeval.browse.tending import keep_tended, tend

__all__ = [
    "canned_queries",
    "extra_css_urls",
    "extra_js_urls",
    "get_metadata",
    "menu_links",
    "prepare_jinja2_environment",
    "register_facet_classes",
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
    from jeval.browse.routes import ROUTES
    from jeval.browse.tables import table_routes

    return [*ROUTES, *table_routes(datasette)]


@hookimpl
def register_facet_classes() -> list[type]:
    from jeval.browse.together import TogetherFacet

    return [TogetherFacet]


@hookimpl
def prepare_jinja2_environment(env: Environment) -> None:
    """Our frames around Datasette's templates, under names that take the place of none."""
    from jeval.browse.tables import FRAMES

    loader = PrefixLoader({"jeval": FileSystemLoader(FRAMES)})
    env.loader = ChoiceLoader([env.loader, loader]) if env.loader else loader


@hookimpl
def get_metadata(datasette: Any, key: str | None, database: str | None, table: str | None) -> dict[str, Any]:
    stores = known_stores(datasette)
    return {"databases": {name: database_metadata(Links.of(datasette, name)) for name in stores}} if stores else {}


@hookimpl
def canned_queries(datasette: Any, database: str, actor: Any) -> dict[str, Any]:
    return named_queries() if is_store(datasette, database) else {}


@hookimpl
def render_cell(row: Any, value: Any, column: str, table: str | None, database: str, datasette: Any) -> Any:
    if not is_store(datasette, database):
        return None
    return cell(row, value, column, table, Links.of(datasette, database), LOOK.get())


@hookimpl
def extra_css_urls(database: str | None, datasette: Any) -> list[str]:
    return [datasette.urls.path("/-/jeval/assets/tables.css")] if is_store(datasette, database) else []


@hookimpl
def extra_js_urls(database: str | None, datasette: Any) -> list[str]:
    return [datasette.urls.path("/-/jeval/assets/tables.js")] if is_store(datasette, database) else []


@hookimpl
def menu_links(datasette: Any, actor: Any, request: Any) -> list[dict[str, str]]:
    stores = known_stores(datasette)
    for name in stores:
        keep_tended(datasette.databases[name])
    several = len(stores) > 1
    return [
        {
            "href": Links.of(datasette, name).page(),
            "label": f"Runs, review, history{f' of {name}' if several else ''}",
        }
        for name in stores
    ] or [{"href": datasette.urls.path("/-/jeval"), "label": "Runs, review, history"}]

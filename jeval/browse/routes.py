"""The pages under /-/jeval: each reads its address, asks the store, fills its template."""

import asyncio
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeVar
from urllib.parse import parse_qsl, quote, unquote, urlencode

from datasette import Forbidden, Response
from datasette.utils import sqlite_timelimit
from datasette.utils.asgi import AsgiStream

from jeval.browse import compare_page, history_page, review, run_list, sweep_page
from jeval.browse.carried import carry, with_store
from jeval.browse.case_page import case_page, latest_run_of
from jeval.browse.export import FORMATS, checks_of, pieces
from jeval.browse.filters import Filters
from jeval.browse.posted import refusal
from jeval.browse.rows import NotHere, find_run
from jeval.browse.run_page import run_page
from jeval.browse.screen import ASSETS, render
from jeval.browse.stores import find_stores
from jeval.browse.tending import keep_tended

__all__ = ["HEADERS", "ROUTES"]

T = TypeVar("T")

# How long one page may ask the store.
TIME_LIMIT_MS = 5_000

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; form-action 'self';"
    " base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": CSP,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class State(dict[str, str]):
    """What an address says; what it does not say is empty."""

    def __missing__(self, name: str) -> str:
        return ""


class Desk(NamedTuple):
    """What a page is given: Datasette, the request, the pairs of the query string, the store's name, and the names
    of all that the visitor may see."""

    datasette: Any
    request: Any
    args: list[tuple[str, str]]
    store: str = ""
    stores: tuple[str, ...] = ()

    def state(self, *names: str) -> dict[str, str]:
        """The last value of each of these names that the address gives."""
        return State((name, value.strip()[:500]) for name, value in self.args if name in names and value.strip())

    def whole(self, name: str) -> int:
        """A whole number from the address, 0 where there is none."""
        text = dict(self.args).get(name, "")
        return min(int(text), 1_000_000) if text.isdecimal() and len(text) < 10 else 0

    async def ask(self, question: Callable[[sqlite3.Connection], T]) -> T:
        """Ask the store within the time limit, in a thread of its own. All of the answer is of one moment, for a run
        may be writing."""

        def timed(conn: sqlite3.Connection) -> T:
            factory, conn.row_factory = conn.row_factory, None
            conn.execute("BEGIN")
            try:
                with sqlite_timelimit(conn, TIME_LIMIT_MS):
                    return question(conn)
            finally:
                conn.rollback()
                conn.row_factory = factory

        found: T = await self.datasette.databases[self.store].execute_fn(timed)
        return found

    def page(self, template: str, values: dict[str, Any], status: int = 200) -> Response:
        """The page, with what every page needs."""
        config = self.datasette.plugin_config("jeval") or {}
        shared = {
            "base": self.datasette.urls.path("/-/jeval"),
            "tables": self.datasette.urls.database(self.store) if self.store else self.datasette.urls.instance(),
            "store": self.store,
            "stores": self.stores,
            "here": self.request.path,
            "csrf": self.request.scope["csrftoken"] if config.get("labels") else str,
            "labels_on": bool(config.get("labels")),
            "query": lambda **pairs: urlencode({k: v for k, v in pairs.items() if v not in (None, "")}),
        }
        html = render(template, shared | values)
        if self.store and len(self.stores) > 1:
            html = carry(html, shared["base"], self.store)
        return Response.html(html, status=status, headers=dict(HEADERS))


def _page(handler: Callable[[Desk], Any]) -> Callable[..., Any]:
    """A view: finds the store, checks that the visitor may see it, and turns what goes wrong into words."""

    async def view(request: Any, datasette: Any) -> Any:
        args = parse_qsl(request.query_string, keep_blank_values=True, max_num_fields=500)
        known = await find_stores(datasette)
        seen = [name for name in known if await _may_see(datasette, request, name)]
        store = dict(args).get("store", "") or (seen or known or [""])[0]
        desk = Desk(datasette, request, args, store if store in seen else "", tuple(seen))
        if store not in known:
            what = f"The stores here are {', '.join(seen)}." if seen else "No database here is a store of jeval."
            return desk.page("wrong.html", {"title": "No store", "message": what}, 404)
        await datasette.ensure_permissions(request.actor, [("view-database", store), "view-instance"])
        keep_tended(datasette.databases[store])
        try:
            return await handler(desk)
        except NotHere as missing:
            return desk.page("wrong.html", {"title": "Not here", "message": str(missing)}, 404)
        except sqlite3.OperationalError as error:
            if "interrupt" not in str(error):
                raise
            words = (
                f"This took longer than {TIME_LIMIT_MS // 1000} seconds and was stopped."
                f" Narrow the filters and try again."
            )
            return desk.page("wrong.html", {"title": "Too slow", "message": words}, 503)

    return view


async def _may_see(datasette: Any, request: Any, store: str) -> bool:
    permissions = [("view-database", store), "view-instance"]
    seen, _ = await datasette.check_visibility(request.actor, permissions=permissions)
    return bool(seen)


async def _runs(desk: Desk) -> Response:
    filters = Filters.read(desk.args, run_list.ABOUT)
    return desk.page("runs.html", await desk.ask(lambda conn: run_list.run_list(conn, filters)))


async def _run(desk: Desk) -> Response:
    name = unquote(desk.request.url_vars["run"])
    found = await desk.ask(lambda conn: run_page(conn, name, Filters.read(desk.args)))
    if found["run"]["id"] != name:
        return _redirect(desk, f"/-/jeval/run/{quote(found['run']['id'], safe='')}", desk.request.query_string)
    return desk.page("run.html", found)


async def _export(desk: Desk) -> Any:
    """The run's checks as a file; read by a connection of its own, for it may take a while."""
    name, form = unquote(desk.request.url_vars["run"]), desk.request.url_vars["format"]
    conn = desk.datasette.databases[desk.store].connect()
    try:
        run, rows = await asyncio.to_thread(checks_of, conn, name, Filters.read(desk.args))
    except BaseException:
        conn.close()
        raise

    async def stream(writer: Any) -> None:
        try:
            await pieces(rows, form, writer.write)
        finally:
            conn.close()

    headers = HEADERS | {"content-disposition": f'attachment; filename="{run}-checks.{form}"'}
    return AsgiStream(stream, headers=headers, content_type=FORMATS[form])


async def _case(desk: Desk) -> Response:
    name, case_id = (unquote(desk.request.url_vars[key]) for key in ("run", "case"))
    found = await desk.ask(lambda conn: case_page(conn, name, case_id))
    if found["run"]["id"] != name:
        return _redirect(desk, f"/-/jeval/case/{quote(found['run']['id'], safe='')}/{quote(case_id, safe='')}")
    return desk.page("case.html", found)


async def _compare(desk: Desk) -> Response:
    filters = Filters.read(desk.args, compare_page.ABOUT)
    return desk.page("compare.html", await desk.ask(lambda conn: compare_page.compare_page(conn, filters)))


async def _history(desk: Desk) -> Response:
    filters = Filters.read(desk.args, history_page.ABOUT)
    return desk.page("history.html", await desk.ask(lambda conn: history_page.history_page(conn, filters)))


async def _sweep(desk: Desk) -> Response:
    sweep, filters = unquote(desk.request.url_vars["sweep"]), Filters.read(desk.args, sweep_page.ABOUT)
    return desk.page("sweep.html", await desk.ask(lambda conn: sweep_page.sweep_page(conn, sweep, filters)))


async def _review(desk: Desk) -> Response:
    config = desk.datasette.plugin_config("jeval") or {}
    if desk.request.method == "POST":
        return await _label(desk, config)
    check, filters = desk.state("check")["check"], Filters.read(desk.args, review.ABOUT, review.KNOWN)
    found = await desk.ask(lambda conn: review.queue_page(conn, check, desk.whole("skip"), filters))
    reviewer = desk.request.cookies.get("jeval_reviewer") or config.get("reviewer") or ""
    done = desk.state("done", "as", "of")
    return desk.page("review.html", found | {"reviewer": unquote(reviewer), "done": done, "keys": review.LABELS})


async def _label(desk: Desk, config: dict[str, Any]) -> Response:
    body = await desk.request.post_body()
    posted = dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=50))
    problem = refusal(desk.request, posted, bool(config.get("labels")))
    if problem:
        raise Forbidden(problem)
    case_id, rubric_id, expected = (posted.get(name, "") for name in ("case_id", "rubric_id", "expected"))
    note, reviewer = posted.get("note", "").strip(), posted.get("reviewer", "").strip()[:200]
    wrong = await desk.ask(lambda conn: review.label_problem(conn, case_id, rubric_id, expected, note))
    if wrong:
        return desk.page("wrong.html", {"title": "No label", "message": wrong}, 400)
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    database = desk.datasette.databases[desk.store]
    await database.execute_write_fn(
        lambda conn: review.write_label(
            conn,
            case_id=case_id,
            rubric_id=rubric_id,
            expected=expected,
            reviewer=reviewer or None,
            note=note or None,
            now=now,
        )
    )
    back = [(name, posted[name]) for name in ("run", "queue", "skip") if posted.get(name)]
    back += Filters.read(parse_qsl(posted.get("narrow", ""))).pairs()
    back += [("done", case_id), ("of", rubric_id), ("as", expected)]
    response = _redirect(desk, "/-/jeval/review", urlencode(back), status=303)
    response.set_cookie("jeval_reviewer", quote(reviewer), httponly=True, samesite="strict", max_age=31_536_000)
    return response


async def _find(desk: Desk) -> Response:
    """From what a table tells to the page: /-/jeval/find?run=@last to a run, ?case=ID to a case in its latest run, of
    this content where `content` is its number."""
    state = desk.state("run", "case", "content")
    if not state["case"]:
        run = await desk.ask(lambda conn: find_run(conn, state["run"] or "@last"))
        return _redirect(desk, f"/-/jeval/run/{quote(run['id'], safe='')}")
    content = int(state["content"]) if state["content"].isdecimal() and len(state["content"]) < 19 else 0
    name = await desk.ask(lambda conn: latest_run_of(conn, state["case"], content))
    return _redirect(desk, f"/-/jeval/case/{quote(name, safe='')}/{quote(state['case'], safe='')}")


def _redirect(desk: Desk, path: str, query: str = "", status: int = 302) -> Response:
    target = str(desk.datasette.urls.path(path)) + (f"?{query}" if query else "")
    if len(desk.stores) > 1:
        target = with_store(target, desk.store)
    return Response.redirect(target, status=status, headers=dict(HEADERS))


async def _asset(request: Any, datasette: Any) -> Response:
    name = request.url_vars["name"]
    kinds = {
        "style.css": "text/css; charset=utf-8",
        "tables.css": "text/css; charset=utf-8",
        "tables.js": "text/javascript; charset=utf-8",
        "keys.js": "text/javascript; charset=utf-8",
        "icon.svg": "image/svg+xml",
    }
    if name not in kinds:
        return Response.text("no such file", status=404)
    headers = HEADERS | {"cache-control": "no-cache"}
    return Response((ASSETS / name).read_text(encoding="utf-8"), content_type=kinds[name], headers=headers)


async def _missing(desk: Desk) -> Response:
    raise NotHere(
        f"There is no page {desk.request.path[:200]}. The runs, and all that leads from them, are in the list of runs."
    )


ROUTES = [
    (r"^/-/jeval/?$", _page(_runs)),
    (r"^/-/jeval/run/(?P<run>[^/]+)$", _page(_run)),
    (r"^/-/jeval/run/(?P<run>[^/]+)/checks\.(?P<format>csv|json)$", _page(_export)),
    (r"^/-/jeval/case/(?P<run>[^/]+)/(?P<case>[^/]+)$", _page(_case)),
    (r"^/-/jeval/compare$", _page(_compare)),
    (r"^/-/jeval/history$", _page(_history)),
    (r"^/-/jeval/review$", _page(_review)),
    (r"^/-/jeval/sweep/(?P<sweep>[^/]+)$", _page(_sweep)),
    (r"^/-/jeval/find$", _page(_find)),
    (r"^/-/jeval/assets/(?P<name>[^/]+)$", _asset),
    (r"^/-/jeval/.*$", _page(_missing)),
]

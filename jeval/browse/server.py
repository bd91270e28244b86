"""Datasette in this process, on a socket of this machine, over one store."""

import asyncio
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from jeval.browse.guard import Guard, inline_hashes
from jeval.browse.screen import warm
from jeval.browse.visible import finalize

__all__ = ["FIRST_PAGES", "bind", "look_around", "make_datasette", "serve"]

SETTINGS = {
    "default_allow_sql": False,
    "allow_download": False,
    "allow_csv_stream": True,
    "sql_time_limit_ms": 3_000,
    "facet_time_limit_ms": 500,
    "num_sql_threads": 3,
    "max_returned_rows": 100_000,
    "suggest_facets": False,
    "truncate_cells_html": 600,
    "default_page_size": 50,
    "default_facet_size": 6,
}


def make_datasette(store: Path, *, reviewer: str = "", labels: bool = True) -> Any:
    """Datasette over this store, with the pages and everything else of the plugin."""
    from datasette.app import Datasette
    from datasette.plugins import pm

    from jeval.browse import plugin

    if not pm.is_registered(plugin):
        pm.register(plugin, name="jeval")
    metadata = {"title": "jeval", "plugins": {"jeval": {"labels": labels, "reviewer": reviewer}}}
    made = Datasette([str(store)], metadata=metadata, settings=dict(SETTINGS))
    # Cells are made visible by the plugin; here titles, facets and whatever else Datasette prints are, too.
    made.jinja_env.finalize = lambda value: value if value is None else finalize(value)
    return made


# What people look at first; what these pages keep of finished runs makes the others quick too.
FIRST_PAGES = ("/-/jeval", "/-/jeval/run/@last", "/-/jeval/compare?a=@prev&b=@last")


async def look_around(datasette: Any) -> list[int]:
    """Ask for the first pages before anybody does; their status codes."""
    return [(await datasette.client.get(path, follow_redirects=True)).status_code for path in FIRST_PAGES]


def bind(port: int) -> socket.socket:
    """A socket bound to 127.0.0.1; port 0 takes a free one. Raises OSError where the port is taken."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(("127.0.0.1", port))
    except BaseException:
        sock.close()
        raise
    return sock


def serve(datasette: Any, sock: socket.socket, ready: Callable[[], None]) -> None:
    """Serve until Ctrl-C or SIGTERM; `ready` is called once requests are answered."""
    import datasette as package
    import uvicorn
    from datasette import handle_exception

    # Datasette prints every refused request with all its variables; who asked has been told in words.
    handle_exception.rich = None
    hashes = inline_hashes(Path(package.__file__).parent / "templates")
    threading.Thread(target=warm, daemon=True).start()
    app = Guard(datasette.app(), sock.getsockname()[1], hashes)
    config = uvicorn.Config(
        app,
        log_level="error",
        access_log=False,
        lifespan="on",
        server_header=False,
        timeout_graceful_shutdown=3,
        ws="none",
    )
    server = _server(config, ready, datasette)
    # Ours, not uvicorn's, which raises the signal again when it is done: a stop asked for is no failure.
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda *_: setattr(server, "should_exit", True))
    asyncio.run(server.serve(sockets=[sock]))


def _server(config: Any, ready: Callable[[], None], datasette: Any) -> Any:
    import uvicorn

    class Server(uvicorn.Server):
        looking: "asyncio.Task[list[int]] | None" = None

        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets=sockets)
            if self.started:
                ready()
                self.looking = asyncio.create_task(look_around(datasette))

        async def shutdown(self, sockets: Any = None) -> None:
            if self.looking is not None:
                self.looking.cancel()
            await super().shutdown(sockets=sockets)

    return Server(config)

"""jeval serve: the store in Datasette, on this machine."""

import argparse
import contextlib
import errno
import os
import sys
import webbrowser

from jeval.app.reviewer import reviewer_name
from jeval.app.store_option import add_store, existing_store
from jeval.errors import ConfigError, StoreError

__all__ = ["arguments", "main"]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_store(parser)
    parser.add_argument("--port", type=int, default=0, metavar="N", help="the port on 127.0.0.1 (default: a free one)")
    parser.add_argument("--no-browser", action="store_true", help="only print the URL")


def main(args: argparse.Namespace) -> int:
    """Serve until Ctrl-C or SIGTERM. Raises StoreError without a store, ConfigError for a port in use."""
    if not 0 <= args.port <= 65_535:
        raise ConfigError(f"--port {args.port}: is no port; give a number from 0 (any free one) to 65535")
    path, connection = existing_store(args)
    connection.close()
    if any(character in str(path) for character in "?#%"):
        raise StoreError(f"store {path}: Datasette cannot open a path with ?, # or % in it; move the file")
    from jeval.browse.server import bind, make_datasette, serve

    try:
        sock = bind(args.port)
    except OSError as error:
        reason = "is taken" if error.errno == errno.EADDRINUSE else f"cannot be used ({error.strerror})"
        raise ConfigError(f"--port {args.port}: {reason}; leave --port out to get a free one") from error
    url = f"http://127.0.0.1:{sock.getsockname()[1]}/-/jeval"

    def ready() -> None:
        print(url, flush=True)
        print(f"serving {path}; Ctrl-C ends it", file=sys.stderr, flush=True)
        if not args.no_browser:
            with contextlib.suppress(webbrowser.Error):
                webbrowser.open(url)

    with sock:
        serve(make_datasette(path.absolute(), reviewer=reviewer_name(os.environ)), sock, ready)
    return 0

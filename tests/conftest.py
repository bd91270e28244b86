"""What every test stands on: no network beyond this machine, nobody's keys, the same examples and width each time.

A test that reaches out fails, even where the code under test swallows the error. Names under `.invalid` fail
to resolve, as they would anywhere. Tests marked `live` are let through when `-m live` selects them.
"""

import ipaddress
import os
import socket
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# The default finds the same examples on every machine; `--hypothesis-profile=explore` looks for new ones.
_QUIET = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
settings.register_profile(
    "steady", derandomize=True, database=None, deadline=None, max_examples=60, suppress_health_check=_QUIET
)
settings.register_profile("explore", deadline=None, max_examples=1000, suppress_health_check=_QUIET)
settings.load_profile("steady")

# Tests in several processes are told another width than tests in one.
os.environ["COLUMNS"] = "100"


class NetworkBlocked(RuntimeError):
    """A test tried to talk to another machine."""


class Guard:
    """Watches where sockets go. `attempts` holds the refused addresses until a test's end reads them."""

    def __init__(self) -> None:
        self.active = True
        self.attempts: list[str] = []

    def allow(self, host: object) -> None:
        """Return if `host` is this machine; else note it and raise NetworkBlocked (gaierror for .invalid)."""
        if not self.active or host is None:
            return
        name = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host)
        name = name.partition("%")[0].rstrip(".").lower()
        if name.endswith(".invalid"):
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        if name in {"", "localhost"} or name.endswith(".localhost") or _is_this_machine(name):
            return
        self.attempts.append(name)
        raise NetworkBlocked(f"a test tried to reach {name}; use a server on 127.0.0.1, or mark it live")

    def hook(self, event: str, args: tuple[Any, ...]) -> None:
        """The audit hook; it can't be removed, so it asks `active` each time."""
        if not event.startswith("socket."):
            return
        if event in {"socket.connect", "socket.sendto", "socket.sendmsg"}:
            sock, address = args[0], args[1]
            if sock.family in {socket.AF_INET, socket.AF_INET6} and isinstance(address, tuple):
                self.allow(address[0])
        elif event in {"socket.getaddrinfo", "socket.gethostbyname"}:
            self.allow(args[0])

    def watch_uvloop(self) -> None:
        """uvloop resolves and connects in C, where no audit hook sees it: check before it starts."""
        try:
            import uvloop
        except ImportError:
            return
        base = uvloop.Loop.__mro__[1]

        async def getaddrinfo(loop: Any, host: object, *args: Any, **kwargs: Any) -> Any:
            self.allow(host)
            return await base.getaddrinfo(loop, host, *args, **kwargs)

        async def create_connection(loop: Any, factory: Any, host: object = None, *args: Any, **kwargs: Any) -> Any:
            self.allow(host)
            return await base.create_connection(loop, factory, host, *args, **kwargs)

        uvloop.Loop.getaddrinfo = getaddrinfo
        uvloop.Loop.create_connection = create_connection


def _is_this_machine(name: str) -> bool:
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


guard = Guard()


def pytest_configure(config: pytest.Config) -> None:
    wanted = config.getoption("markexpr", "") or ""
    guard.active = "live" not in wanted.replace("not live", "")
    if guard.active:
        # A key or a store of whoever runs the tests must not change what they do, nor be used up by them.
        for name in list(os.environ):
            if name.endswith("_API_KEY") or name.startswith("JEVAL_"):
                del os.environ[name]
    sys.addaudithook(guard.hook)
    guard.watch_uvloop()


@pytest.fixture(autouse=True)
def _no_network(request: pytest.FixtureRequest) -> Iterator[None]:
    guard.attempts.clear()
    yield
    attempts, guard.attempts = guard.attempts, []
    if attempts:
        pytest.fail(f"tried to reach {', '.join(attempts)}; use a server on 127.0.0.1, or mark the test live")


@pytest.fixture
def network_guard() -> Guard:
    """The guard itself, for the tests that prove it works."""
    return guard

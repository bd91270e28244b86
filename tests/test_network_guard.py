"""The guard in conftest.py: a test cannot leave this machine unnoticed."""

import asyncio
import socket
from collections.abc import Callable

import pytest

uvloop = pytest.importorskip("uvloop")

# An address set aside for documentation (RFC 5737): nobody answers there.
ELSEWHERE = "203.0.113.7"

on_both_loops = pytest.mark.parametrize(
    "new_loop", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"]
)


def test_a_connection_to_another_machine_is_refused_and_noted(network_guard):
    with socket.socket() as sock, pytest.raises(RuntimeError, match=r"tried to reach 203\.0\.113\.7"):
        sock.connect((ELSEWHERE, 443))
    assert network_guard.attempts == [ELSEWHERE]
    network_guard.attempts.clear()


def test_a_datagram_to_another_machine_is_refused(network_guard):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock, pytest.raises(RuntimeError):
        sock.sendto(b"?", (ELSEWHERE, 53))
    network_guard.attempts.clear()


def test_a_name_is_not_even_looked_up(network_guard):
    with pytest.raises(RuntimeError, match=r"example\.com"):
        socket.getaddrinfo("example.com", 443)
    network_guard.attempts.clear()


def test_an_invalid_name_fails_to_resolve_as_it_would_anywhere(network_guard):
    with pytest.raises(socket.gaierror):
        socket.getaddrinfo("nowhere.invalid", 443)
    assert network_guard.attempts == []


@pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def test_event_loops_are_watched_too(network_guard, new_loop: Callable[[], asyncio.AbstractEventLoop]):
    async def reach() -> None:
        loop = asyncio.get_running_loop()
        with pytest.raises(RuntimeError):
            await loop.getaddrinfo("example.com", 443)
        with pytest.raises(RuntimeError):
            await loop.create_connection(asyncio.Protocol, ELSEWHERE, 443)

    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(reach())
    assert len(network_guard.attempts) == 2
    network_guard.attempts.clear()


@pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def test_servers_on_this_machine_are_reached(new_loop: Callable[[], asyncio.AbstractEventLoop]):
    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"hello")
        await writer.drain()
        writer.close()

    async def reach() -> bytes:
        async with await asyncio.start_server(greet, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            reader, writer = await asyncio.open_connection("localhost", port, family=socket.AF_INET)
            answer = await reader.read()
            writer.close()
            await writer.wait_closed()
            return answer

    with asyncio.Runner(loop_factory=new_loop) as runner:
        assert runner.run(reach()) == b"hello"

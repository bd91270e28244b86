"""transport.py: one exchange over real sockets, and everything that can go wrong with it."""

import asyncio
import gc
import gzip
import json
import shutil
import ssl
import subprocess
import warnings

import aiohttp
import httpx
import pytest

from jeval.errors import ConfigError
from jeval.judges.faults import TRANSIENT, AttemptFailed
from jeval.judges.transport import LARGEST_REPLY, exchange, failure, new_transport, proxy_for
from tests.servers import answer, answers, cut_off, drip, drop, hang, head, raw, reply, reset, serving

BODY = b'{"model":"m","state":{},"questions":{"a":{"type":"noul","instructions":"Is it?"}}}'
NO_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def _no_proxy_of_this_machine(monkeypatch):
    for name in NO_PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


async def send(url, transport=None, headers=None, limit=5.0):
    """One exchange; closes what it opened."""
    own = transport is None
    transport = transport or new_transport(url, 4)
    request = httpx.Request("POST", url, headers=headers or {"authorization": "Bearer k"}, content=BODY)
    try:
        async with asyncio.timeout(limit):
            return await exchange(transport, request)
    finally:
        if own:
            await transport.aclose()


def meet(*acts, **more):
    """What an exchange with a server that acts like this brings, and what the server saw."""

    async def main():
        async with serving(*acts) as server:
            return await send(f"{server.url}/v1/systemone", **more), server

    return asyncio.run(main())


def fail(*acts, **more):
    with pytest.raises(AttemptFailed) as caught:
        meet(*acts, **more)
    return caught.value


# Replies


def test_a_reply_comes_whole_with_its_status_and_headers():
    received, server = meet(answer)
    assert received.status == 200
    assert received.headers["x-typesafe-request-id"] == "req_1"
    assert json.loads(received.content) == answers(BODY)
    assert server.bodies == [BODY]


def test_a_refusal_is_a_reply_too():
    received, _ = meet(reply(429, {"detail": "slow down"}, {"retry-after": "1"}))
    assert (received.status, received.headers["retry-after"]) == (429, "1")


def test_a_reply_of_unknown_length_is_read_to_its_end():
    received, _ = meet(raw(b"HTTP/1.1 200 OK\r\n\r\n{}"))
    assert received.content == b"{}"


def test_a_reply_in_chunks_is_put_together():
    received, _ = meet(raw(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n"))
    assert received.content == b"{}"


def test_a_packed_reply_is_unpacked_though_none_was_asked_for():
    received, _ = meet(reply(200, gzip.compress(b'{"a":1}'), {"content-encoding": "gzip"}))
    assert received.content == b'{"a":1}'


@pytest.mark.parametrize(
    ("headers", "content"),
    [
        ({"content-encoding": "br"}, b"x"),
        ({"content-encoding": "gzip"}, b"not packed at all"),
        ({"content-encoding": "gzip"}, gzip.compress(b" " * (LARGEST_REPLY + 1))),
        ({}, b" " * (LARGEST_REPLY + 1)),
    ],
    ids=["an unknown packing", "not packed", "small but huge unpacked", "huge"],
)
def test_a_reply_of_an_impossible_size_or_packing_is_malformed(headers, content):
    assert fail(reply(200, content, headers)).kind == "malformed"


def test_a_redirect_is_not_followed():
    received, server = meet(reply(307, b"", {"location": "/v1/elsewhere"}))
    assert received.status == 307 and len(server.heads) == 1


def test_cookies_are_not_kept():
    async def main():
        async with serving(reply(200, {}, {"set-cookie": "session=1; path=/"})) as server:
            transport = new_transport(server.url, 1)
            for _ in range(2):
                await send(server.url, transport)
            await transport.aclose()
            return server

    server = asyncio.run(main())
    assert len(server.heads) == 2 and not any("cookie" in head.lower() for head in server.heads)


def test_a_connection_is_used_again():
    async def main():
        async with serving(answer) as server:
            transport = new_transport(server.url, 4)
            for _ in range(5):
                await send(server.url, transport)
            await transport.aclose()
            return server.connections

    assert asyncio.run(main()) == 1


def test_there_are_no_more_connections_than_allowed():
    async def main():
        async with serving(answer) as server:
            transport = new_transport(server.url, 3)
            await asyncio.gather(*(send(server.url, transport) for _ in range(20)))
            await transport.aclose()
            return server.connections

    assert asyncio.run(main()) == 3


# What goes wrong


@pytest.mark.parametrize("act", [drop, reset, cut_off], ids=lambda act: act.__name__)
def test_a_broken_connection_may_be_tried_again(act):
    failure = fail(act)
    assert failure.kind == "connection" and failure.transient


def test_what_is_not_http_is_malformed():
    assert fail(raw(b"SSH-2.0-OpenSSH_9.6\r\n")).kind == "malformed"


def test_a_cut_off_head_is_a_broken_connection():
    assert fail(raw(head(200, 10)[:20])).kind in {"connection", "malformed"}


@pytest.mark.parametrize("act", [hang, drip], ids=lambda act: act.__name__)
def test_a_time_limit_ends_a_server_that_does_not(act):
    async def main():
        async with serving(act) as server:
            transport = new_transport(server.url, 1)
            with pytest.raises(TimeoutError):
                await send(server.url, transport, limit=0.2)
            for _ in range(100):
                if not server.open:
                    break
                await asyncio.sleep(0.02)
            left = server.open
            await transport.aclose()
            return left

    assert asyncio.run(main()) == 0  # the connection was closed and not kept for the next request


def test_a_port_where_nobody_listens_says_so():
    async def main():
        async with serving(answer) as server:
            url = server.url
        await send(url)

    with pytest.raises(AttemptFailed, match=r"cannot connect \(.*refused.*\)") as caught:
        asyncio.run(main())
    assert caught.value.kind == "connection" and caught.value.transient


def test_a_name_that_does_not_resolve_says_so():
    with pytest.raises(AttemptFailed, match="name cannot be resolved") as caught:
        asyncio.run(send("http://judge.invalid/v1/systemone"))
    assert caught.value.kind == "connection"


def test_a_server_without_tls_is_told_from_one_with():
    async def refuse(_, writer):
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async def main():
        async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
            await send(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}")

    with pytest.raises(AttemptFailed, match="does the server speak https"):
        asyncio.run(main())


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate for 127.0.0.1 that nobody has reason to trust: (certificate file, key file)."""
    if not shutil.which("openssl"):
        pytest.skip("openssl is not installed")
    folder = tmp_path_factory.mktemp("tls")
    cert, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        [
            *("openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1".split()),
            *("-addext subjectAltName=IP:127.0.0.1 -keyout".split()),
            key,
            "-out",
            cert,
        ],
        check=True,
        capture_output=True,
    )
    return cert, key


async def send_by_tls(certificate):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    async with serving(answer, ssl=context) as server:
        return await send(server.url)


def test_a_certificate_nobody_vouches_for_is_refused_for_good(certificate):
    with pytest.raises(AttemptFailed, match="SSL_CERT_FILE") as caught:
        asyncio.run(send_by_tls(certificate))
    assert caught.value.kind == "tls" and caught.value.refused


def test_ones_own_authority_is_trusted_by_ssl_cert_file(certificate, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
    assert asyncio.run(send_by_tls(certificate)).status == 200


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_an_authority_that_cannot_be_read_is_named_by_its_variable(tmp_path, monkeypatch, content):
    path = tmp_path / "ca.pem"
    if content:
        path.write_text(content)
    monkeypatch.setenv("SSL_CERT_FILE", str(path))
    with pytest.raises(ConfigError, match="SSL_CERT_FILE"):
        new_transport("https://judge.example.com", 4)


def subclasses(cls):
    return {cls} | {deeper for sub in cls.__subclasses__() for deeper in subclasses(sub)}


@pytest.mark.parametrize(
    "cls",
    sorted(
        (subclasses(aiohttp.ClientError) | subclasses(httpx.HTTPError) | {OSError, TimeoutError})
        - subclasses(aiohttp.ClientHttpProxyError),  # proven below, with its status
        key=str,
    ),
    ids=lambda cls: cls.__name__,
)
def test_every_exception_of_the_libraries_has_a_meaning(cls):
    meaning = failure(cls.__new__(cls))
    assert meaning.kind in TRANSIENT | {"tls", "proxy"}
    assert meaning.message and "\n" not in meaning.message


@pytest.mark.parametrize(
    ("cause", "kind"),
    [
        (aiohttp.ServerDisconnectedError(), "connection"),
        (aiohttp.ClientOSError(104, "reset"), "connection"),
        (aiohttp.ClientPayloadError("cut"), "connection"),
        (aiohttp.ConnectionTimeoutError(), "timeout"),
        (aiohttp.SocketTimeoutError(), "timeout"),
    ],
)
def test_the_cause_counts_and_not_what_the_transport_made_of_it(cause, kind):
    outer = httpx.ConnectTimeout("misleading")
    outer.__cause__ = cause
    assert failure(outer).kind == kind


# Proxies


def test_no_proxy_is_used_where_none_is_named():
    assert proxy_for("https://judge.example.com") is None


def test_the_environments_proxy_is_used():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HTTPS_PROXY", "http://user:secret@proxy.example.com:3128")
        proxy = proxy_for("https://judge.example.com/v1/systemone")
        assert str(proxy.url) == "http://proxy.example.com:3128" and proxy.auth == ("user", "secret")
        assert proxy_for("http://judge.example.com") is None
        patch.setenv("ALL_PROXY", "proxy.example.com:8080")
        assert str(proxy_for("http://judge.example.com").url) == "http://proxy.example.com:8080"


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost:8000", "[::1]:8000"])
def test_this_machine_is_not_reached_by_a_proxy(host, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.example.com:3128")
    assert proxy_for(f"http://{host}/v1/systemone") is None


def test_hosts_in_no_proxy_are_reached_directly(monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example.com:3128")
    monkeypatch.setenv("NO_PROXY", ".example.com")
    assert proxy_for("https://judge.example.com") is None
    assert proxy_for("https://judge.example.org") is not None


@pytest.mark.parametrize("address", ["socks5h://proxy:1080", "ftp://proxy", "http://[::1"])
def test_a_proxy_of_no_use_is_refused_by_its_variable(address, monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", address)
    with pytest.raises(ConfigError, match=r"HTTPS_PROXY, or name judge\.example\.com in NO_PROXY"):
        new_transport("https://judge.example.com", 4)


def test_a_request_goes_through_the_proxy(monkeypatch):
    async def main():
        async with serving(answer) as proxy:
            monkeypatch.setenv("HTTP_PROXY", proxy.url)
            received = await send("http://judge.example.com/v1/systemone")
            return received.status, proxy.heads[0].splitlines()[0]

    assert asyncio.run(main()) == (200, "POST http://judge.example.com/v1/systemone HTTP/1.1")


def test_a_proxy_that_is_not_there_says_so(monkeypatch):
    async def main():
        async with serving(answer) as proxy:
            monkeypatch.setenv("HTTP_PROXY", proxy.url)
        await send("http://judge.example.com/v1/systemone")

    with pytest.raises(AttemptFailed, match="proxy cannot be reached"):
        asyncio.run(main())


def test_a_proxy_that_wants_a_password_is_a_refusal(monkeypatch):
    async def main():
        async with serving(reply(407, b"")) as proxy:
            monkeypatch.setenv("HTTPS_PROXY", proxy.url)
            await send("https://judge.example.com/v1/systemone")

    with pytest.raises(AttemptFailed, match="407") as caught:
        asyncio.run(main())
    assert caught.value.kind == "proxy" and caught.value.refused


# Tidiness


def test_nothing_is_left_open():
    async def main():
        async with serving(answer, hang, answer) as server:
            transport = new_transport(server.url, 4)
            await send(server.url, transport)
            task = asyncio.ensure_future(send(server.url, transport))
            await asyncio.sleep(0.05)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await transport.aclose()
            for _ in range(100):
                if not server.open:
                    break
                await asyncio.sleep(0.02)
            return server.open, [t for t in asyncio.all_tasks() if "Connector" in repr(t)]

    gc.collect()  # what other tests left is not to be blamed on this one
    with warnings.catch_warnings():
        warnings.simplefilter("error", ResourceWarning)
        assert asyncio.run(main()) == (0, [])

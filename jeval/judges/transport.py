"""One HTTP exchange through httpx, and what can go wrong with it.

httpx's own connection pool costs more CPU at 64 connections than all else a case takes, so the transport
under it is aiohttp's. It is used without `httpx.AsyncClient`, whose redirects, cookies, authentication and
logging are what a request with a key must not have. Any `httpx.AsyncBaseTransport` will do.

Certificates: SSL_CERT_FILE and SSL_CERT_DIR are respected. Proxies: neither httpx nor aiohttp looks at the
environment in this combination, so `proxy_for` does, once: HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY as
Python's urllib reads them (the system's settings on macOS and Windows). No proxy is used for this machine.
"""

import os
import ssl
from collections.abc import AsyncIterable
from typing import NamedTuple
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
from httpx_aiohttp import AiohttpTransport

from jeval.errors import ConfigError
from jeval.judges.address import is_loopback
from jeval.judges.faults import AttemptFailed
from jeval.judges.lean_httpx import httpx

__all__ = ["LARGEST_REPLY", "Received", "exchange", "new_transport", "proxy_for"]

LARGEST_REPLY = 16 * 2**20
"""Bytes of a reply, unpacked: answers take a few thousand, so more is something else."""

_PACKED = {"identity", "gzip", "deflate"}
_KEEP_ALIVE_S = 30.0


class Received(NamedTuple):
    """A reply, whole."""

    status: int
    headers: httpx.Headers
    content: bytes


def new_transport(url: str, connections: int) -> AiohttpTransport:
    """A transport for the running event loop with at most so many connections. Raises ConfigError."""
    proxy = proxy_for(url)
    # Loading the certificate authorities takes 30 ms that plain HTTP does not need.
    plain = url.startswith("http:") and proxy is None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else _authorities()

    def session() -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(limit=connections, ssl=context, keepalive_timeout=_KEEP_ALIVE_S)
        return aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar(), trust_env=False)

    return AiohttpTransport(verify=context, proxy=proxy, client=session)


def _authorities() -> ssl.SSLContext:
    try:
        return httpx.create_ssl_context(trust_env=True)
    except OSError as error:  # ssl.SSLError is one too
        raise ConfigError(
            "the certificates named by SSL_CERT_FILE or SSL_CERT_DIR cannot be read "
            f"({error.strerror or error}); correct or unset the variable"
        ) from None


def proxy_for(url: str) -> httpx.Proxy | None:
    """The proxy the environment names for this address, or None. Raises ConfigError for one of no use."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if is_loopback(host) or proxy_bypass(host if parts.port is None else f"{host}:{parts.port}"):
        return None
    proxies = getproxies()
    address = proxies.get(parts.scheme) or proxies.get("all")
    if not address:
        return None
    try:
        proxy = httpx.Proxy(address if "://" in address else f"http://{address}")
        if proxy.url.scheme not in {"http", "https"}:
            raise ValueError
        return proxy
    except (ValueError, httpx.InvalidURL):
        raise ConfigError(
            f"the proxy for {parts.scheme} in the environment is not an http or https address; correct "
            f"{parts.scheme.upper()}_PROXY, or name {host} in NO_PROXY"
        ) from None


async def exchange(transport: httpx.AsyncBaseTransport, request: httpx.Request) -> Received:
    """Send a request and read its reply to the end. Sets no time limit and follows no redirect.

    Raises AttemptFailed; a cancelled exchange closes its connection.
    """
    try:
        response = await transport.handle_async_request(request)
        try:
            return Received(response.status_code, response.headers, await _read(response))
        finally:
            await response.aclose()
    except (httpx.HTTPError, httpx.InvalidURL, aiohttp.ClientError, OSError) as error:
        raise failure(error) from None


async def _read(response: httpx.Response) -> bytes:
    packed = response.headers.get("content-encoding", "identity").lower()
    if packed not in _PACKED:
        raise AttemptFailed("malformed", f"the reply is packed as {packed!r:.20}, which was not asked for")
    source: AsyncIterable[bytes] = response.aiter_bytes()  # unpacks bit by bit, so that size is noticed in time
    if packed == "identity" and isinstance(response.stream, httpx.AsyncByteStream):
        source = response.stream
    chunks, size = [], 0
    async for chunk in source:
        chunks.append(chunk)
        size += len(chunk)
        if size > LARGEST_REPLY:
            raise AttemptFailed("malformed", f"the reply is larger than {LARGEST_REPLY >> 20} MB")
    return b"".join(chunks)


# What exceptions mean, the first that fits: types, kind, message, whether every request would fare alike.
_MEANINGS: tuple[tuple[tuple[type[BaseException], ...], str, str, bool], ...] = (
    (
        (aiohttp.ClientConnectorCertificateError, ssl.SSLCertVerificationError),
        "tls",
        "the server's certificate is not trusted; SSL_CERT_FILE may name your own authority's",
        True,
    ),
    ((aiohttp.ClientProxyConnectionError,), "connection", "the proxy cannot be reached", False),
    ((aiohttp.ClientConnectorDNSError,), "connection", "the host's name cannot be resolved", False),
    (
        (aiohttp.ClientSSLError, ssl.SSLError),
        "connection",
        "no secure connection; does the server speak https?",
        False,
    ),
    ((aiohttp.ClientConnectorError, httpx.ConnectError), "connection", "cannot connect", False),
    ((TimeoutError, httpx.TimeoutException), "timeout", "no answer in time", False),
    (
        (aiohttp.ClientPayloadError, httpx.RemoteProtocolError),
        "connection",
        "the connection was closed in the middle of an answer",
        False,
    ),
    (
        (aiohttp.ClientConnectionError, httpx.NetworkError, ConnectionError),
        "connection",
        "the connection was closed before an answer",
        False,
    ),
    ((aiohttp.ClientResponseError,), "malformed", "the reply is not HTTP", False),
    ((httpx.DecodingError,), "malformed", "the reply cannot be unpacked", False),
)


def failure(error: Exception) -> AttemptFailed:
    """What an exception of the transport means.

    The transport maps aiohttp's exceptions to httpx's too coarsely (a refused connection becomes a timeout),
    so the cause is what counts.
    """
    cause = error.__cause__ if isinstance(error.__cause__, aiohttp.ClientError | OSError) else error
    if isinstance(cause, aiohttp.ClientHttpProxyError):
        return AttemptFailed("proxy", f"the proxy answered {cause.status}", refused=cause.status == 407)
    for types, kind, message, refused in _MEANINGS:
        if isinstance(cause, types):
            number = getattr(cause, "errno", None) if message == "cannot connect" else None
            return AttemptFailed(kind, f"{message} ({os.strerror(number)})" if number else message, refused=refused)
    return AttemptFailed("connection", f"the exchange failed ({type(cause).__name__})")

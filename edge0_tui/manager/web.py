"""GET over HTTP/1.1 with the standard library: redirects, proxies, byte ranges, a token that stays with its host.

huggingface_hub's own client moves less than half of the bytes a second on one core; here bytes go from the socket
to the file in large pieces.
"""

from __future__ import annotations

import contextlib
import http.client
import socket
import ssl
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import SplitResult, unquote, urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

from edge0_tui.manager.errors import HubError

MAX_REDIRECTS = 8
_REDIRECTS = (301, 302, 303, 307, 308)
_PORTS = {"http": 80, "https": 443}


class TransportError(OSError):
    """The connection failed, ended early or fell silent. Trying again may help."""


@dataclass(frozen=True)
class Reply:
    """An answer whose body has not been read. `linked_etag`: the content's hash, if the hub states it."""

    status: int
    headers: http.client.HTTPMessage
    host: str
    linked_etag: str
    _response: http.client.HTTPResponse
    _connection: http.client.HTTPConnection
    _socket: socket.socket

    def read_into(self, buffer: memoryview) -> int:
        """Put some bytes there as soon as there are any; 0 at the end. Raises `TransportError`."""
        response = self._response
        try:
            if response.chunked or response.length is None or response.fp is None:
                data = response.read1(len(buffer))
                buffer[: len(data)] = data
                return len(data)
            # Past http.client, which would allocate anew for each piece; it reads its own count no further.
            count = int(response.fp.readinto1(buffer[: response.length]))
            response.length -= count
            return count
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise TransportError(_said(error)) from None

    def abort(self) -> None:
        """End the connection while another thread waits for bytes; that thread's `read` ends at once."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._response.close()
        self._connection.close()


def get(url: str, *, token: str = "", headers: Mapping[str, str] | None = None, timeout: float) -> Reply:
    """The answer behind all redirects. `timeout` is the longest silence accepted, in seconds.

    The token goes to the host of `url` and to no other. Raises `TransportError`, and `HubError` for an address that
    is not followed.
    """
    origin, linked = _origin(urlsplit(url)), ""
    for _ in range(MAX_REDIRECTS + 1):
        place = urlsplit(url)
        sent = {"User-Agent": "edge0-tui", "Accept-Encoding": "identity", **(headers or {})}
        if token and _origin(place) == origin:
            sent["Authorization"] = f"Bearer {token}"
        reply = _once(place, sent, timeout, linked)
        linked = reply.linked_etag
        location = reply.headers.get("Location", "")
        if reply.status not in _REDIRECTS or not location:
            return reply
        reply.close()
        url = redirected(url, location)
    raise HubError(f"{urlsplit(url).hostname} redirects more than {MAX_REDIRECTS} times.")


def redirected(url: str, location: str) -> str:
    """Where a redirect leads. Raises `HubError` if it leads from an encrypted address to one that is not."""
    target = urljoin(url, location)
    if url.startswith("https:") and not target.startswith("https:"):
        raise HubError(f"{host(url)} redirects to an unencrypted address, which is not followed.")
    return target


def _once(place: SplitResult, headers: Mapping[str, str], timeout: float, linked: str) -> Reply:
    connection, target, login = _connect(place, timeout)
    try:
        connection.request("GET", target, headers={**headers, **login})
        raw = connection.sock  # handed over to the answer by the next call
        response = connection.getresponse()
    except (OSError, http.client.HTTPException, ValueError) as error:
        connection.close()
        raise TransportError(f"{place.netloc}: {_said(error)}") from None
    linked = linked or response.headers.get("X-Linked-ETag", "").strip('"')
    return Reply(response.status, response.headers, place.netloc, linked, response, connection, raw)


def _connect(place: SplitResult, timeout: float) -> tuple[http.client.HTTPConnection, str, dict[str, str]]:
    """A connection to the host or its proxy, the request's target, and headers for the proxy alone."""
    if place.scheme not in _PORTS or not place.hostname:
        raise HubError(f"{place.scheme}://{place.netloc} is no address this program can fetch from.")
    try:
        port = place.port or _PORTS[place.scheme]
    except ValueError:
        raise HubError(f"{place.netloc} has no usable port.") from None
    target = (place.path or "/") + (f"?{place.query}" if place.query else "")
    proxy = "" if proxy_bypass(place.hostname) else getproxies().get(place.scheme, "")
    if not proxy:
        return _to(place.scheme, place.hostname, port, timeout), target, {}
    through = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    if through.scheme != "http" or not through.hostname:
        raise HubError(f"The proxy {through.scheme}://{through.hostname} is of a kind that is not supported.")
    # Connected to the proxy; for https the tunnel is made first and TLS begins inside it.
    connection = _to(place.scheme, through.hostname, through.port or _PORTS["http"], timeout)
    if place.scheme == "http":
        return connection, place._replace(fragment="").geturl(), proxy_login(through)
    connection.set_tunnel(place.hostname, port, proxy_login(through))
    return connection, target, {}


def _to(scheme: str, host: str, port: int, timeout: float) -> http.client.HTTPConnection:
    if scheme == "https":
        return http.client.HTTPSConnection(host, port, timeout=timeout, context=_context())
    return http.client.HTTPConnection(host, port, timeout=timeout)


def _context() -> ssl.SSLContext:
    """The system's certificates, through truststore where it is installed, as huggingface_hub does."""
    try:
        import truststore
    except ImportError:
        return ssl.create_default_context()
    return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def proxy_login(proxy: SplitResult) -> dict[str, str]:
    """The header for a proxy whose address holds a name and a password."""
    if not proxy.username:
        return {}
    pair = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": f"Basic {b64encode(pair.encode()).decode()}"}


def _origin(place: SplitResult) -> tuple[str, str, int]:
    return place.scheme, (place.hostname or "").lower(), place.port or _PORTS.get(place.scheme, 0)


def _said(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return str(error)[:200] or type(error).__name__


def host(url: str) -> str:
    """The host and port an address names."""
    return urlsplit(url).netloc

"""Redirects, proxies and addresses that are not followed."""

from __future__ import annotations

import contextlib
from base64 import b64encode
from urllib.parse import urlsplit

import pytest

from edge0_tui.manager import web
from edge0_tui.manager.errors import HubError
from edge0_tui.manager.web import TransportError
from tests.edge0_tui.manager.conftest import FIRST, REPO
from tests.edge0_tui.manager.fake_hub import FakeHub


def body(url: str, **headers: str) -> bytes:
    with contextlib.closing(web.get(url, token="secret", headers=headers, timeout=5)) as reply:
        buffer = memoryview(bytearray(1 << 20))
        data = b""
        while count := reply.read_into(buffer):
            data += buffer[:count]
        return data


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)


def test_a_redirect_is_followed_with_the_range_and_without_the_token(hub: FakeHub) -> None:
    url = f"{hub.endpoint}/{REPO}/resolve/main/{FIRST}"
    assert body(url, Range="bytes=5-9") == hub.repos[REPO].files[FIRST][5:10]
    (_, _, first), (_, _, second) = hub.asked
    assert first["authorization"] == "Bearer secret" and "authorization" not in second
    assert first["range"] == second["range"] == "bytes=5-9"


def test_redirects_that_do_not_end_or_leave_http(hub: FakeHub) -> None:
    hub.statuses = [(302, {"Location": "/again"})] * 20
    with pytest.raises(HubError, match="redirects more than"):
        body(f"{hub.endpoint}/x")
    hub.statuses = [(302, {"Location": "file:///etc/passwd"})]
    with pytest.raises(HubError, match="no address this program can fetch from"):
        body(f"{hub.endpoint}/x")
    with pytest.raises(HubError, match="unencrypted"):
        web.redirected("https://hub.example/file", "http://cdn.example/file")
    assert web.redirected("https://hub.example/a/b", "../c?d=e") == "https://hub.example/c?d=e"


def test_the_proxy_of_the_environment_is_used_with_its_password(
    hub: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", f"http://me:p%40ss@{urlsplit(hub.endpoint).netloc}")
    body("http://hub.example/some/file?x=1")
    ((_, path, headers),) = hub.asked
    assert path == "http://hub.example/some/file?x=1" and headers["host"] == "hub.example"
    assert headers["proxy-authorization"] == "Basic " + b64encode(b"me:p@ss").decode()
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    assert body(f"{hub.endpoint}/{REPO}/resolve/main/config.json") == hub.repos[REPO].files["config.json"]
    monkeypatch.setenv("http_proxy", "socks5://127.0.0.1:1")
    with pytest.raises(HubError, match="kind that is not supported"):
        body("http://hub.example/")


def test_nobody_there_is_something_to_try_again() -> None:
    with pytest.raises(TransportError, match="refused"):
        body("http://127.0.0.1:9/")

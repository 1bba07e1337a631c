"""The application for a browser: who may reach it, how it is started, and, with the extra, that it answers."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path

import pytest

from edge0_tui.cli import main
from edge0_tui.commands import serve
from edge0_tui.commands.parser import build_parser
from edge0_tui.serving.access import address, refusal
from edge0_tui.serving.page import HEADERS, page

EXTRA = all(importlib.util.find_spec(name) for name in serve.NEEDED)


@pytest.mark.parametrize(
    ("host", "origin", "listens_on", "said"),
    [
        ("127.0.0.1:8000", None, "127.0.0.1", ""),
        ("localhost:8000", "http://localhost:8000", "127.0.0.1", ""),
        ("[::1]:8000", "http://[::1]:8000", "::1", ""),
        ("box.lan:8000", "http://box.lan:8000", "0.0.0.0", ""),
        ("rebound.example:8000", None, "127.0.0.1", "rebound.example is not this server's."),
        ("", None, "127.0.0.1", "This name is not this server's."),
        ("127.0.0.1:8000", "https://evil.example", "127.0.0.1", "Another site's page"),
        ("127.0.0.1:8000", "http://127.0.0.1:8001", "127.0.0.1", "Another site's page"),
        ("127.0.0.1:8000", "null", "127.0.0.1", "Another site's page"),
        ("box.lan:8000", "http://evil.example", "0.0.0.0", "Another site's page"),
    ],
)
def test_who_is_answered(host: str, origin: str | None, listens_on: str, said: str) -> None:
    found = refusal(host, origin, listens_on)
    assert found.startswith(said) and bool(found) == bool(said)


def test_only_this_machine_unless_asked_and_the_address_has_the_secret() -> None:
    assert build_parser().parse_args(["serve"]).host == "127.0.0.1"
    assert address("127.0.0.1", 8000, "abc") == "http://127.0.0.1:8000/abc/"
    assert address("0.0.0.0", 80, "abc") == "http://127.0.0.1:80/abc/"
    assert address("::1", 8000, "abc") == "http://[::1]:8000/abc/"


def test_the_options_of_the_application_go_on_to_it() -> None:
    words = ["serve", "-m", "nano", "--memory", "3GiB", "--context", "4096", "--continue"]
    command = serve.command(build_parser().parse_args(words))
    assert command[:4] == [sys.executable, "-P", "-m", "edge0_tui.cli"]
    again = build_parser().parse_args(command[4:])
    assert (again.model, again.memory, again.context, again.continue_last) == ("nano", 3 << 30, 4096, True)


def test_the_page_has_nothing_from_elsewhere() -> None:
    text = page('ws://127.0.0.1:8000/"><script>/ws')
    assert re.findall(r'(?:src|href)="(?!/static/|data:,)', text) == [] and "<script>/" not in text
    assert "url(" not in text.replace('url("/static/', "") and "@import" not in text
    assert HEADERS["Content-Security-Policy"].startswith("default-src 'self'")


def test_without_the_extra_it_is_said_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(serve, "find_spec", lambda name: None)
    assert main(["serve"]) == 2
    assert "pip install 'edge0-tui[serve]'" in capsys.readouterr().err


@pytest.mark.skipif(not EXTRA, reason="the extra `serve` is not installed")
async def test_a_browser_sees_the_application_and_nobody_else_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import aiohttp
    from aiohttp.test_utils import TestClient, TestServer

    from edge0_tui.serving.server import Server

    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "tour-seen").touch()
    monkeypatch.setenv("EDGE0_HOME", str(tmp_path))
    options = build_parser().parse_args(["serve", "-m", "nano"])
    server = Server(serve.command(options), "127.0.0.1", "secret")
    async with TestClient(TestServer(server.application(), host="127.0.0.1")) as client:
        assert (await client.get("/")).status == 404
        assert (await client.get("/secret/", headers={"Origin": "https://evil.example"})).status == 403
        assert (await client.get("/secret/", headers={"Host": "rebound.example"})).status == 403
        shown = await client.get("/secret/")
        assert "/secret/ws" in await shown.text() and "no-referrer" in shown.headers["Referrer-Policy"]
        assert (await client.get("/static/js/textual.js")).status == 200
        async with client.ws_connect("/secret/ws?width=100&height=30") as socket:
            wanted, seen = "Write a message · /", b""
            while wanted.encode() not in seen:
                message = await socket.receive(timeout=60)
                assert message.type is aiohttp.WSMsgType.BINARY, f"the application ended: {message}"
                seen += message.data
            for nonsense in ("[]", '{"a": 1}', '["resize", {"width": "wide"}]', "no JSON"):
                await socket.send_str(nonsense)
            await socket.send_str(json.dumps(["stdin", "kept as a draft"]))
            while b"draft" not in seen:
                seen += (await socket.receive(timeout=60)).data
        async with client.ws_connect("/secret/ws?width=x") as socket:  # the tab is loaded again
            seen = b""
            while b"edge0" not in seen:
                seen += (await socket.receive(timeout=60)).data

"""The server: a page, its files, and a web socket that leads to the application."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import textual_serve
from aiohttp import WSMsgType, web
from textual_serve.download_manager import DownloadManager

from edge0_tui.serving.access import refusal
from edge0_tui.serving.page import HEADERS, page
from edge0_tui.serving.process import AppProcess

_STATIC = Path(textual_serve.__file__).parent / "static"
_TURN_SECONDS = 15.0
_SMALLEST, _LARGEST = 10, 500


class Server:
    """One tab at a time: each has an engine of its own, and one is what the memory plan is made for."""

    def __init__(self, arguments: Sequence[str], host: str, secret: str) -> None:
        self._arguments, self._host, self._secret = arguments, host, secret
        self._turn = asyncio.Lock()

    def application(self) -> web.Application:
        application = web.Application(middlewares=[self._checked])
        application.add_routes(
            [
                web.get(f"/{self._secret}/", self._page),
                web.get(f"/{self._secret}/ws", self._socket),
                web.static("/static", _STATIC),
            ]
        )
        return application

    async def run(self, port: int, listening: Callable[[int], None]) -> None:
        """Serve until cancelled; `listening` is called with the port once it can be reached."""
        runner = web.AppRunner(self.application(), access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        try:
            await web.TCPSite(runner, self._host, port).start()
            listening(int(runner.addresses[0][1]))
            await asyncio.Event().wait()
        finally:
            await runner.cleanup()

    @web.middleware  # type: ignore[untyped-decorator]
    async def _checked(self, request: web.Request, handler: Callable[[web.Request], Any]) -> web.StreamResponse:
        if reason := refusal(request.host, request.headers.get("Origin"), self._host):
            return web.Response(status=403, text=f"{reason}\n")
        try:
            response: web.StreamResponse = await handler(request)
        except web.HTTPNotFound:
            return web.Response(status=404, text="Open the address that edge0-tui serve has printed.\n")
        return response

    async def _page(self, request: web.Request) -> web.Response:
        scheme = "wss" if request.scheme == "https" else "ws"
        text = page(f"{scheme}://{request.host}/{self._secret}/ws")
        return web.Response(text=text, content_type="text/html", headers=HEADERS)

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse(heartbeat=15)
        await socket.prepare(request)
        try:
            # A page that is loaded again comes before the application of the former one has left.
            await asyncio.wait_for(self._turn.acquire(), _TURN_SECONDS)
        except TimeoutError:
            await socket.close(message=b"edge0 is open in another tab")
            return socket
        process = AppProcess(
            self._arguments,
            write_bytes=socket.send_bytes,
            write_str=socket.send_str,
            close=socket.close,
            download_manager=DownloadManager(),
        )
        try:
            await process.start(_cells(request.query.get("width"), 80), _cells(request.query.get("height"), 24))
            await _hand_on(socket, process)
        finally:
            with contextlib.suppress(ConnectionError):
                await process.stop()
            self._turn.release()
        return socket


async def _hand_on(socket: web.WebSocketResponse, process: AppProcess) -> None:
    """Keys and sizes from the browser, until it goes away. What is not in the protocol is passed over."""
    async for message in socket:
        if message.type != WSMsgType.TEXT:
            continue
        try:
            match message.json():
                case ["stdin", str(keys)]:
                    await process.send_bytes(keys.encode("utf-8", "replace"))
                case ["resize", {"width": int(width), "height": int(height)}]:
                    await process.set_terminal_size(_cells(width, 80), _cells(height, 24))
                case ["ping", sent]:
                    await socket.send_json(["pong", sent])
                case ["blur", *_]:
                    await process.blur()
                case ["focus", *_]:
                    await process.focus()
        except ValueError:
            continue


def _cells(value: str | int | None, usual: int) -> int:
    try:
        return max(_SMALLEST, min(int(value or usual), _LARGEST))
    except ValueError:
        return usual

"""A hub on loopback: model descriptions, resolve with redirects to a second port, ranges, etags, faults."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

LARGE = (".safetensors", "tokenizer.json")
_RESOLVE = re.compile(r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)")
_MODEL = re.compile(r"/api/models/([^/]+/[^/]+)(?:/revision/(.+))?")
_TREE = re.compile(r"/api/models/([^/]+/[^/]+)/tree/([^/]+)")
_PIECE = 16384


@dataclass
class Repo:
    """Files by name at one commit."""

    files: dict[str, bytes]
    commit: str = "a" * 40
    stated: dict[str, bytes] = field(default_factory=dict)
    """Content that the description is made of, where it is to differ from what is sent."""

    def description(self, repo: str) -> dict[str, Any]:
        siblings = [self._sibling(name, self.stated.get(name, data)) for name, data in self.files.items()]
        return {"id": repo, "modelId": repo, "sha": self.commit, "siblings": siblings, "tags": [], "private": False}

    def tree(self) -> list[dict[str, Any]]:
        return [
            {
                "type": "file",
                "path": name,
                "size": len(data),
                "oid": git_sha1(data),
                **(
                    {"lfs": {"oid": sha256(data), "size": len(data), "pointerSize": 134}}
                    if name.endswith(LARGE)
                    else {}
                ),
            }
            for name, data in self.files.items()
        ]

    def _sibling(self, name: str, data: bytes) -> dict[str, Any]:
        body: dict[str, Any] = {"rfilename": name, "size": len(data), "blobId": git_sha1(data)}
        if name.endswith(LARGE):
            body["lfs"] = {"sha256": sha256(data), "size": len(data), "pointerSize": 134}
        return body


@dataclass
class Answer:
    """What is about to be sent for a file; a fault changes it. After `pause_at` bytes `gate` is waited for."""

    status: int
    headers: dict[str, str]
    body: bytes
    pause_at: int | None = None
    cut_at: int | None = None


class _QuietServer(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Connections that break are what is tested here."""


Fault = Callable[[str, dict[str, str], Answer], None]


class FakeHub:
    """Two servers. `asked` has (port, path, headers) of each request, `sent` the body bytes by file name."""

    def __init__(self) -> None:
        self.repos: dict[str, Repo] = {}
        self.token = ""
        self.statuses: list[tuple[int, dict[str, str]]] = []
        self.fault: Fault | None = None
        self.gate = threading.Event()
        self.waiting = threading.Event()
        self.sent: Counter[str] = Counter()
        self.asked: list[tuple[int, str, dict[str, str]]] = []
        self._hub = self._serve(self._answer_hub)
        self._store = self._serve(self._answer_store)

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._hub.server_port}"

    @property
    def store_port(self) -> int:
        return self._store.server_port

    def close(self) -> None:
        self.gate.set()
        for server in (self._hub, self._store):
            server.shutdown()
            server.server_close()

    def requests(self, name: str) -> list[dict[str, str]]:
        """Headers of the requests for a file's content at its storage."""
        return [
            headers
            for port, path, headers in self.asked
            if port == self.store_port and path.endswith(f"/{name}?signed=1")
        ]

    # --- inside ---

    def _serve(self, answer: Callable[[BaseHTTPRequestHandler], None]) -> ThreadingHTTPServer:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_HEAD(self) -> None:
                answer(self)

            def do_GET(self) -> None:
                answer(self)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        server = _QuietServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        return server

    def _noted(self, handler: BaseHTTPRequestHandler) -> str:
        port = int(handler.connection.getsockname()[1])
        self.asked.append((port, unquote(handler.path), {k.lower(): v for k, v in handler.headers.items()}))
        return unquote(urlsplit(handler.path).path)

    def _answer_hub(self, handler: BaseHTTPRequestHandler) -> None:
        path = self._noted(handler)
        if self.statuses:
            status, headers = self.statuses.pop(0)
            return self._send(handler, Answer(status, headers, b"{}"))
        if self.token and handler.headers.get("Authorization") != f"Bearer {self.token}":
            return self._send(handler, Answer(401, {"X-Error-Code": "GatedRepo"}, b"{}"))
        model, resolve, tree = _MODEL.fullmatch(path), _RESOLVE.fullmatch(path), _TREE.fullmatch(path)
        match = tree or model or resolve
        repo = self.repos.get(match[1]) if match else None
        if repo is None or match is None:
            return self._send(handler, Answer(404, {"X-Error-Code": "RepoNotFound"}, b"{}"))
        if match[2] not in (None, "main", repo.commit):
            return self._send(handler, Answer(404, {"X-Error-Code": "RevisionNotFound"}, b"{}"))
        if tree:
            return self._send(handler, Answer(200, {}, json.dumps(repo.tree()).encode()))
        if model:
            body = json.dumps(repo.description(match[1])).encode()
            return self._send(handler, Answer(200, {"Content-Type": "application/json"}, body))
        name = match[3]
        data = repo.files.get(name)
        if data is None:
            return self._send(handler, Answer(404, {"X-Error-Code": "EntryNotFound"}, b"{}"))
        if not name.endswith(LARGE):
            return self._send_file(handler, name, data, git_sha1(data), {"X-Repo-Commit": repo.commit})
        hash = sha256(repo.stated.get(name, data))
        headers = {
            "Location": f"http://127.0.0.1:{self.store_port}/{match[1]}/{name}?signed=1",
            "X-Linked-ETag": f'"{hash}"',
            "X-Linked-Size": str(len(data)),
            "X-Repo-Commit": repo.commit,
        }
        return self._send(handler, Answer(302, headers, b"moved"))

    def _answer_store(self, handler: BaseHTTPRequestHandler) -> None:
        owner, repo, name = self._noted(handler).lstrip("/").split("/", 2)
        data = self.repos[f"{owner}/{repo}"].files[name]
        self._send_file(handler, name, data, sha256(data), {})

    def _send_file(
        self, handler: BaseHTTPRequestHandler, name: str, data: bytes, etag: str, more: dict[str, str]
    ) -> None:
        asked = {key.lower(): value for key, value in handler.headers.items()}
        answer = Answer(200, {"ETag": f'"{etag}"', "Accept-Ranges": "bytes", **more}, data)
        match = re.fullmatch(r"bytes=(\d+)-(\d*)", asked.get("range", ""))
        if match and asked.get("if-range", f'"{etag}"') == f'"{etag}"':
            first = int(match[1])
            last = min(int(match[2] or len(data)), len(data) - 1)
            if first >= len(data):
                answer = Answer(416, {"Content-Range": f"bytes */{len(data)}"}, b"")
            else:
                answer.status, answer.body = 206, data[first : last + 1]
                answer.headers["Content-Range"] = f"bytes {first}-{last}/{len(data)}"
        if self.fault is not None:
            self.fault(name, asked, answer)
        self._send(handler, answer, name)

    def _send(self, handler: BaseHTTPRequestHandler, answer: Answer, name: str = "") -> None:
        try:
            handler.send_response(answer.status)
            for key, value in {"Content-Length": str(len(answer.body)), **answer.headers}.items():
                handler.send_header(key, value)
            handler.end_headers()
            if handler.command == "HEAD":
                return
            for start in range(0, len(answer.body), _PIECE):
                if answer.cut_at is not None and start >= answer.cut_at:
                    handler.close_connection = True
                    return
                if answer.pause_at is not None and start >= answer.pause_at:
                    self.waiting.set()
                    self.gate.wait()
                    answer.pause_at = None
                piece = answer.body[start : start + _PIECE]
                handler.wfile.write(piece)
                self.sent[name] += len(piece)
        except OSError:
            handler.close_connection = True


@contextmanager
def fake_hub() -> Iterator[FakeHub]:
    hub = FakeHub()
    try:
        yield hub
    finally:
        hub.close()


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def git_sha1(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()

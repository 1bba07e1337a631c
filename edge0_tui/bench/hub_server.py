"""One repository on loopback, as the hub would serve it, to measure: `python -m edge0_tui.bench.hub_server DIR`.

Prints its address, then answers until it is ended. Contents go from the page cache to the socket uncopied.
"""

from __future__ import annotations

import json
import os
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from edge0_tui.manager.digest import hash_file

REPO = "bench/model"
COMMIT = "0" * 40
_STEP = 8 << 20


def main(folder: Path) -> None:
    about = json.dumps({"id": REPO, "sha": COMMIT, "siblings": [_sibling(file) for file in folder.iterdir()]})

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            if path.startswith("/api/models/"):
                self._headers(200, len(about.encode()), {"Content-Type": "application/json"})
                self.wfile.write(about.encode())
                return
            file = folder / Path(path).name
            size = file.stat().st_size
            match = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
            start = int(match[1]) if match else 0
            more = {"Content-Range": f"bytes {start}-{size - 1}/{size}"} if match else {}
            self._headers(206 if match else 200, size - start, more)
            self.wfile.flush()
            with file.open("rb") as source:
                while start < size:
                    start += os.sendfile(self.connection.fileno(), source.fileno(), start, min(_STEP, size - start))

        def _headers(self, status: int, length: int, more: dict[str, str]) -> None:
            self.send_response(status)
            for key, value in {"Content-Length": str(length), "ETag": '"bench"', **more}.items():
                self.send_header(key, value)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            """Nobody reads it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()


def _sibling(file: Path) -> dict[str, Any]:
    size = file.stat().st_size
    if file.suffix == ".safetensors":
        return {
            "rfilename": file.name,
            "size": size,
            "lfs": {"sha256": hash_file(file), "size": size, "pointerSize": 134},
        }
    return {"rfilename": file.name, "size": size, "blobId": hash_file(file, git=True)}


if __name__ == "__main__":
    main(Path(sys.argv[1]))

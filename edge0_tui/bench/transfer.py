"""Fetching a file from loopback against curl, verifying it against sha256sum; medians of rounds taken in turn."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from edge0_tui.bench.hub_server import REPO
from edge0_tui.manager.download_process import default_command
from edge0_tui.manager.messages import Failed, Finished, Order, decode, encode
from edge0_tui.manager.verify import verify
from edge0_tui.paths import Paths

BYTES = 1 << 30
ROUNDS = 5
_FILE = "model.safetensors"
_PIECE = 16 << 20


def measure_download(size: int = BYTES, rounds: int = ROUNDS) -> tuple[float, float]:
    """Bytes a second (ours, curl) until all bytes are in the file; ours are hashed by then."""
    ours, curl = [], []
    with _folder() as top:
        source = _model(top / "source", size)
        with _server(source) as address:
            for number in range(rounds):
                # What one leaves to be written must not be charged to the other.
                os.sync()
                curl.append(size / _curl(f"{address}/{REPO}/resolve/main/{_FILE}", top / "curl"))
                os.sync()
                ours.append(size / _ours(address, top / f"ours{number}"))
    return statistics.median(ours), statistics.median(curl)


def measure_verify(size: int = BYTES, rounds: int = ROUNDS) -> tuple[float, float]:
    """Bytes a second (ours, sha256sum) of a file in the page cache."""
    tool = shutil.which("sha256sum")
    command = [tool] if tool else ["shasum", "-a", "256"]
    ours, peer = [], []
    with _folder() as top:
        source = _model(top / "source", size)
        paths = Paths(top / "data", top / "settings.toml", top / "logs", top / "data")
        subprocess.run([*command, str(source / _FILE)], check=True, stdout=subprocess.DEVNULL)
        for _ in range(rounds):
            began = time.perf_counter()
            subprocess.run([*command, str(source / _FILE)], check=True, stdout=subprocess.DEVNULL)
            peer.append(size / (time.perf_counter() - began))
            ours.append(size / verify(source, paths).seconds)
    return statistics.median(ours), statistics.median(peer)


def _ours(address: str, folder: Path) -> float:
    """Seconds from the first bytes asked for until everything has arrived and is hashed.

    Then it is forced to the disk and renamed, which curl does not do and which is not counted.
    """
    began = ended = 0.0
    environment = {**os.environ, "HF_ENDPOINT": address, "no_proxy": "127.0.0.1"}
    with subprocess.Popen(
        default_command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(encode(Order(REPO, "", str(folder))))
        process.stdin.flush()
        for line in process.stdout:
            message = decode(line)
            if isinstance(message, Failed):
                raise RuntimeError(message.message)
            if isinstance(message, Finished):
                break
            if not began and message.phase != "asking":
                began = time.perf_counter()
            if not ended and message.phase in ("verifying", "done") and message.done_bytes == message.total_bytes:
                ended = time.perf_counter()
    shutil.rmtree(folder)
    return ended - began


def _curl(url: str, target: Path) -> float:
    began = time.perf_counter()
    subprocess.run(["curl", "-sf", "--noproxy", "*", "-o", str(target), url], check=True)
    seconds = time.perf_counter() - began
    target.unlink()
    return seconds


def _model(folder: Path, size: int) -> Path:
    """Files that look like a checkpoint to a download; the large one of noise."""
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    noise = os.urandom(_PIECE)
    with (folder / _FILE).open("wb") as file:
        for _ in range(size // _PIECE):
            file.write(noise)
        file.flush()
        os.fsync(file.fileno())
    return folder


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="edge0-bench-", dir=_volume()) as name:
        yield Path(name)


def _volume() -> str | None:
    """A disk, where the usual folder for temporary files may be memory."""
    return "/var/tmp" if Path("/var/tmp").is_dir() else None


@contextmanager
def _server(folder: Path) -> Iterator[str]:
    command = [sys.executable, "-P", "-m", "edge0_tui.bench.hub_server", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()

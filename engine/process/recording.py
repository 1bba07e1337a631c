"""Recorded sessions: every request and event with its time, one JSON object a line."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import CheckpointError
from engine.protocol import Event, Request
from engine.wire import ProtocolError, decode, encode


@dataclass(frozen=True)
class Entry:
    """One message; `at` is in seconds since the recording began."""

    at: float
    message: Request | Event


class Recorder:
    """Writes a recording. A line is complete or missing, also after a crash."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._started = time.monotonic()
        path.write_bytes(b"")

    def sent(self, request: Request) -> None:
        self._write(request)

    def received(self, event: Event) -> None:
        self._write(event)

    def _write(self, message: Request | Event) -> None:
        at = round(time.monotonic() - self._started, 4)
        with self._path.open("ab") as file:
            file.write(b'{"at":%.4f,"message":%s}\n' % (at, encode(message).rstrip()))


def read_recording(path: Path) -> list[Entry]:
    """The messages of a recording. Raises `CheckpointError` naming the file and line that does not fit."""
    entries = []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise CheckpointError(f"{path}: {error}") from None
    for number, line in enumerate(lines, 1):
        try:
            body: Any = json.loads(line)
            entries.append(Entry(float(body["at"]), decode(json.dumps(body["message"]))))
        except (ProtocolError, ValueError, TypeError, KeyError) as error:
            raise CheckpointError(f"{path}, line {number} is not part of a recording: {error}") from None
    return entries

"""Earlier prompts of all chats, on disk, and walking through them with the arrow keys."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

MOST = 1000
LONGEST = 20_000
_LARGEST_FILE = 64 << 20


class PromptHistory:
    """`entries` are what was sent, oldest first. The file has one JSON string a line.

    Instances append under a lock, so two of them never lose each other's prompts. Longer prompts than `LONGEST`
    characters are remembered until the end only.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.entries: list[str] = []
        self._path = path

    def read(self) -> list[str]:
        """What the file holds, the newest `MOST`. Lines that do not belong there are passed over. Blocks."""
        if self._path is None:
            return []
        try:
            with self._path.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - _LARGEST_FILE))
                lines = file.read().split(b"\n")
        except FileNotFoundError:
            return []
        if len(lines) > 2 * MOST:
            self._shorten()
        return list(_strings(lines))[-MOST:]

    def append(self, text: str) -> None:
        """Write one prompt down. Blocks. Raises `OSError`."""
        if self._path is None or len(text) > LONGEST:
            return
        from edge0_tui.chat import files

        with files.lock(self._path.parent):
            handle = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            with os.fdopen(handle, "ab") as file:
                file.write(_line(text))

    def _shorten(self) -> None:
        assert self._path is not None
        from edge0_tui.chat import files

        with files.lock(self._path.parent):
            newest = list(_strings(self._path.read_bytes().split(b"\n")))[-MOST:]
            files.write(self._path, b"".join(map(_line, newest)))
            self._path.chmod(0o600)


class HistoryWalk:
    """Where in the entries the prompt is. What was written or changed on the way is found again on the way back."""

    def __init__(self, entries: Iterable[str] = ()) -> None:
        self.entries = list(entries)
        self._at = len(self.entries)
        self._changed: dict[int, str] = {}

    @property
    def here(self) -> str:
        """The entry that is looked at; empty at the end, where something new is written."""
        return self.entries[self._at] if self._at < len(self.entries) else ""

    def put_before(self, older: Iterable[str]) -> None:
        """Entries that have been read from disk only now."""
        present, older = self._at, list(older)
        self.entries[:0] = older
        self._at = present + len(older)
        self._changed = {at + len(older): text for at, text in self._changed.items()}

    def add(self, text: str) -> None:
        """A prompt was sent. The walk ends."""
        if not self.entries or self.entries[-1] != text:
            self.entries.append(text)
        self.end()

    def end(self) -> None:
        self._at = len(self.entries)
        self._changed.clear()

    def step(self, by: int, present: str) -> str | None:
        """The text one entry further, None at either end. `present` is what stands in the prompt now."""
        to = self._at + by
        while 0 <= to < len(self.entries) and self.entries[to] == present and to not in self._changed:
            to += by
        if not 0 <= to <= len(self.entries):
            return None
        if present != self.here:
            self._changed[self._at] = present
        self._at = to
        return self._changed.get(to, self.here)


def _line(text: str) -> bytes:
    return json.dumps(text).encode() + b"\n"


def _strings(lines: Iterable[bytes]) -> Iterable[str]:
    for line in lines:
        try:
            text = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(text, str) and text.strip():
            yield text

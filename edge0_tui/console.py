"""Writing to the two standard streams of a command: data to one, everything else to the other."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from typing import Any

_KEPT = "\n\t"
_CONTROLS = {code: None for code in (*range(32), *range(127, 160)) if chr(code) not in _KEPT}


class Console:
    """Answers and tables on standard output; messages and progress on standard error."""

    def __init__(self) -> None:
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="replace")
        self._out_is_terminal = sys.stdout.isatty()
        self.err_is_terminal = sys.stderr.isatty()
        self._progress = False

    def data(self, text: str) -> None:
        """Write text as it is; to a terminal without control characters, which could drive it."""
        self.progress("")
        sys.stdout.write(text.translate(_CONTROLS) if self._out_is_terminal else text)
        sys.stdout.flush()

    def json(self, value: Any) -> None:
        """Write one JSON document on one line."""
        utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
        self.progress("")
        sys.stdout.write(json.dumps(value, ensure_ascii=not utf8) + "\n")
        sys.stdout.flush()

    def message(self, text: str) -> None:
        """A line for people."""
        self.progress("")
        print(text, file=sys.stderr, flush=True)

    def step(self, text: str) -> None:
        """What a long task does now: as `progress`, and a line of its own where that would be lost."""
        if self.err_is_terminal:
            self.progress(text)
        else:
            self.message(text)

    def aside(self, text: str) -> None:
        """Text for people that comes in pieces."""
        self.progress("")
        sys.stderr.write(text.translate(_CONTROLS) if self.err_is_terminal else text)
        sys.stderr.flush()

    def progress(self, text: str) -> None:
        """A line that the next output replaces; empty removes it. Nothing where nobody watches."""
        if self.err_is_terminal and (text or self._progress):
            # A line that wraps could not be replaced.
            sys.stderr.write("\r\x1b[K" + text.translate(_CONTROLS)[: shutil.get_terminal_size().columns - 1])
            sys.stderr.flush()
        self._progress = bool(text)


def table(rows: Sequence[tuple[str, ...]]) -> str:
    """Left-aligned columns, two spaces apart."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "".join(line.rstrip() + "\n" for line in lines)

"""Writing lines to a terminal that may be read aloud: no cursor is moved and nothing written is changed."""

from __future__ import annotations

from typing import TextIO

PROMPT = "> "
_KEPT = "\n\t"
_CONTROLS = {code: None for code in (*range(32), *range(127, 160)) if chr(code) not in _KEPT}


class Printer:
    """Knows whether the cursor is at the start of a line, after a prompt, or within a text."""

    def __init__(self, stream: TextIO) -> None:
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
        self._stream = stream
        self._at_start = True
        self._prompted = False

    def line(self, text: str = "") -> None:
        """One line, on a line of its own."""
        self.fresh()
        self._write(text + "\n")

    def piece(self, text: str) -> None:
        """Part of a text that comes in pieces."""
        if self._prompted:
            self.fresh()
        self._write(text)

    def fresh(self) -> None:
        """Go to the start of a line, if the cursor is not there."""
        if not self._at_start:
            self._write("\n")

    def prompt(self) -> None:
        """Say that a line can be written, unless that has just been said."""
        if not self._prompted:
            self.fresh()
            self._write(PROMPT)
            self._prompted = True

    def entered(self) -> None:
        """The person has ended a line; the terminal has gone to the next one."""
        self._at_start, self._prompted = True, False

    def _write(self, text: str) -> None:
        text = text.translate(_CONTROLS)
        if text:
            self._stream.write(text)
            self._stream.flush()
            self._at_start, self._prompted = text.endswith("\n"), False

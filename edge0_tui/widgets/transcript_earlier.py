"""The line above the first mounted message that says how many came before."""

from __future__ import annotations

from typing import ClassVar

from textual.widgets import Static

from edge0_tui import units


class TranscriptEarlier(Static):
    """Scrolling up fetches them."""

    DEFAULT_CSS: ClassVar[str] = """
    TranscriptEarlier { color: $text-muted; text-align: center; max-width: 100; margin: 0 0 1 0; display: none; }
    """

    def show(self, number: int) -> None:
        self.display = number > 0
        self.update(f"↑ {units.count(number)} earlier")

"""The one message that waits its turn, above the prompt."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static


class WaitingLine(Static):
    """Hidden while nothing waits."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(markup=False, id=id)
        self.display = False

    def show(self, text: str, reason: str) -> None:
        """Say which message waits and for what; an empty text hides the line."""
        self.display = bool(text)
        first = " ".join(text.split())
        self.update(Content.assemble(("⧗ ", "$accent"), (f"{reason}: ", "$text-muted"), (first, "$foreground")))

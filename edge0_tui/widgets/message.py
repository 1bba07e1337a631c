"""One message of a transcript: a single widget, whatever it holds."""

from __future__ import annotations

from typing import ClassVar

from edge0_tui.widgets.markdown import BlockView, Section


class Message(BlockView):
    """What user and reply have in common: the turn they show, and that they can be walked to."""

    DEFAULT_CSS: ClassVar[str] = """
    Message {
        max-width: 100;
        padding: 0 2;
        margin: 0 0 1 0;
        background: transparent;
        color: $foreground;
        &.-selected { border-left: outer $accent; padding: 0 2 0 1; }
    }
    """

    def __init__(self, turn_id: str, sections: list[Section], *, classes: str | None = None) -> None:
        super().__init__(sections, classes=classes)
        self.turn_id = turn_id

    @property
    def text(self) -> str:
        """The message as it was written, which is what copying gives."""
        raise NotImplementedError

"""What the first text costs apart from itself: imports, compiled patterns, the highlighter's tables."""

from __future__ import annotations

from textual.highlight import highlight

from edge0_tui.widgets.markdown.code import Colours
from edge0_tui.widgets.markdown.stream import parse


def warm() -> None:
    """Have all of that happen now. May run in a thread: nothing of it belongs to the screen."""
    parse("*a* `b` https://example.org/c\n\n| d |\n|---|\n| $e$ |\n\n- [x] f\n")
    highlight("x = 1", language="python", theme=Colours)

"""What is on screen as text, row by row, for tests that compare whole pictures."""

from __future__ import annotations

import io
from typing import Any

from rich.console import Console
from textual.app import App

_BLOCKS = str.maketrans(dict.fromkeys("▁▂▃▄▅▆▇█", " "))


def picture(app: App[Any]) -> str:
    """The rows of the terminal without trailing blanks, colours (themes are tested by themselves) and the ends of
    scroll bars, which move with every line that is added somewhere."""
    width, height = app.size
    console = Console(width=width, height=height, file=io.StringIO(), force_terminal=True, record=True)
    update = app.screen._compositor.render_update(full=True, screen_stack=app._background_screens)
    console.print(update)
    rows = console.export_text(styles=False).translate(_BLOCKS).split("\n")[:height]
    return "".join(row.rstrip() + "\n" for row in rows)

"""The thinking of a reply: folded to one line, which shows the last thought while it goes on."""

from __future__ import annotations

from textual.content import Content
from textual.style import Style

from edge0_tui import units
from edge0_tui.widgets.markdown import Growing, Label, Section
from edge0_tui.widgets.markdown.palette import LINE, MUTED
from edge0_tui.widgets.markdown.safe import harmless

TOGGLE = "thinking"
_BASE = f"italic {MUTED}"
_BAR = Content("│ ").stylize(LINE)


class Thinking:
    """Two sections, a head that can be clicked and a body that shows only when unfolded."""

    def __init__(self, unfolded: bool = False) -> None:
        self.unfolded = unfolded
        self._pieces: list[str] = []
        self._lines = 0
        self._line = ""
        self._last = ""
        self._tokens = 0
        self._done = False
        self._head = Section()
        self._body = Growing(base=_BASE, bar=_BAR)

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    @property
    def sections(self) -> list[Section]:
        if not self._pieces:
            return []
        return [self._head, self._body] if self.unfolded else [self._head]

    def append(self, piece: str, tokens: int = 0) -> None:
        if not self._pieces and not piece.strip():
            return
        self._pieces.append(piece)
        self._tokens = tokens or self._tokens
        *whole, self._line = (self._line + piece).split("\n")
        said = [line for line in whole if line.strip()]
        self._lines += len(said)
        self._last = said[-1] if said else self._last
        self._body.append(piece)
        self._update_head()

    def finish(self, tokens: int = 0) -> None:
        if not self._done:
            self._done = True
            self._body.append("", final=True)
        self._tokens = tokens or self._tokens
        self._update_head()

    def toggle(self, unfolded: bool) -> None:
        self.unfolded = unfolded
        self._update_head()

    def _update_head(self) -> None:
        arrow = "▾" if self.unfolded else "▸"
        size = (
            f"{units.count(self._tokens)} tokens"
            if self._tokens
            else _count(self._lines + bool(self._line.strip()), "line")
        )
        words = f"{arrow} Thought · {size}" if self._done else f"{arrow} Thinking · {size}"
        content = Content(words).stylize(MUTED).stylize(Style.from_meta({"toggle": TOGGLE}))
        if not self._done and not self.unfolded:
            content += Content(f"  {harmless(self._line.strip() or self._last)}").stylize(_BASE)
        self._head.set([Label(content.plain, content=content)])


def _count(number: int, word: str) -> str:
    return f"{units.count(number)} {word}{'' if number == 1 else 's'}"

"""What stands behind the text looks as Textual's own containers and scrollbars do."""

from __future__ import annotations

import pytest
from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.strip import Strip
from textual.widgets import Static

from edge0_tui.widgets.backdrop import Scrolling

SIZE = (40, 24)


class Ours(VerticalScroll, Scrolling):
    pass


class Pair(App[None]):
    """The same text in a container of ours and in one of Textual's."""

    CSS = "VerticalScroll { width: 20; background: $surface; padding: 1 1 0 1; }"

    def __init__(self, lines: int) -> None:
        super().__init__()
        self._text = "\n".join(f"line {n}" for n in range(lines))

    def compose(self) -> ComposeResult:
        with Horizontal():
            for scroll in (Ours(), VerticalScroll()):
                with scroll:
                    yield Static(self._text)


def looks(strips: list[Strip]) -> list[list[tuple[str, str]]]:
    """Text and colours of every cell."""
    cells = []
    for strip in strips:
        segments = [segment for segment in strip if isinstance(segment, Segment)]
        cells.append([(letter, str(segment.style)) for segment in segments for letter in segment.text])
    return cells


@pytest.mark.parametrize("lines", [3, 40, 300])
@pytest.mark.parametrize("colours", [True, False])
async def test_a_container_looks_like_textuals_wherever_it_is_scrolled(
    lines: int, colours: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if colours:
        monkeypatch.delenv("NO_COLOR", raising=False)
    else:
        monkeypatch.setenv("NO_COLOR", "1")
    app = Pair(lines)
    async with app.run_test(size=SIZE) as pilot:
        sides = list(app.query(VerticalScroll))
        for y in (0, 1, 7, lines // 2, lines):
            for side in sides:
                side.scroll_to(y=y, animate=False)
            await pilot.pause()
            rows = looks(app.screen._compositor.render_strips())
            assert [row[:20] for row in rows] == [row[20:40] for row in rows]
        bars = [looks(side.vertical_scrollbar.render_lines(side.vertical_scrollbar.size.region)) for side in sides]
        assert bars[0] == bars[1]

"""What stands behind the text: painted in every picture, so it has to be cheap."""

from __future__ import annotations

from rich.segment import Segment, Segments
from textual.geometry import Region
from textual.scrollbar import ScrollBar
from textual.strip import Strip
from textual.widget import Widget


class Backdrop(Widget):
    """A container of one colour, without a border: one strip, repeated, stands for all of its rows.

    Textual paints containers row by row, and cuts each row where its children stand; cuts of one strip are kept.
    """

    def render_lines(self, crop: Region) -> list[Strip]:
        return super().render_lines(Region(crop.x, 0, crop.width, 1)) * crop.height


class Scrolling(Backdrop):
    """A backdrop whose vertical scrollbar is quick to paint."""

    @property
    def vertical_scrollbar(self) -> ScrollBar:
        if self._vertical_scrollbar is None:
            self._vertical_scrollbar = bar = QuickScrollBar(
                vertical=True, name="vertical", thickness=self.scrollbar_size_vertical
            )
            bar.display = False
            self.app._start_widget(self, bar)
        return self._vertical_scrollbar


class QuickScrollBar(ScrollBar):
    """A vertical scrollbar of at most five different rows; the stock one styles each of them for itself."""

    def render_lines(self, crop: Region) -> list[Strip]:
        rendered = self.render()
        if not isinstance(rendered, self.renderer):
            return super().render_lines(crop)
        style = self.app.console.get_style(rendered.style)
        if style.color is None or style.bgcolor is None:
            return super().render_lines(crop)
        bar = rendered.render_bar(
            size=self.size.height,
            virtual_size=rendered.virtual_size,
            window_size=rendered.window_size,
            position=rendered.position,
            thickness=self.size.width,
            back_color=style.bgcolor,
            bar_color=style.color,
        )
        return self._strips(bar)[crop.y : crop.bottom]

    def _strips(self, bar: Segments) -> list[Strip]:
        base, background = self.visual_style.rich_style, self.background_colors[1]
        filters, made = self.get_line_filters(), dict[int, Strip]()
        for segment in bar.segments:
            if id(segment) not in made:
                strip = Strip(Segment.apply_style([segment], base), self.size.width)
                for each in filters:
                    strip = strip.apply_filter(each, background)
                made[id(segment)] = strip
        return [made[id(segment)] for segment in bar.segments]

"""The plan card: what a line is, two sliders, and what to expect of it on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message

from edge0_tui import units
from edge0_tui.widgets.plan.machine import machine_rows
from edge0_tui.widgets.plan.memory import memory_rows, tokens_short
from edge0_tui.widgets.plan.rows import wrapped
from edge0_tui.widgets.plan.speed import speed_rows
from edge0_tui.widgets.rows import Rows
from edge0_tui.widgets.slider import Scale, Slider

if TYPE_CHECKING:
    from engine.outlook.types import Outlook

_VERDICTS = {
    "fits": ("● fits", "$success bold"),
    "tight": ("▲ tight", "$warning bold"),
    "slow": ("▲ fits, slow", "$warning bold"),
    "no": ("✕ no", "$error bold"),
}
_STEPS = 48
_LEAST_STEP = 64 << 10
_CONTEXTS = tuple(4096 << n for n in range(12))
_SCROLLBAR = 1
_VERDICT_ROWS = 2
"""Kept for the sentence, so that what is below does not move with the slider."""


class PlanCard(Vertical):
    """Draws what it is given; which model that is and what follows from the sliders is the screen's."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.outlook: Outlook | None = None

    class Resized(Message):
        """There is another width to draw for."""

    def compose(self) -> ComposeResult:
        yield Rows(id="card-head")
        yield Slider("budget", id="budget")
        yield Slider("context", id="context")
        with VerticalScroll(id="card-scroll"):
            yield Rows(id="card-body")

    def on_mount(self) -> None:
        self.show_text("", [])

    def on_resize(self) -> None:
        self.post_message(self.Resized())

    @property
    def room(self) -> int:
        """Cells of a row. Not asked of the part that scrolls: that has no width yet when the card gets its own."""
        return max(20, self.content_size.width - _SCROLLBAR)

    def page(self, pages: int) -> None:
        """Down, or up with a negative number."""
        scroll = self.query_one("#card-scroll", VerticalScroll)
        (scroll.scroll_page_down if pages > 0 else scroll.scroll_page_up)(animate=False)

    def top(self) -> None:
        """Back to the beginning: what comes is about something else."""
        self.query_one("#card-scroll", VerticalScroll).scroll_home(animate=False)

    def show_head(self, title: str, rows: Sequence[Content], verdict: str = "") -> None:
        """The title with what `verdict_of` says at the right, and rows about what is special to the line."""
        width = self.room
        word, style = _VERDICTS.get(verdict, (verdict, "$text-muted"))
        name = Content.styled(title, "bold").truncate(max(4, width - len(word) - 2), ellipsis=True)
        gap = " " * max(1, width - name.cell_length - len(word))
        self.query_one("#card-head", Rows).show_rows([Content.assemble(name, gap, (word, style)), *rows])

    def show_text(self, text: str, more: Sequence[Content]) -> None:
        """No plan: a text in its place, and rows below it."""
        self.outlook = None
        self._show_sliders(False)
        self.query_one("#card-body", Rows).show_rows([*wrapped(text, self.room, "$text-muted"), *more])

    def show_plan(self, out: Outlook, automatic: bool, more: Sequence[Content], help: str = "") -> None:
        """The outlook; `automatic` says that nobody has chosen its budget. `more` comes first, `help`
        says what to do about a speed that is unknown."""
        self.outlook = out
        width = self.room
        self._show_sliders(True)
        self._show_budget(out, automatic)
        self._show_context(out)
        said = wrapped(out.sentence, width) + wrapped(out.hint, width, "$text-muted")
        said += [Content("")] * (_VERDICT_ROWS - len(said))
        rows = [
            *said,
            *more,
            *memory_rows(out, width),
            *speed_rows(out, width, help),
            *machine_rows(out.machine, width),
        ]
        self.query_one("#card-body", Rows).show_rows(rows)

    def _show_sliders(self, shown: bool) -> None:
        for slider in self.query(Slider):
            slider.display = shown

    def _show_budget(self, out: Outlook, automatic: bool) -> None:
        text = f"{units.size(out.budget)}{', usual' if automatic else ''}"
        scale = budget_scale(out)
        self.query_one("#budget", Slider).show(scale, min(scale.high, max(scale.low, out.budget)), text)

    def _show_context(self, out: Outlook) -> None:
        known = contexts(out)
        kv = out.context * out.facts.cache_per_token
        text = f"{tokens_short(out.context)}, {units.size(kv)}"
        scale = Scale(0, len(known) - 1, 1, len(known))
        self.query_one("#context", Slider).show(scale, nearest(known, out.context), text)


def verdict_of(out: Outlook) -> str:
    """As the card's title says it: what fits but makes one wait does not look like what simply fits."""
    return "slow" if out.verdict == "fits" and out.pace == "slow" else out.verdict


def budget_scale(out: Outlook) -> Scale:
    """From the least that works to what gives every expert a slot, as far as this machine has memory at all."""
    machine = out.machine.memory
    limit = min(machine.total, machine.limit or machine.total)
    high = max(out.least, min(out.most, limit))
    step = _LEAST_STEP
    while (high - out.least) / step > _STEPS:
        step *= 2
    return Scale(out.least, high, step, max(out.least, out.budget + out.left))


def contexts(out: Outlook) -> list[int]:
    """The lengths to choose among: powers of two as far as the model goes, its longest, and the present one."""
    longest = out.facts.max_context
    return sorted({*(tokens for tokens in _CONTEXTS if tokens < longest), longest, out.context})


def nearest(known: Sequence[int], context: int) -> int:
    """The index of `context`, or of the one next to it."""
    return min(range(len(known)), key=lambda index: abs(known[index] - context))

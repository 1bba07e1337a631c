"""What is expected: tokens a second as a range, its reasons, and how earlier replies compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from edge0_tui import units
from edge0_tui.widgets.plan.rows import LABEL, Rows, bullet, pair, section

if TYPE_CHECKING:
    from engine.outlook.types import Outlook, Range

_VALUE = 22


def speed_rows(out: Outlook, width: int, help: str = "") -> Rows:
    """Unknown is said to be unknown, with the reason and with `help`, which names the key that measures."""
    title = f"expected speed, {out.speed.routing} routing" if out.speed else "expected speed"
    rows = section(title, width)
    if out.speed is None:
        unknown = f"unknown; {help}" if help else "unknown"
        rows += pair("tokens a second", unknown if out.possible else "none: it does not fit", width, "$warning")
        return rows + [row for reason in out.reasons for row in bullet(reason, width)]
    decode, first = out.speed.decode, out.speed.first_token
    rows += _range_rows("tokens a second", decode, width)
    start = f"{units.seconds(first.low)} to {units.seconds(first.high)}"
    rows += pair("first token", f"after {start}, for a prompt of {out.speed.exchange.prompt} tokens", width)
    rows += achieved_rows(out, width)
    return rows + [row for reason in out.reasons for row in bullet(reason, width)]


def achieved_rows(out: Outlook, width: int) -> Rows:
    """Expected against achieved, once there were replies under this plan."""
    known = out.learned
    if known is None:
        return []
    ratio = known.achieved / known.expected
    replies = "1 reply" if known.replies == 1 else f"{known.replies:,} replies"
    text = (
        f"{_figure(known.achieved)} where {_figure(known.expected)} was expected ({ratio:.0%}); "
        f"corrected by {known.factor:.2f} after {replies}"
    )
    return pair("last reply", text, width)


def range_text(speed: Range) -> str:
    """`3.1  (2.2 – 5.0)`."""
    return f"{_figure(speed.likely)}  ({_figure(speed.low)} – {_figure(speed.high)})"


def _range_rows(name: str, speed: Range, width: int) -> Rows:
    """An axis from nothing to the upper bound, with the range and the likeliest figure on it, where it has room."""
    value = range_text(speed)
    room = width - LABEL - max(_VALUE, len(value) + 1)
    if room < 12:
        return pair(name, value, width)
    scale = (room - 1) / speed.high
    low, likely, high = (round(point * scale) for point in (speed.low, speed.likely, speed.high))
    line = Content.assemble(
        (name.ljust(LABEL), "$text-muted"),
        ("─" * low, "$hairline"),
        ("━" * (likely - low), "$primary"),
        ("●", "$accent"),
        ("━" * (high - likely), "$primary"),
        ("─" * (room - 1 - high), "$hairline"),
        (value.rjust(width - LABEL - room), "$foreground"),
    )
    return [line]


def _figure(value: float) -> str:
    from engine.outlook.words import figure

    return figure(value)

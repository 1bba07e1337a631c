"""The memory plan, item by item, each with a bar of its share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from edge0_tui import units
from edge0_tui.widgets.plan.rows import LABEL, VALUE, Rows, barred, pair, section

if TYPE_CHECKING:
    from engine.outlook.types import Outlook

_SHORT = ((1 << 20, "M"), (1 << 10, "k"))


def memory_rows(out: Outlook, width: int) -> Rows:
    """Items in the order of the plan; those that take nothing are left out."""
    total = sum(item.bytes for item in out.items)
    largest = max((item.bytes for item in out.items), default=1) or 1
    title = "memory plan" if out.plan else "memory it needs at the least"
    rows = section(title, width)
    for item in out.items:
        if item.bytes:
            rows.append(barred(item.name, item.bytes / largest, units.size(item.bytes), width))
    rows.append(_sum("in all", total, f"of a budget of {units.size(out.budget)}", width))
    rows.append(_sum("left", out.left, "for the page cache", width))
    if out.plan:
        share = out.plan.slots / out.facts.all_records
        slots = f"{out.plan.slots:,} of {out.facts.all_records:,} experts ({units.percent(share)})"
        rows += pair("slots", slots, width)
    if len(out.kv) > 1:  # the present context has a row above
        rows += pair("KV by context", kv_text(out), width)
    return rows


def kv_text(out: Outlook) -> str:
    """`80.0 MiB at 4k · 640 MiB at 32k`."""
    return " · ".join(f"{units.size(nbytes)} at {tokens_short(tokens)}" for tokens, nbytes in out.kv)


def tokens_short(tokens: int) -> str:
    """`4k`, `32k`, `1M`; an odd number is written out."""
    for scale, unit in _SHORT:
        if tokens >= scale and tokens % scale == 0:
            return f"{tokens // scale}{unit}"
    return f"{tokens:,}"


def _sum(name: str, count: int, note: str, width: int) -> Content:
    value = units.size(count).rjust(VALUE)
    room = max(0, width - LABEL - VALUE)
    return Content.assemble(
        (name.ljust(LABEL), "$text-muted"), (note[:room].ljust(room), "$text-disabled"), (value, "$foreground bold")
    )

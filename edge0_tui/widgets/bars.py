"""Small drawings made of text: a sparkline and a meter. Pure."""

from __future__ import annotations

from collections.abc import Sequence

_LEVELS = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[float], width: int) -> str:
    """The last `width` values as columns, highest full, on a scale from zero. Short ones stand at the right."""
    if width <= 0:
        return ""
    shown = list(values)[-width:]
    top = max(shown, default=0.0)
    if top <= 0:
        return " " * width
    columns = [_LEVELS[min(7, max(0, round(value / top * 7)))] for value in shown]
    return " " * (width - len(columns)) + "".join(columns)


def meter(share: float, width: int) -> tuple[str, str]:
    """A bar of `width` cells as its filled and its empty part. Anything above zero fills at least one cell."""
    share = min(1.0, max(0.0, share))
    filled = round(share * width)
    if share > 0:
        filled = max(1, filled)
    if share < 1:
        filled = min(width - 1, filled)
    return "━" * filled, "─" * (width - filled)

"""Figures in sentences."""

from __future__ import annotations

from engine.outlook.types import Range


def figure(value: float) -> str:
    """Two significant digits: `0.24`, `3.1`, `27`."""
    if value >= 9.95:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 0.995 else f"{value:.2f}"


def pace(speed: Range) -> str:
    """Tokens a second: `about 1.2 tokens a second (0.9 to 2.1)`."""
    return f"about {figure(speed.likely)} tokens a second ({figure(speed.low)} to {figure(speed.high)})"


def rate(bytes_per_second: float) -> str:
    """In decimal units, as disks are sold: `1.3 GB/s`, `240 MB/s`."""
    if bytes_per_second >= 1e9:
        return f"{figure(bytes_per_second / 1e9)} GB/s"
    return f"{bytes_per_second / 1e6:.0f} MB/s"


def seconds(value: float) -> str:
    """`12 ms`, `0.42 s`, `8.4 s`."""
    return f"{value * 1000:.0f} ms" if value < 0.1 else f"{figure(value)} s"

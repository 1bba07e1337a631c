"""How numbers are written on screen, and how sizes are read from people. `–` stands for unknown."""

from __future__ import annotations

import re

UNKNOWN = "–"
_BINARY = (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))
_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)(i?b)?\s*", re.IGNORECASE)


def size(count: int | None) -> str:
    """Bytes held, in binary units with three significant digits: `2.61 GiB`."""
    if count is None:
        return UNKNOWN
    for unit, scale in _BINARY:
        if abs(count) >= scale:
            return f"{_three(count / scale)} {unit}"
    return f"{count} B"


def rate(per_second: float | None) -> str:
    """Bytes moved a second, in decimal megabytes as disks are sold: `812 MB/s`."""
    if per_second is None:
        return UNKNOWN
    if per_second >= 1e9:
        return f"{_three(per_second / 1e9)} GB/s"
    return f"{_three(per_second / 1e6)} MB/s"


def seconds(value: float | None) -> str:
    """A duration: `3 ms`, `0.42 s`, `41.2 s`, `3 min 05 s`."""
    if value is None:
        return UNKNOWN
    if value < 0.1:
        return f"{value * 1000:.0f} ms"
    if value < 10:
        return f"{value:.2f} s"
    if value < 100:
        return f"{value:.1f} s"
    return f"{int(value) // 60} min {int(value) % 60:02d} s"


def count(value: int | None) -> str:
    """A whole number with its thousands apart: `20,480`."""
    return UNKNOWN if value is None else f"{value:,}"


def percent(share: float | None) -> str:
    """A share of one: `93.1 %`."""
    return UNKNOWN if share is None else f"{share * 100:.1f} %"


def tokens_per_second(value: float | None) -> str:
    """A speed: `41.2 tok/s`. Zero means that nothing has been measured yet."""
    return f"{_three(value)} tok/s" if value else UNKNOWN


def parse_size(text: str) -> int:
    """`3GiB`, `3g`, `512 MiB` or a number of bytes. Raises `ValueError` with what was expected."""
    match = _SIZE.fullmatch(text)
    if not match:
        raise ValueError(f"{text!r} is not a size; write it as 3GiB or 900MiB")
    scale = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}[match[2].lower()]
    return int(float(match[1]) * scale)


def _three(value: float) -> str:
    if value >= 99.95:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"

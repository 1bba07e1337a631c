"""The Content-Range of an answer, checked against what was asked for."""

from __future__ import annotations

import re

_RANGE = re.compile(r"bytes (\d{1,15})-(\d{1,15})/(\d{1,15}|\*)")


def whole_size(header: str, start: int, end: int | None = None) -> int | None:
    """The file's size according to a Content-Range; None if it says `*`.

    Raises `ValueError` when the range is not the one from `start` to before `end`, or to the file's end.
    """
    match = _RANGE.fullmatch(header.strip())
    if match is None:
        raise ValueError(f"Content-Range {header[:80]!r} is not a range of bytes")
    first, last = int(match[1]), int(match[2])
    total = None if match[3] == "*" else int(match[3])
    wanted = total if end is None else end
    if first != start or last < first or (wanted is not None and last != wanted - 1):
        raise ValueError(f"asked for the bytes from {start}, got {header[:80]!r}")
    return total

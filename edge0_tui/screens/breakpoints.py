"""Classes that sheets get by the terminal's size, for their styles."""

from __future__ import annotations

LOW_OR_HIGH: list[tuple[int, str]] = [(0, "-low"), (28, "-high")]
NARROW_OR_WIDE: list[tuple[int, str]] = [(0, "-narrow"), (90, "-wide")]

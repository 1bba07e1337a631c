"""Values of command-line options, checked where they are read so that argparse names the option."""

from __future__ import annotations

import math
from argparse import ArgumentTypeError
from collections.abc import Callable

from edge0_tui import units


def size(text: str) -> int:
    """Bytes: `3GiB`, `512MiB`, `3G`."""
    try:
        value = units.parse_size(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None
    if value <= 0:
        raise ArgumentTypeError(f"{text!r} is no memory at all; leave the option out to let the plan decide")
    return value


def whole(low: int, high: int | None = None) -> Callable[[str], int]:
    """A whole number between `low` and `high`, both included."""

    def check(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise ArgumentTypeError(f"{text!r} is not a whole number") from None
        if value < low or (high is not None and value > high):
            raise ArgumentTypeError(f"{text} is not {_range(low, high)}")
        return value

    return check


def real(low: float, high: float, *, above_low: bool = False) -> Callable[[str], float]:
    """A number between `low` (excluded with `above_low`) and `high`."""

    def check(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            raise ArgumentTypeError(f"{text!r} is not a number") from None
        if not math.isfinite(value) or not low <= value <= high or (above_low and value == low):
            start = f"above {low:g} and at most {high:g}" if above_low else _range(low, high)
            raise ArgumentTypeError(f"{text} is not {start}")
        return value

    return check


def _range(low: float, high: float | None) -> str:
    return f"at least {low:g}" if high is None else f"between {low:g} and {high:g}"

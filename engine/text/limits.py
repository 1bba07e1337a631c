"""What one rendering may cost: processor time, size of a value, volume of output."""

from __future__ import annotations

import time
from typing import TypeVar

MAX_SECONDS = 5.0
MAX_VALUE = 8 * 1024 * 1024
MAX_OUTPUT = 32 * 1024 * 1024
_ATOM = 8

T = TypeVar("T")


class LimitExceededError(Exception):
    """A template asked for more than it may have."""


def weigh(value: object, limit: int = MAX_VALUE) -> int:
    """Size of a value when written out, in characters (about), shared parts counted each time.

    Raises `LimitExceededError` beyond `limit`, after work proportional to `limit` at most."""
    total, stack = 0, [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            total += len(item)
        elif isinstance(item, (list, tuple)):
            total += _ATOM * (len(item) + 1)
            if total <= limit:
                stack.extend(item)
        elif isinstance(item, dict):
            total += _ATOM * (len(item) + 1)
            if total <= limit:
                stack.extend(item)
                stack.extend(item.values())
        elif isinstance(item, int):
            total += item.bit_length() // 3
        if total > limit:
            raise LimitExceededError(f"a value of more than {limit:,} characters")
    return total


class Meter:
    """The account of one rendering.

    Processor time of this thread, not the clock: a machine that was suspended or is busy elsewhere is no fault of
    the template's."""

    def __init__(self, seconds: float = MAX_SECONDS, output: int = MAX_OUTPUT) -> None:
        self._seconds = seconds
        self._end = time.thread_time() + seconds
        self._output = output

    def step(self) -> None:
        """One unit of work. Raises `LimitExceededError` when the time is used up."""
        if time.thread_time() > self._end:
            raise LimitExceededError(f"more than {self._seconds:g} s of processor time")

    def emit(self, characters: int) -> None:
        """Output, also into a variable or macro. Raises `LimitExceededError` beyond the volume."""
        self._output -= characters
        if self._output < 0:
            raise LimitExceededError("too much output")

    def hold(self, value: T) -> T:
        """`value`, if it is of bearable size."""
        weigh(value)
        return value

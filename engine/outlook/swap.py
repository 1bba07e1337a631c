"""Whether the machine swaps now."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import NamedTuple

import psutil

from engine.outlook.types import Swapping


class Sample(NamedTuple):
    """Bytes: in use, and moved into and out of memory since the system started."""

    used: int
    into_memory: int
    out_of_memory: int


def swapping(
    window: float, sample: Callable[[], Sample | None] | None = None, sleep: Callable[[float], None] = time.sleep
) -> Swapping | None:
    """What moved within `window` seconds; None where the system does not tell, and without a window."""
    if window <= 0:
        return None
    read = sample or read_swap
    before = read()
    if before is None:
        return None
    sleep(window)
    after = read()
    if after is None:
        return None
    growth = (after.used - before.used) / window
    if sys.platform == "darwin":  # psutil's counters are those of all paging there, reads of files included
        return Swapping(None, None, growth)
    return Swapping(
        max(0, after.into_memory - before.into_memory) / window,
        max(0, after.out_of_memory - before.out_of_memory) / window,
        growth,
    )


def read_swap() -> Sample | None:
    """The counters now."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # psutil warns and reports zeros where the counters cannot be read
            found = psutil.swap_memory()
    except (OSError, RuntimeError, RuntimeWarning):
        return None
    return Sample(int(found.used), int(found.sin), int(found.sout))

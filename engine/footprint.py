"""What this process holds, in bytes: the figure an activity monitor shows, not the allocator's."""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache

import psutil

_RUSAGE_INFO_V0 = 0
_U64_FIELDS = 12
_PHYS_FOOTPRINT = 9  # index of ri_phys_footprint in rusage_info_v0 seen as 64-bit words


def footprint() -> int:
    """Memory that would be free if this process ended.

    Linux: resident pages that are not shared with files. macOS: `phys_footprint`, which includes Metal
    buffers. Elsewhere, or if the system refuses: the resident set.
    """
    memory = _process().memory_info()
    if sys.platform == "darwin":
        return _phys_footprint() or int(memory.rss)
    return int(memory.rss) - int(getattr(memory, "shared", 0))


@cache
def _process() -> psutil.Process:
    return psutil.Process()


def _phys_footprint() -> int:
    words = (ctypes.c_uint64 * _U64_FIELDS)()
    try:
        failed = ctypes.CDLL(None).proc_pid_rusage(os.getpid(), _RUSAGE_INFO_V0, ctypes.byref(words))
    except (OSError, AttributeError):
        return 0
    return 0 if failed else int(words[_PHYS_FOOTPRINT])

"""How much of some files the operating system holds in its page cache."""

from __future__ import annotations

import ctypes
import mmap
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

PROT_READ, MAP_SHARED = 1, 1
FAILED = ctypes.c_void_p(-1).value


def cached_pages(paths: Iterable[Path]) -> int | None:
    """Bytes of `paths` that are in memory now; None where the system does not tell."""
    total = 0
    for path in paths:
        flags = page_flags(path)
        if flags is None:
            return None
        resident = sum(value & 1 for value in flags) if len(flags) < 4096 else _count(flags)
        total += min(resident * mmap.PAGESIZE, path.stat().st_size)
    return total


def page_flags(path: Path) -> bytes | None:
    """A byte for each page of the file, its lowest bit set where the page is in memory, by mincore(2).

    Maps the file without touching it, so asking changes nothing. None where the system does not tell.
    """
    if sys.platform not in ("linux", "darwin"):
        return None
    libc = _libc()
    try:
        with path.open("rb") as file:
            length = path.stat().st_size
            address = libc.mmap(None, length, PROT_READ, MAP_SHARED, file.fileno(), 0)
    except OSError:
        return None
    if address in (None, FAILED):
        return None
    flags = (ctypes.c_ubyte * -(-length // mmap.PAGESIZE))()
    failed = libc.mincore(address, length, flags)
    libc.munmap(address, length)
    return None if failed else bytes(flags)


@cache
def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [
        ctypes.c_void_p,
        ctypes.c_size_t,
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_longlong,
    ]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    libc.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
    return libc


def _count(flags: bytes) -> int:
    """Flags whose lowest bit is set, counted without a Python loop."""
    import numpy as np  # only for large files; keeps this module light for callers without numpy

    return int(np.count_nonzero(np.frombuffer(flags, dtype=np.uint8) & 1))

"""How much of some files the operating system holds in its page cache."""

from __future__ import annotations

import ctypes
import mmap
import sys
from collections.abc import Iterable
from pathlib import Path

PROT_READ, MAP_SHARED = 1, 1
FAILED = ctypes.c_void_p(-1).value


def cached_pages(paths: Iterable[Path]) -> int | None:
    """Bytes of `paths` that are in memory now, by mincore(2); None where the system does not tell.

    Maps the files without touching them, so asking changes nothing.
    """
    if sys.platform not in ("linux", "darwin"):
        return None
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
    total = 0
    for path in paths:
        found = _one(libc, path)
        if found is None:
            return None
        total += found
    return total


def _one(libc: ctypes.CDLL, path: Path) -> int | None:
    try:
        with path.open("rb") as file:
            length = path.stat().st_size
            address = libc.mmap(None, length, PROT_READ, MAP_SHARED, file.fileno(), 0)
    except OSError:
        return None
    if address in (None, FAILED):
        return None
    pages = -(-length // mmap.PAGESIZE)
    flags = (ctypes.c_ubyte * pages)()
    failed = libc.mincore(address, length, flags)
    libc.munmap(address, length)
    if failed:
        return None
    resident = sum(value & 1 for value in bytes(flags)) if pages < 4096 else _count(bytes(flags))
    return min(resident * mmap.PAGESIZE, length)


def _count(flags: bytes) -> int:
    """Flags whose lowest bit is set, counted without a Python loop."""
    import numpy as np  # only for large files; keeps this module light for callers without numpy

    return int(np.count_nonzero(np.frombuffer(flags, dtype=np.uint8) & 1))

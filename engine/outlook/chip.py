"""The processor's name and its cores."""

from __future__ import annotations

import ctypes
import os
import platform
import sys
from pathlib import Path

import psutil

CPUINFO = Path("/proc/cpuinfo")
BOARD = Path("/proc/device-tree/model")


def chip_name() -> str | None:
    """As the system calls it; None where it does not say."""
    if sys.platform == "darwin":
        return _sysctl("machdep.cpu.brand_string")
    if sys.platform == "linux":
        return _cpuinfo() or _board()
    return platform.processor() or None


def cores() -> int | None:
    """Physical cores; None where the system does not say."""
    return psutil.cpu_count(logical=False)


def threads() -> int | None:
    """Logical processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count()


def _cpuinfo() -> str | None:
    """x86 has a line "model name"; arm64 mostly has none."""
    try:
        lines = CPUINFO.read_text(errors="replace").splitlines()
    except OSError:
        return None
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next((name for name in named if name), None)


def _board() -> str | None:
    try:
        return BOARD.read_text(errors="replace").strip("\0 \n") or None
    except OSError:
        return None


def _sysctl(name: str) -> str | None:
    length = ctypes.c_size_t(256)
    text = ctypes.create_string_buffer(length.value)
    try:
        failed = ctypes.CDLL(None).sysctlbyname(name.encode(), text, ctypes.byref(length), None, ctypes.c_size_t(0))
    except (OSError, AttributeError):
        return None
    return None if failed else text.value.decode(errors="replace") or None

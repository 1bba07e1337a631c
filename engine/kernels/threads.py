"""How many threads a product is spread over."""

from __future__ import annotations

import os

import psutil


def physical_cores() -> int:
    """Physical cores this process may run on: two threads of one core share its vector units."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(allowed, psutil.cpu_count(logical=False) or allowed))

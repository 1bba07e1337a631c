"""Gives MLX's Linux build a fast matrix product.

MLX's wheel links the reference BLAS, some sixty times slower than OpenBLAS. `scipy-openblas32` ships an OpenBLAS
that picks its code for the processor it finds, under prefixed names, so it cannot simply be loaded first. Instead
the one function MLX imports for float32, `cblas_sgemm`, is pointed at it: the entry of libmlx's linkage table is
overwritten. That works whether or not MLX was used before, and can be read back at any time.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import struct
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import mlx.core  # noqa: F401 - its library must be loaded before its table can be changed

from engine.kernels.elf import import_slot, mapped
from engine.kernels.threads import physical_cores

_LIBRARY = "libscipy_openblas.so"


@dataclass(frozen=True)
class BlasStatus:
    """What MLX's float32 matrix product runs on. `reason` says why OpenBLAS is not in use, or is empty."""

    in_use: bool
    reason: str = ""
    config: str = ""
    core: str = ""
    threads: int = 0


@cache
def _openblas() -> ctypes.CDLL | None:
    spec = importlib.util.find_spec("scipy_openblas32")
    if spec is None or not spec.submodule_search_locations:
        return None
    # Its idle threads spin by default, for about 20 ms, on the cores our own kernels run on next.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "8")
    library = ctypes.CDLL(str(Path(spec.submodule_search_locations[0]) / "lib" / _LIBRARY))
    library.scipy_openblas_get_config.restype = ctypes.c_char_p
    library.scipy_openblas_get_corename.restype = ctypes.c_char_p
    library.scipy_openblas_set_num_threads(physical_cores())
    return library


@cache
def _slot() -> int | None:
    """Address of libmlx's pointer to cblas_sgemm, if there is one and it can be written."""
    mappings = mapped("libmlx.so")
    offset = import_slot(mappings[0][3], "cblas_sgemm") if mappings else None
    if offset is None:
        return None
    address = min(start for start, *_ in mappings) + offset
    page = address // os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PAGE_SIZE")
    for line in Path("/proc/self/maps").read_text(errors="replace").splitlines():
        span, permissions = line.split(maxsplit=2)[:2]
        start, end = (int(part, 16) for part in span.split("-"))
        if start <= page < end and permissions.startswith("rw"):
            return address
    return None


def _prepared() -> tuple[ctypes.CDLL | None, int | None, str]:
    if sys.platform != "linux":
        return None, None, "MLX brings its own on this system"
    try:
        library, slot = _openblas(), _slot()
    except (OSError, ValueError, struct.error) as error:
        return None, None, str(error)
    if library is None:
        return None, None, "the package scipy-openblas32 is not installed"
    if slot is None:
        return None, None, "this build of MLX does not import cblas_sgemm in a way that can be redirected"
    return library, slot, ""


def install() -> BlasStatus:
    """Points MLX at OpenBLAS. Harmless to repeat; never raises: without it MLX is slow but right."""
    library, slot, _ = _prepared()
    if library is not None and slot is not None:
        target = ctypes.cast(library.scipy_cblas_sgemm, ctypes.c_void_p).value
        ctypes.c_void_p.from_address(slot).value = target
    return status()


def status() -> BlasStatus:
    """Reads back what libmlx will call now."""
    library, slot, reason = _prepared()
    if library is None or slot is None:
        return BlasStatus(False, reason)
    current = ctypes.c_void_p.from_address(slot).value or 0
    if not any(start <= current < end for start, end, *_ in mapped(_LIBRARY)):
        return BlasStatus(False, "MLX's cblas_sgemm points elsewhere")
    return BlasStatus(
        True,
        config=library.scipy_openblas_get_config().decode(),
        core=library.scipy_openblas_get_corename().decode(),
        threads=int(library.scipy_openblas_get_num_threads()),
    )

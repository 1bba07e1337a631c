"""Which implementation this machine uses."""

from __future__ import annotations

import importlib.util
import os
import sys
from functools import cache
from importlib import metadata

import mlx.core as mx

from engine.errors import EngineError, UsageError
from engine.kernels import blas
from engine.kernels.interface import Kernels
from engine.kernels.mlx_kernels import MlxKernels

VARIABLE = "EDGE0_KERNELS"
MLX_MINIMUM = (0, 32, 1)  # interfaces used here; up to 0.30.4 some Apple devices computed wrong numbers


def mlx_version() -> str:
    return metadata.version("mlx")


def check_mlx() -> None:
    """Raises EngineError when the installed MLX is older than what is known to compute correctly."""
    version = tuple(int(part) for part in mlx_version().split("+")[0].split(".")[:3])
    if version < MLX_MINIMUM:
        wanted = ".".join(map(str, MLX_MINIMUM))
        raise EngineError(f"MLX {mlx_version()} is too old.", f"Install mlx {wanted} or newer.")


def choice() -> str:
    """'mlx' or 'cpu': the override in EDGE0_KERNELS, else MLX on Metal and compiled kernels on Linux."""
    override = os.environ.get(VARIABLE, "")
    if override not in ("", "mlx", "cpu"):
        raise UsageError(f"{VARIABLE}={override!r} is not one of mlx, cpu.")
    if override:
        return override
    return "cpu" if sys.platform == "linux" and not mx.metal.is_available() else "mlx"


@cache
def _built(name: str) -> Kernels:
    check_mlx()
    if name == "mlx":
        return MlxKernels(mx.bfloat16 if mx.metal.is_available() else mx.float32)
    if importlib.util.find_spec("numba") is None:
        raise UsageError("The cpu kernels need the package numba.", f"Install it, or unset {VARIABLE}.")
    from engine.kernels.cpu.kernels import CpuKernels

    return CpuKernels()


def get_kernels() -> Kernels:
    """The kernels of this machine, one object per process. Compiling happens on first use or in `warm_up`."""
    return _built(choice())


def _accelerator() -> dict[str, str | int | bool]:
    """What Metal says of the device; nothing where MLX computes on the processor."""
    if not mx.metal.is_available():
        return {}
    info = mx.device_info()
    found: dict[str, str | int | bool] = {"device_name": str(info.get("device_name", "Apple GPU"))}
    limit = info.get("max_recommended_working_set_size")
    if isinstance(limit, int):
        found["working_set_limit"] = limit
    return found


def describe() -> dict[str, str | int | bool]:
    """What `doctor` shows: device, kernels, versions, threads, and whether MLX's own products are fast."""
    name = choice()
    product = blas.status()
    facts: dict[str, str | int | bool] = {
        "kernels": name,
        "device": "metal" if mx.metal.is_available() else "cpu",
        "mlx": mlx_version(),
        "openblas": product.in_use,
        "openblas_reason": product.reason,
        "openblas_config": product.config,
        "openblas_core": product.core,
        "openblas_threads": product.threads,
        "activation_bytes": 2 if mx.metal.is_available() and name == "mlx" else 4,
        **_accelerator(),
    }
    if name == "cpu":
        from engine.kernels.cpu import compiled

        facts.update(
            numba=metadata.version("numba"),
            threads=compiled.threads,
            compiled_cache=str(compiled.cache_directory or "not writable: compiled anew at every start"),
        )
    return facts

"""How the kernels are compiled: explicit signatures, one thread layer, a cache that may be missing or broken."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
import platformdirs

from engine.kernels.threads import physical_cores

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

# The only layer without further libraries. It must not be entered by two threads at once: CpuKernels locks.
numba.config.THREADING_LAYER = "workqueue"
threads = min(physical_cores(), int(numba.config.NUMBA_NUM_THREADS))

# prange only: looking for other parallelism doubles the time to compile.
_PARALLEL = {
    "prange": True, "comprehension": False, "reduction": False, "inplace_binop": False, "setitem": False,
    "numpy": False, "stencil": False, "fusion": False,
}  # fmt: skip
_alive: list[Any] = []  # machine code is freed with its Python object


def _source_hash() -> str:
    """The cache belongs to this code: numba itself only notices changes of a kernel's own file."""
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _cache_directory() -> Path | None:
    """Where compiled kernels are kept, or None when nothing can be written there."""
    base = os.environ.get("NUMBA_CACHE_DIR") or platformdirs.user_cache_path("edge0-tui") / "kernels"
    directory = Path(base) / _source_hash()
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            return directory
    except OSError:
        return None


cache_directory = _cache_directory()
if cache_directory is not None:
    numba.config.CACHE_DIR = str(cache_directory)


def helper(function: F) -> F:
    """A function that kernels of other files call; compiled into them."""
    compiled: F = numba.njit(error_model="numpy")(function)
    return compiled


def _compiled(build: Callable[[bool], T]) -> T:
    """build(cache): from the cache where it can be; what cannot be loaded is thrown away and compiled again."""
    global cache_directory
    if cache_directory is not None:
        try:
            return build(True)
        except Exception:  # noqa: BLE001 - a damaged cache can raise anything while it is unpickled
            shutil.rmtree(cache_directory, ignore_errors=True)
            cache_directory = None
    return build(False)


def compile_callback(function: Callable[..., None], signature: str) -> int:
    """The address of `function` compiled to a plain machine function."""

    def build(cache: bool) -> Any:
        return numba.cfunc(signature, cache=cache)(function)

    callback = _compiled(build)
    _alive.append(callback)
    return int(callback.address)


class Kernel:
    """A function that spreads work over the threads; built by `warm_up` or on first use. Releases the GIL."""

    def __init__(self, function: Callable[..., None], signature: str, fastmath: set[str] | bool = False) -> None:
        self._function = function
        self._signature = signature
        self._fastmath = fastmath
        self._compiled: Any = None

    def warm_up(self) -> None:
        """Compiles, or loads from the cache."""
        if self._compiled is None:
            self._compiled = _compiled(self._build)

    def _build(self, cache: bool) -> Any:
        options = {"parallel": _PARALLEL, "nogil": True, "error_model": "numpy", "fastmath": self._fastmath}
        dispatcher = numba.njit(cache=cache, **options)(self._function)
        dispatcher.compile(self._signature)
        return dispatcher

    def __call__(self, *arguments: Any) -> None:
        self.warm_up()
        numba.set_num_threads(threads)  # numba keeps it per calling thread
        self._compiled(*arguments)

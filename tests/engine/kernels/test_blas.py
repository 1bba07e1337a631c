"""MLX's matrix product is redirected, and the report about it can be believed."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path

import mlx.core as mx
import numpy as np
import pytest

from engine.kernels import blas, elf

linux = pytest.mark.skipif(sys.platform != "linux", reason="MLX's Linux build only")


@linux
def test_mlx_calls_openblas_and_computes_the_same() -> None:
    status = blas.install()
    assert status.in_use, status.reason
    assert "OpenBLAS" in status.config and status.threads >= 1
    a, b = np.random.default_rng(1).standard_normal((2, 70, 70), np.float32)
    np.testing.assert_allclose(np.array(mx.array(a) @ mx.array(b)), a @ b, atol=1e-4)


@linux
def test_products_go_where_the_table_points() -> None:
    """A stand-in put into the same place is what MLX calls: the place is the right one."""
    blas.install()
    slot = blas._slot()
    assert slot is not None
    calls: list[int] = []
    kind = ctypes.CFUNCTYPE(None, *[ctypes.c_int] * 6, ctypes.c_float, *[ctypes.c_void_p, ctypes.c_int] * 2,
                            ctypes.c_float, ctypes.c_void_p, ctypes.c_int)  # fmt: skip
    stand_in = kind(lambda *arguments: calls.append(arguments[3]))
    entry = ctypes.c_void_p.from_address(slot)
    original = entry.value
    try:
        entry.value = ctypes.cast(stand_in, ctypes.c_void_p).value
        mx.eval(mx.ones((3, 4)) @ mx.ones((4, 5)))
        assert blas.status() == blas.BlasStatus(False, "MLX's cblas_sgemm points elsewhere")
    finally:
        entry.value = original
    assert calls == [3]
    assert blas.status().in_use


@linux
def test_without_the_package_mlx_still_works_and_the_report_says_why() -> None:
    script = (
        "import sys; sys.modules['scipy_openblas32'] = None\n"
        "from engine.kernels import blas\n"
        "import mlx.core as mx\n"
        "assert (mx.ones((3, 4)) @ mx.ones((4, 5))).tolist() == [[4.0] * 5] * 3\n"
        "print(blas.status().in_use, blas.status().reason)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False the package scipy-openblas32 is not installed"


@linux
def test_reading_a_library_that_does_not_import_the_function() -> None:
    path = next(line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines() if "libm.so" in line)
    assert elf.import_slot(path, "cblas_sgemm") is None


@linux
def test_a_file_that_is_no_library(tmp_path: Path) -> None:
    path = tmp_path / "x.so"
    path.write_bytes(b"not a library at all")
    assert elf.import_slot(str(path), "cblas_sgemm") is None

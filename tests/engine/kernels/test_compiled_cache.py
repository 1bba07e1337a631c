"""A cache that cannot be written or was damaged costs time, nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = """
from engine.kernels.cpu import compiled
from engine.kernels.cpu.packing import packing
assert packing(8, 128).product != 0
print(compiled.cache_directory)
"""


def compile_one(cache: Path) -> str:
    """Compiles one small function in a fresh process; the cache directory it ended up with."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "-c", SCRIPT]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip()


def test_cache_is_kept_and_survives_damage(tmp_path: Path) -> None:
    used = Path(compile_one(tmp_path))
    written = [path for path in used.rglob("*") if path.suffix in (".nbi", ".nbc")]
    assert tmp_path in used.parents and {path.suffix for path in written} == {".nbi", ".nbc"}
    for path in written:
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert compile_one(tmp_path) == "None"  # thrown away, compiled without
    assert not any(path.exists() for path in written)
    assert compile_one(tmp_path) == str(used)


def test_cache_that_cannot_be_written(tmp_path: Path) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("a file where the directory should be")
    assert compile_one(blocker) == "None"

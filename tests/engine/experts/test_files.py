"""Files are opened once, their changes noticed, and the page cache left alone unless asked otherwise."""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
from pathlib import Path

import pytest

from engine.errors import CheckpointError
from engine.experts.files import FileSet
from engine.experts.scatter import Run, read_run

PAGES = 64


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "shard.bin"
    path.write_bytes(b"x" * PAGES * mmap.PAGESIZE)
    return path


def test_a_file_is_opened_once(path: Path) -> None:
    files = FileSet()
    first = files.descriptor(path)
    path.unlink()
    assert files.descriptor(path) == first
    files.close()
    with pytest.raises(OSError):
        os.fstat(first)
    with pytest.raises(CheckpointError, match=r"shard\.bin.*closed"):
        files.descriptor(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"nowhere\.bin: cannot be opened: No such file"):
        FileSet().descriptor(tmp_path / "nowhere.bin")


@pytest.mark.parametrize("change", ["truncated", "rewritten"])
def test_a_change_in_place_is_noticed(path: Path, change: str) -> None:
    files = FileSet()
    files.descriptor(path)
    files.check_unchanged()
    if change == "truncated":
        os.truncate(path, 100)
    else:
        path.write_bytes(b"y" * PAGES * mmap.PAGESIZE)
        os.utime(path, ns=(0, 1))
    with pytest.raises(CheckpointError, match=r"shard\.bin: changed while it was in use"):
        files.check_unchanged()
    files.close()


@pytest.mark.skipif(sys.platform != "linux", reason="mincore as Linux has it")
@pytest.mark.parametrize("keep", [True, False])
def test_page_cache_is_kept_or_dropped(path: Path, keep: bool) -> None:
    descriptor = os.open(path, os.O_RDWR)
    os.fsync(descriptor)
    files = FileSet(keep_cache=keep)
    read_run(files, Run(path, 0, (memoryview(bytearray(PAGES * mmap.PAGESIZE)),)))
    files.close()
    cached = _cached_pages(descriptor)
    os.close(descriptor)
    assert cached == (PAGES if keep else 0)


def _cached_pages(descriptor: int) -> int:
    """How many pages of the file the system holds, by mincore."""
    with mmap.mmap(descriptor, 0) as mapped:
        byte = ctypes.c_char.from_buffer(mapped)
        pages = (ctypes.c_ubyte * PAGES)()
        failed = ctypes.CDLL(None).mincore(
            ctypes.c_void_p(ctypes.addressof(byte)), ctypes.c_size_t(PAGES * mmap.PAGESIZE), pages
        )
        del byte
    assert not failed
    return sum(page & 1 for page in pages)

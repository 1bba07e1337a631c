"""The disk probe against the kernel's own counters; nothing is read twice, nothing stays."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from engine.cached_pages import cached_pages
from engine.checkpoint.records import ByteRange
from engine.checkpoint.synthetic import tiny, write_synthetic
from engine.errors import EngineError
from engine.outlook import cold, disk_probe
from engine.outlook.cold import LEAST_RECORDS, Record, cold_records, temporary_records
from engine.outlook.disk_probe import DEPTHS, probe_disk
from engine.outlook.model import open_model
from engine.outlook.types import DiskSpeed
from engine.outlook.volume import volume_of

PIECES = (65536, 65536, 4096, 4096, 4096, 4096, 65536, 4096, 4096)
IO = Path("/proc/self/io")


def read_bytes() -> int:
    """Bytes this process has caused to be fetched from storage, as the kernel counts."""
    lines = dict(line.split(": ") for line in IO.read_text().splitlines())
    return int(lines["read_bytes"])


@pytest.fixture
def on_disk(tmp_path: Path) -> Path:
    """A folder whose reads the kernel counts and whose pages can be dropped."""
    if sys.platform != "linux" or not IO.exists():
        pytest.skip("/proc/self/io counts what is read from storage on Linux only")
    file = tmp_path / "counted"
    with file.open("wb+", buffering=0) as opened:
        opened.write(os.urandom(1 << 20))
        os.fsync(opened.fileno())
        os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        before = read_bytes()
        os.pread(opened.fileno(), 1 << 20, 0)
    if read_bytes() - before < 1 << 20:
        kind = volume_of(tmp_path).file_system or "this file system"
        pytest.skip(f"reads on {kind} are not counted as storage's")
    return tmp_path


def test_a_temporary_file_is_read_once_and_gone(on_disk: Path) -> None:
    before, files = read_bytes(), set(on_disk.iterdir())
    speed = probe_disk(on_disk, PIECES, seconds=5.0)
    counted = read_bytes() - before
    expected = len(DEPTHS) * LEAST_RECORDS * sum(PIECES)
    assert speed.bytes == expected and speed.source == "temporary file"
    # Beside the rates: the records that are then read from the page cache, and what the system reads ahead.
    assert expected <= counted <= 1.5 * expected
    assert [depth for depth, _ in speed.rates] == list(DEPTHS)
    assert all(rate > 0 for _, rate in speed.rates) and speed.cached > 0 and speed.cpu > 0
    assert set(on_disk.iterdir()) == files


def test_a_checkpoints_own_records_outside_the_page_cache(on_disk: Path) -> None:
    path = write_synthetic(on_disk / "model", tiny(), seed=3)
    shards = open_model(path).checkpoint.files.shards
    for shard in shards:
        descriptor = os.open(shard, os.O_RDWR)
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)
    model = open_model(path)  # reading the headers brings their pages back
    found = cold_records(model.checkpoint.records, 1000, seed=1)
    assert 0 < len(found) <= 8 * 16 and len(set(found)) == len(found)
    span = found[0][0]
    with span.path.open("rb") as file:
        os.pread(file.fileno(), span.nbytes, span.offset)
    assert found[0] not in cold_records(model.checkpoint.records, 1000)
    assert len(cold_records(model.checkpoint.records, 3)) <= 3


def test_records_given_are_read_and_dropped_again(on_disk: Path) -> None:
    count = len(DEPTHS) * LEAST_RECORDS + disk_probe.CACHED
    with temporary_records(on_disk, PIECES, count) as records:
        before = read_bytes()
        speed = probe_disk(on_disk, PIECES, records, seconds=5.0)
        assert speed.source == "checkpoint"
        assert speed.bytes <= read_bytes() - before <= 1.5 * speed.bytes
        left = cached_pages([records[0][0].path])
        assert left is not None and left < speed.bytes / 10  # what the system read ahead


class SlowRecord(tuple[ByteRange, ...]):
    """Takes 50 ms to be looked up, which a reader does."""

    def __iter__(self) -> Iterator[ByteRange]:
        if threading.current_thread().name.startswith("probe"):
            time.sleep(0.05)
        return super().__iter__()


def test_it_takes_a_bounded_time_and_amount(on_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = disk_probe._measure

    def late(records: Sequence[Record], *rest: Any) -> DiskSpeed:
        return read([SlowRecord(record) for record in records], *rest)

    monkeypatch.setattr(disk_probe, "_measure", late)
    began = time.monotonic()
    speed = probe_disk(on_disk, PIECES, seconds=0.1)
    assert time.monotonic() - began < 4
    one, eight = speed.rates[0][1], speed.rates[3][1]
    assert sum(PIECES) / 0.2 < one < sum(PIECES) / 0.05  # a record every 50 ms and a little
    assert eight > 3 * one


def test_a_full_or_read_only_volume_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(cold, "SPARE_BYTES", 1 << 60)
        with pytest.raises(EngineError, match="too little to measure") as refused:
            probe_disk(tmp_path, PIECES)
    assert str(tmp_path) in str(refused.value)

    def denied(**_: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(tempfile, "mkstemp", denied)
    with pytest.raises(EngineError, match="Read-only file system"):
        probe_disk(tmp_path, PIECES)


def test_a_file_system_in_memory_is_no_disk() -> None:
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK) or volume_of(memory).file_system != "tmpfs":
        pytest.skip("there is no tmpfs at /dev/shm")
    before = set(memory.iterdir())
    with pytest.raises(EngineError, match="keeps its files in memory"):
        probe_disk(memory, PIECES)
    assert not {path for path in set(memory.iterdir()) - before if path.name.startswith(".edge0-probe")}

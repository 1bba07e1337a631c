"""How fast a volume gives whole records at random places, at several reads in flight. No MLX.

No byte is read twice for a rate, and none that the page cache holds: a checkpoint's records that are not in it, or
those of a temporary file. What was read is dropped from the cache again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from engine.errors import EngineError
from engine.experts.readers import ReaderPool
from engine.outlook.cold import LEAST_RECORDS, Record, temporary_records
from engine.outlook.types import DiskSpeed

DEPTHS = (1, 2, 4, 8, 16)
MOST_BYTES = 128 << 20
"""Read for one depth, so that a fast disk is not kept busy for a figure."""
SECONDS = 0.4
"""For one depth: some twenty records on a slow disk."""
CACHED = 8
"""Records that are read again, from the page cache; also the reads in flight then, as in the engine."""
PUBLISHED_35B = (524288, 524288, 32768, 32768, 32768, 32768, 524288, 32768, 32768)
"""Bytes of the pieces of a record of the 35B, for a volume without a checkpoint."""

Progress = Callable[[str], None]


def most_records(size: int, most_bytes: int = MOST_BYTES) -> int:
    """Records of `size` bytes that a whole measurement can use."""
    return len(DEPTHS) * max(LEAST_RECORDS, most_bytes // size) + CACHED


def probe_disk(
    folder: Path,
    pieces: Sequence[int] = PUBLISHED_35B,
    records: Sequence[Record] = (),
    *,
    seconds: float = SECONDS,
    most_bytes: int = MOST_BYTES,
    progress: Progress = lambda text: None,
) -> DiskSpeed:
    """Measure the volume of the existing `folder` with records of `pieces` bytes each.

    `records` are those of a checkpoint there that are not in the page cache, distinct; when they are fewer than a
    measurement needs, a temporary file is written. Raises EngineError when the volume cannot be measured: full,
    read-only, or kept in memory.
    """
    if len(records) >= len(DEPTHS) * LEAST_RECORDS:
        return _measure(records, "checkpoint", seconds, most_bytes, progress)
    progress(f"writing a temporary file to {folder}")
    with temporary_records(folder, pieces, len(DEPTHS) * LEAST_RECORDS + CACHED) as written:
        return _measure(written, "temporary file", seconds, most_bytes, progress)


def _measure(
    records: Sequence[Record], source: str, seconds: float, most_bytes: int, progress: Progress
) -> DiskSpeed:
    size, share = sum(span.nbytes for span in records[0]), (len(records) - CACHED) // len(DEPTHS)
    share = min(share, max(LEAST_RECORDS, most_bytes // size))
    rates, total, processor = [], 0, 0.0
    for index, depth in enumerate(DEPTHS):
        progress(f"reading records, {depth} at a time")
        began = time.process_time()
        nbytes, elapsed = _read(records[index * share : (index + 1) * share], depth, seconds)
        processor += time.process_time() - began
        rates.append((depth, nbytes / elapsed))
        total += nbytes
    last = records[len(DEPTHS) * share :][:CACHED]
    return DiskSpeed(
        rates=tuple(rates),
        cached=_cached(last),
        cpu=processor / total,
        record=size,
        pieces=len(records[0]),
        bytes=total,
        measured=time.time(),
        source=source,
    )


def _read(records: Sequence[Record], depth: int, seconds: float) -> tuple[int, float]:
    """Bytes read and the seconds it took, stopped after about `seconds`; the first read always ends."""
    pool = ReaderPool(depth, keep_cache=False, name="probe")
    try:
        buffers = [_buffer(records[0]) for _ in range(depth)]
        began = time.perf_counter()
        jobs = [pool.submit(lambda r=r: r, buffers[i % depth]) for i, r in enumerate(records)]  # type: ignore[misc]
        for job in jobs:
            pool.wait([job])
            job.check()
            if time.perf_counter() - began > seconds:
                break
        # What is running is waited for and counted, so that the rate is that of `depth` reads all along.
        pool.wait([job for job in jobs if not pool.cancel(job)])
        elapsed = time.perf_counter() - began
        return pool.stats().nbytes, max(elapsed, 1e-9)
    except OSError as error:
        raise EngineError(f"the disk cannot be measured: {error}") from error
    finally:
        pool.close()


def _cached(records: Sequence[Record], repeats: int = 4) -> float:
    """Bytes a second from the page cache."""
    pool = ReaderPool(CACHED, name="probe")
    try:
        buffers = [_buffer(record) for record in records]
        rates = []
        for _ in range(repeats):
            before, began = pool.stats().nbytes, time.perf_counter()
            pool.wait([pool.submit(lambda r=r: r, b) for r, b in zip(records, buffers, strict=True)])  # type: ignore[misc]
            rates.append((pool.stats().nbytes - before) / (time.perf_counter() - began))
        return max(rates[1:])  # the first one came from the disk
    finally:
        pool.files.keep_cache = False
        for record in records:
            for span in record:
                pool.files.drop(pool.files.descriptor(span.path), span.offset, span.nbytes)
        pool.close()


def _buffer(record: Record) -> list[memoryview]:
    return [memoryview(bytearray(span.nbytes)) for span in record]

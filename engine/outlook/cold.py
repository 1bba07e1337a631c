"""Records that are on the disk and not in memory: a checkpoint's, or a temporary file's."""

from __future__ import annotations

import mmap
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from engine.cached_pages import page_flags
from engine.checkpoint.records import ByteRange, Records
from engine.errors import EngineError

Record = tuple[ByteRange, ...]

BLOCK = 4 << 20
SPARE_BYTES = 256 << 20
"""What a temporary file leaves free on its volume."""
LEAST_RECORDS = 24
SECONDS_OF_WRITING = 3.0


def cold_records(records: Records, most: int, seed: int | None = None) -> list[Record]:
    """At most `most` records of a checkpoint in random order, none with a byte in the page cache.

    Empty where the system does not tell what is cached.
    """
    chosen = random.Random(seed)
    pairs = [(layer, expert) for layer in records.layers for expert in range(records.num_experts)]
    chosen.shuffle(pairs)
    flags: dict[Path, bytes | None] = {}
    found: list[Record] = []
    for layer, expert in pairs:
        ranges = records.ranges(layer, expert)
        for span in ranges:
            if span.path not in flags:
                flags[span.path] = page_flags(span.path)
        if all(_outside(flags[span.path], span) for span in ranges):
            found.append(ranges)
            if len(found) == most:
                break
    return found


def _outside(flags: bytes | None, span: ByteRange) -> bool:
    """Whether no page of the range is in memory, as far as can be told."""
    if flags is None:
        return False
    first, last = span.offset // mmap.PAGESIZE, (span.offset + span.nbytes - 1) // mmap.PAGESIZE
    return last < len(flags) and not any(value & 1 for value in flags[first : last + 1])


@contextmanager
def temporary_records(folder: Path, pieces: Sequence[int], count: int) -> Iterator[list[Record]]:
    """Up to `count` records of `pieces` in a temporary file of `folder`, in random order and out of the page cache.

    Like a checkpoint's, the pieces of a record lie far apart. Raises EngineError when the file cannot be written
    or its pages stay in memory.
    """
    free = shutil.disk_usage(folder).free
    count = min(count, (free - SPARE_BYTES) // sum(pieces))
    if count < LEAST_RECORDS:
        raise EngineError(f"{folder}: {free >> 20} MiB free, too little to measure the disk.", "Free some space.")
    try:
        descriptor, name = tempfile.mkstemp(prefix=".edge0-probe-", dir=folder)
    except OSError as error:
        raise EngineError(f"{folder}: the disk cannot be measured: {error.strerror}.") from error
    path = Path(name)
    try:
        written = _fill(descriptor, count * sum(pieces))
        # A slow disk gets a smaller file; the records are laid out in what is there.
        yield _layout(path, pieces, written // sum(pieces))
    except OSError as error:
        raise EngineError(f"{folder}: the disk cannot be measured: {error.strerror}.") from error
    finally:
        os.close(descriptor)
        path.unlink(missing_ok=True)


def _fill(descriptor: int, nbytes: int) -> int:
    """Random bytes, because a file system may compress; synced and dropped. → bytes written."""
    import time

    if sys.platform == "darwin":
        import fcntl

        fcntl.fcntl(descriptor, fcntl.F_NOCACHE, 1)
    began, written = time.monotonic(), 0
    while written < nbytes and time.monotonic() - began < SECONDS_OF_WRITING:
        written += os.write(descriptor, os.urandom(min(BLOCK, nbytes - written)))
        if written % (8 * BLOCK) == 0:
            os.fsync(descriptor)  # so that the time spent is the disk's, not that of a buffer
    os.fsync(descriptor)
    if sys.platform == "linux":
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    return written


def _layout(path: Path, pieces: Sequence[int], count: int) -> list[Record]:
    starts = [sum(pieces[:i]) * count for i in range(len(pieces))]
    records = [
        tuple(ByteRange(path, start + index * size, size) for start, size in zip(starts, pieces, strict=True))
        for index in range(count)
    ]
    flags = page_flags(path)
    if flags is not None:
        records = [record for record in records if all(_outside(flags, span) for span in record)]
    if len(records) < LEAST_RECORDS:
        raise EngineError(
            f"{path.parent}: this file system keeps its files in memory, so there is no disk to measure."
        )
    random.shuffle(records)
    return records

"""Positional reads straight into memory, in as few system calls as the ranges allow."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.errors import CheckpointError
from engine.experts.files import FileSet
from engine.experts.record import PIECES, ByteRange


@dataclass(frozen=True)
class Run:
    """A stretch of one file that lands in several views, one after the other."""

    path: Path
    offset: int
    views: tuple[memoryview, ...]

    @property
    def nbytes(self) -> int:
        return sum(len(view) for view in self.views)


def merge(ranges: Sequence[ByteRange], views: Sequence[memoryview]) -> list[Run]:
    """Pair ranges with their views and join neighbours that are contiguous in the file.

    Raises CheckpointError when a range is not exactly as long as its view.
    """
    if len(ranges) != len(views):
        raise CheckpointError(f"an expert has {len(ranges)} byte ranges, {len(views)} were expected")
    runs: list[Run] = []
    for index, (span, view) in enumerate(zip(ranges, views, strict=True)):
        if span.nbytes != len(view):
            piece = PIECES[index] if len(views) == len(PIECES) else f"piece {index}"
            raise CheckpointError(f"{span.path}: {piece} has {span.nbytes} bytes, {len(view)} were expected")
        last = runs[-1] if runs else None
        if last and last.path == span.path and last.offset + last.nbytes == span.offset:
            runs[-1] = Run(last.path, last.offset, (*last.views, view))
        else:
            runs.append(Run(span.path, span.offset, (view,)))
    return runs


def read_run(files: FileSet, run: Run) -> int:
    """Fill the run's views and return the bytes read. Short reads are continued.

    Raises CheckpointError naming file and offset when the file ends early or cannot be read.
    """
    descriptor = files.descriptor(run.path)
    views, done = list(run.views), 0
    while views:
        try:
            count = os.preadv(descriptor, views, run.offset + done)
        except InterruptedError:
            continue
        except OSError as error:
            raise CheckpointError(
                f"{run.path}: reading at byte {run.offset + done} failed: {error.strerror}"
            ) from error
        if count == 0:
            raise CheckpointError(
                f"{run.path}: the file ends at byte {os.fstat(descriptor).st_size}, "
                f"{run.nbytes} bytes from byte {run.offset} on were expected",
                "The file is truncated: verify the checkpoint.",
            )
        done += count
        views = _rest(views, count)
    files.drop(descriptor, run.offset, done)
    return done


def _rest(views: list[memoryview], count: int) -> list[memoryview]:
    """What remains to be filled after `count` bytes."""
    for index, view in enumerate(views):
        if count < len(view):
            return [view[count:], *views[index + 1 :]]
        count -= len(view)
    return []

"""Positional reads: merged where the file allows, continued when short, refused when the file is wrong."""

from __future__ import annotations

import errno
import itertools
import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import CheckpointError
from engine.experts.files import FileSet
from engine.experts.record import ByteRange
from engine.experts.scatter import Run, merge, read_run

CONTENT = bytes(range(251)) * 8


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "shard.bin"
    path.write_bytes(CONTENT)
    return path


def views(*sizes: int) -> list[memoryview]:
    return [memoryview(bytearray(size)) for size in sizes]


@given(spans=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 60), st.integers(1, 9)), min_size=1, max_size=9))
def test_merged_runs_cover_the_same_bytes_in_the_same_views(spans: list[tuple[int, int, int]]) -> None:
    ranges = [ByteRange(Path(f"{name}"), offset, size) for name, offset, size in spans]
    targets = views(*(span.nbytes for span in ranges))
    runs = merge(ranges, targets)
    flat = []
    for run in runs:
        at = run.offset
        for view in run.views:
            flat.append((ByteRange(run.path, at, len(view)), view))
            at += len(view)
    assert [span for span, _ in flat] == ranges
    assert all(view is target for (_, view), target in zip(flat, targets, strict=True))
    for first, second in itertools.pairwise(runs):
        assert (first.path, first.offset + first.nbytes) != (second.path, second.offset)


def test_contiguous_ranges_are_one_system_call(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    real = os.preadv

    def counting(descriptor: int, buffers: Sequence[memoryview], offset: int) -> int:
        calls.append(offset)
        return real(descriptor, buffers, offset)

    monkeypatch.setattr(os, "preadv", counting)
    targets = views(10, 20, 30)
    files = FileSet()
    for run in merge([ByteRange(path, 3, 10), ByteRange(path, 13, 20), ByteRange(path, 101, 30)], targets):
        read_run(files, run)
    files.close()
    assert calls == [3, 101]
    assert [bytes(view) for view in targets] == [CONTENT[3:13], CONTENT[13:33], CONTENT[101:131]]


@pytest.mark.parametrize("step", [1, 7, 64])
def test_short_reads_are_continued_and_interruptions_survived(
    path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    real = os.preadv
    interrupt = iter([True, False] * 2000)

    def short(descriptor: int, buffers: Sequence[memoryview], offset: int) -> int:
        if next(interrupt):
            raise InterruptedError
        return real(descriptor, [buffers[0][:step]], offset)

    monkeypatch.setattr(os, "preadv", short)
    targets, files = views(10, 200, 3), FileSet()
    assert read_run(files, Run(path, 5, tuple(targets))) == 213
    files.close()
    assert b"".join(targets) == CONTENT[5:218]


def test_a_truncated_file_is_named_with_the_offset(path: Path) -> None:
    files = FileSet()
    with pytest.raises(CheckpointError, match=rf"{path}.*ends at byte {len(CONTENT)}.*60 bytes from byte 1990"):
        read_run(files, Run(path, 1990, tuple(views(30, 30))))
    files.close()


def test_an_input_error_is_named_with_the_offset(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(descriptor: int, buffers: Sequence[memoryview], offset: int) -> int:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "preadv", failing)
    files = FileSet()
    with pytest.raises(CheckpointError, match=rf"{path}.*byte 77.*Input/output error"):
        read_run(files, Run(path, 77, tuple(views(5))))
    files.close()


def test_ranges_that_do_not_fit_are_refused(path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"shard\.bin.*has 9 bytes, 10 were expected"):
        merge([ByteRange(path, 0, 9)], views(10))
    with pytest.raises(CheckpointError, match="1 byte ranges, 2"):
        merge([ByteRange(path, 0, 9)], views(9, 9))

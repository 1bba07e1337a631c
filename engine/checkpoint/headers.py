"""The safetensors header, read by ourselves: bounded, and generic about order, padding and alignment.

Layout of a file: 8 bytes N (little-endian), N bytes of JSON (name → dtype, shape, data_offsets; possibly padded
with spaces; N may be odd), then the data. Offsets in the JSON count from the first data byte.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.checkpoint.faults import fault
from engine.checkpoint.header_entries import Entry, check_entry, check_layout
from engine.checkpoint.regular import read_range, size_of
from engine.checkpoint.strict_json import JsonObject, parse_object

# All headers of the released 35B together have 0.2 MB; hostile JSON can cost thirty times its size in memory.
MAX_HEADER_BYTES = 4 << 20
MAX_TENSORS = 1 << 16


@dataclass(frozen=True)
class TensorInfo:
    """One tensor of one file: `offset` is absolute in the file, `shape` row-major, `nbytes` = its size there."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    path: Path
    offset: int
    nbytes: int


@dataclass(frozen=True)
class Header:
    """A file's tensors by name (in the header's order) and its string metadata."""

    path: Path
    data_start: int
    tensors: Mapping[str, TensorInfo]
    metadata: Mapping[str, str]


def read_header(path: Path) -> Header:
    """The header of the safetensors file `path`, completely checked against the file's size.

    Raises CheckpointError naming the file, and the tensor where one is at fault.
    """
    size = size_of(path)
    if size < 8:
        raise fault(path, f"is no safetensors file: {size} bytes")
    length_bytes = bytearray(8)
    read_range(path, 0, memoryview(length_bytes))
    length = int.from_bytes(length_bytes, "little")
    if not 2 <= length <= MAX_HEADER_BYTES:
        raise fault(path, f"declares a header of {length:,} bytes (accepted: 2 to {MAX_HEADER_BYTES:,})")
    if 8 + length > size:
        raise fault(path, f"is truncated: header of {length:,} bytes in a file of {size:,}")
    text = bytearray(length)
    read_range(path, 8, memoryview(text))
    return _checked(path, parse_object(bytes(text), path, "the header"), 8 + length, size)


def _checked(path: Path, raw: JsonObject, start: int, size: int) -> Header:
    metadata = _metadata(path, raw.pop("__metadata__", None))
    if len(raw) > MAX_TENSORS:
        raise fault(path, f"declares {len(raw):,} tensors (accepted: {MAX_TENSORS:,})")
    entries = [check_entry(path, name, value, size - start) for name, value in raw.items()]
    check_layout(path, entries, size - start)
    return Header(path, start, {e.name: _info(path, e, start) for e in entries}, metadata)


def _info(path: Path, entry: Entry, start: int) -> TensorInfo:
    return TensorInfo(entry.name, entry.dtype, entry.shape, path, start + entry.begin, entry.end - entry.begin)


def _metadata(path: Path, raw: object) -> dict[str, str]:
    if raw is None:
        return {}
    if not isinstance(raw, dict) or not all(isinstance(value, str) for value in raw.values()):
        raise fault(path, "the header's __metadata__ is not a table of strings")
    return raw

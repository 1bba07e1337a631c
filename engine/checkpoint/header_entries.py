"""The entries of a safetensors header: each one's type, shape and place, and that all of them tile the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path

from engine.checkpoint.dtypes import ITEM_BYTES
from engine.checkpoint.faults import fault, shown

MAX_RANK = 8
MAX_NAME = 512
_MAX_SIZE = 1 << 48


@dataclass(frozen=True)
class Entry:
    """One header entry; `begin` and `end` count from the first data byte."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


def check_entry(path: Path, name: str, raw: object, data_bytes: int) -> Entry:
    """The entry `name` of a file with `data_bytes` bytes of data. Raises CheckpointError."""
    if not name or len(name) > MAX_NAME:
        raise fault(path, f"a tensor's name has {len(name)} characters (accepted: 1 to {MAX_NAME})", tensor=name)
    if not isinstance(raw, dict):
        raise fault(path, "its header entry is not an object", tensor=name)
    dtype = raw.get("dtype")
    if not isinstance(dtype, str) or dtype not in ITEM_BYTES:
        raise fault(path, f"has the unknown element type {shown(str(dtype))}", tensor=name)
    shape = _sizes(raw.get("shape"))
    if shape is None or len(shape) > MAX_RANK:
        raise fault(path, "its shape is not a short list of sizes", tensor=name)
    offsets = _sizes(raw.get("data_offsets"))
    if offsets is None or len(offsets) != 2 or offsets[0] > offsets[1]:
        raise fault(path, "its data_offsets are not a range", tensor=name)
    begin, end = offsets
    needed = prod(shape) * ITEM_BYTES[dtype]
    if end - begin != needed:
        raise fault(path, f"{dtype} {list(shape)} needs {needed:,} bytes, not {end - begin:,}", tensor=name)
    if end > data_bytes:
        raise fault(path, f"the file is truncated: it ends {end - data_bytes:,} bytes too early", tensor=name)
    return Entry(name, dtype, shape, begin, end)


def check_layout(path: Path, entries: Sequence[Entry], data_bytes: int) -> None:
    """Entries must follow one another without overlap or gap up to the file's end, as the format demands."""
    position = 0
    previous = ""
    for entry in sorted(entries, key=lambda e: (e.begin, e.end)):
        if entry.begin < position:
            raise fault(path, f"overlaps with tensor {shown(previous)}", tensor=entry.name)
        if entry.begin > position:
            raise fault(path, f"{entry.begin - position:,} bytes before it belong to no tensor", tensor=entry.name)
        position, previous = entry.end, entry.name
    if position != data_bytes:
        raise fault(path, f"{data_bytes - position:,} bytes at its end belong to no tensor")


def _sizes(raw: object) -> tuple[int, ...] | None:
    if not isinstance(raw, list):
        return None
    # bool is an int to Python, but not to the format
    if not all(type(value) is int and 0 <= value <= _MAX_SIZE for value in raw):
        return None
    return tuple(raw)

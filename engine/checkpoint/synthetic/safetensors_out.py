"""Writes a safetensors file front to back, from pieces, without ever holding it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from engine.checkpoint.expected import ExpectedTensor
from engine.checkpoint.synthetic.words import Bytes

Padding = Literal["odd", "eight"]
Progress = Callable[[int], None]


def header_bytes(tensors: Sequence[ExpectedTensor], metadata: Mapping[str, str], padding: Padding) -> bytes:
    """The length word and the JSON, padded with spaces to an odd length or so that data starts 8-byte aligned."""
    table: dict[str, object] = {"__metadata__": dict(metadata)} if metadata else {}
    position = 0
    for tensor in tensors:
        offsets = [position, position + tensor.nbytes]
        table[tensor.name] = {"dtype": tensor.dtype, "shape": list(tensor.shape), "data_offsets": offsets}
        position += tensor.nbytes
    text = json.dumps(table, separators=(",", ":") if padding == "odd" else None).encode()
    text += b" " * ((len(text) + 1) % 2 if padding == "odd" else -len(text) % 8)
    return len(text).to_bytes(8, "little") + text


def write_file(
    path: Path,
    tensors: Sequence[ExpectedTensor],
    content: Callable[[ExpectedTensor], Iterable[Bytes]],
    metadata: Mapping[str, str],
    padding: Padding,
    progress: Progress,
) -> None:
    """Write `tensors` in order. `content` must give exactly a tensor's bytes; ValueError otherwise."""
    with path.open("wb", buffering=0) as file:
        _all(file.write, memoryview(header_bytes(tensors, metadata, padding)))
        for tensor in tensors:
            written = 0
            for piece in content(tensor):
                written += _all(file.write, piece.data)
                progress(piece.nbytes)
            if written != tensor.nbytes:
                raise ValueError(f"{tensor.name}: {written} bytes made, {tensor.nbytes} promised")


def _all(write: Callable[[memoryview], int | None], data: memoryview) -> int:
    done = 0
    while done < data.nbytes:
        done += write(data[done:]) or 0
    return done

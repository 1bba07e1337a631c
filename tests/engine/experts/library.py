"""Small checkpoints of random experts in the published layout: stacked tensors at odd offsets, in two files."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from engine.experts.arena import Arena
from engine.experts.record import ByteRange, Key, RecordShape

SHAPE = RecordShape(hidden=64, intermediate=32, bits=4, group_size=32)


class Library:
    """Files under `directory` with `layers` layers of `experts` experts, and the bytes each must give."""

    def __init__(self, directory: Path, layers: int = 3, experts: int = 8, shape: RecordShape = SHAPE) -> None:
        self.shape = shape
        self.layers = list(range(1, layers + 1))
        self.experts = experts
        self.records: dict[Key, bytes] = {}
        self._ranges: dict[Key, list[ByteRange]] = {}
        rng = np.random.default_rng(0)
        self.paths = [directory / "a.bin", directory / "b.bin"]
        contents = [bytearray(rng.bytes(odd)) for odd in (13, 1001)]
        for layer in self.layers:
            tensors = [rng.bytes(size * experts) for size in shape.pieces]
            spots: list[tuple[int, int]] = [(0, 0)] * len(tensors)
            # Written down first, as sorted tensor names would have it, and spread over both files.
            for piece in reversed(range(len(tensors))):
                which = (layer + piece // 6) % 2
                spots[piece] = which, len(contents[which])
                contents[which] += tensors[piece]
            for expert in range(experts):
                spans = [
                    ByteRange(self.paths[which], start + expert * size, size)
                    for (which, start), size in zip(spots, shape.pieces, strict=True)
                ]
                self._ranges[layer, expert] = spans
                self.records[layer, expert] = b"".join(
                    tensor[expert * size : (expert + 1) * size]
                    for tensor, size in zip(tensors, shape.pieces, strict=True)
                )
        for path, content in zip(self.paths, contents, strict=True):
            path.write_bytes(content)

    def ranges(self, layer: int, expert: int) -> list[ByteRange]:
        return self._ranges[layer, expert]


def held(arena: Arena, slot: int) -> bytes:
    """The bytes in a slot, in the order of a record."""
    return b"".join(bytes(view) for view in arena.destinations(slot))

"""Seeded random bytes: small amounts drawn, large ones cut from one big tile."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cached_property

import numpy as np
import numpy.typing as npt

# Larger than any tensor of the 35B (128 MiB), so that no two experts of a layer are alike.
TILE_BYTES = (256 << 20) + 4093
DRAWN_BYTES = 16 << 20
CHUNK_BYTES = 32 << 20

Bytes = npt.NDArray[np.uint8]


class Randomness:
    """Everything random in one checkpoint: a function of the seed and a tensor's name only."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def _key(self, name: str) -> int:
        return int.from_bytes(hashlib.sha256(f"{self.seed}/{name}".encode()).digest()[:16], "little")

    def generator(self, name: str) -> np.random.Generator:
        """A generator of its own for `name`."""
        return np.random.Generator(np.random.SFC64(self._key(name)))

    @cached_property
    def _tile(self) -> Bytes:
        return np.frombuffer(self.generator("tile").bytes(TILE_BYTES), dtype=np.uint8)

    def chunks(self, name: str, nbytes: int) -> Iterator[Bytes]:
        """`nbytes` random bytes in pieces; the same for the same seed and name."""
        if nbytes <= DRAWN_BYTES:
            yield np.frombuffer(self.generator(name).bytes(nbytes), dtype=np.uint8)
            return
        position = self._key(name) % TILE_BYTES
        while nbytes:
            take = min(nbytes, CHUNK_BYTES, TILE_BYTES - position)
            yield self._tile[position : position + take]
            nbytes -= take
            position = (position + take) % TILE_BYTES

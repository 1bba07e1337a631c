"""Experts that are always in memory: what a layer's arithmetic takes when nothing has to be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from engine.experts.arena import Arena
from engine.experts.layer_pass import Group
from engine.experts.record import RecordShape
from engine.experts.ticket import Ticket
from engine.plan import STAGING_GROUP


class ResidentExperts:
    """Stands where the streamer stands. Expert numbers go round the slots, so that weights come from memory and
    not from the processor's cache."""

    def __init__(self, shape: RecordShape, slots: int) -> None:
        self.arena = Arena(shape, slots)
        random = np.random.default_rng(2)
        # One record's random bytes for all: scales are bfloat16, whose exponent must stay small.
        for slot in range(slots):
            for index, view in enumerate(self.arena.destinations(slot)):
                piece = np.frombuffer(view, dtype=np.uint8)
                if index in (0, 1, 6):
                    piece[:] = np.frombuffer(random.bytes(len(piece)), dtype=np.uint8)
                else:
                    piece.view(np.uint16)[:] = 0x3A80  # 2⁻¹⁰ in bfloat16
        self._next = 0

    def request(self, layer: int, experts: Sequence[int]) -> Ticket:
        """Every expert is ready."""
        slots = self._take(len(experts))
        return Ticket(layer, slots, np.ones(len(slots), dtype=np.bool_), (), lambda jobs: None)

    def prefill_layer(
        self, layer: int, expert_ids: npt.NDArray[np.integer], rows: npt.NDArray[np.integer]
    ) -> Iterator[Group]:
        """Groups of the size prefill stages."""
        for start in range(0, len(expert_ids), STAGING_GROUP):
            members = np.arange(start, min(start + STAGING_GROUP, len(expert_ids)), dtype=np.int32)
            slots = self._take(len(members))
            yield Group(members, expert_ids[members].astype(np.int32), slots, self.arena.arrays)

    def _take(self, count: int) -> npt.NDArray[np.int32]:
        slots = (np.arange(self._next, self._next + count) % self.arena.slots).astype(np.int32)
        self._next = (self._next + count) % self.arena.slots
        return slots

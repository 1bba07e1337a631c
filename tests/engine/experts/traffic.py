"""Drives a streamer as a model would and compares every byte it is given with the files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import mlx.core as mx
import numpy as np

from engine.experts.arena import Arena
from engine.experts.layer_pass import Group, LayerPass
from engine.experts.record import Ranges
from engine.experts.streamer import ExpertStreamer
from engine.kernels.types import ExpertArrays
from tests.engine.experts.library import Library, held

K = 2

Routes = Mapping[int, Sequence[int]]


def streamer(
    library: Library, slots: int, ranges: Ranges | None = None, readers: int = 3, group_size: int = 2
) -> ExpertStreamer:
    arena = Arena(library.shape, slots)
    return ExpertStreamer(arena, ranges or library.ranges, library.layers, library.experts, K, readers, group_size)


def decode(streamer: ExpertStreamer, library: Library, routes: Routes, predicted: Routes | None = None) -> None:
    """One step over all layers of `routes`; at its end every slot handed out still holds its record."""
    with streamer.step():
        if predicted is not None:
            streamer.prefetch(predicted)
        given = []
        for layer, experts in routes.items():
            ticket = streamer.request(layer, experts)
            for slot, expert, ready in zip(ticket.slots, experts, ticket.ready, strict=True):
                if ready:
                    assert held(streamer.arena, int(slot)) == library.records[layer, expert]
            ticket.wait()
            given += [(int(slot), (layer, expert)) for slot, expert in zip(ticket.slots, experts, strict=True)]
        for slot, key in given:
            assert held(streamer.arena, slot) == library.records[key]


def prefill(streamer: ExpertStreamer, library: Library, layer: int, rows: Mapping[int, int]) -> None:
    """One layer of a chunk. As the promise allows, a group is looked at again when the next one is there.

    Every read that was begun has ended by then, so a buffer taken too early shows.
    """
    experts = np.array(list(rows), dtype=np.int32)
    seen: list[int] = []
    last: Group | None = None
    groups = streamer.prefill_layer(layer, experts, np.array(list(rows.values()), dtype=np.int64))
    for group in groups:
        check_group(streamer, library, layer, group)
        settle(streamer, groups)
        if last is not None:
            check_group(streamer, library, layer, last)
        assert list(experts[group.positions]) == list(group.experts)
        seen += [int(expert) for expert in group.experts]
        last = group
    assert sorted(seen) == sorted(rows)


def settle(streamer: ExpertStreamer, groups: LayerPass) -> None:
    """Wait for all reads into staging that have been begun."""
    streamer._pool.wait([job for _, _, jobs in groups._flying for job in jobs])


def check_group(streamer: ExpertStreamer, library: Library, layer: int, group: Group) -> None:
    for slot, expert in zip(group.slots, group.experts, strict=True):
        assert record_of(group.arrays, int(slot)) == library.records[layer, int(expert)]


def record_of(arrays: ExpertArrays, slot: int) -> bytes:
    """A record as MLX sees it, put back into the order of the file."""
    gate_up, down = arrays.gate_up, arrays.down
    parts: list[bytes] = []
    for array in (gate_up.weight, gate_up.scales.view(mx.uint16), gate_up.biases.view(mx.uint16)):
        whole = np.array(array[slot])
        parts += [whole[: len(whole) // 2].tobytes(), whole[len(whole) // 2 :].tobytes()]
    for array in (down.weight, down.scales.view(mx.uint16), down.biases.view(mx.uint16)):
        parts.append(np.array(array[slot]).tobytes())
    return b"".join(parts)

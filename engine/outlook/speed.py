"""Expected tokens a second, from what was measured of the disk and the layers. Pure.

Routing on the router (`exact`) reads a layer's missing experts when the layer is reached and waits for them. Where
the prerouter decides (`predicted`), reads of all its layers are under way from the beginning of the step, so that
reading and computing overlap; the layers without a prediction still wait, but the disk works on while they do.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.outlook.hits import arena_hits, cache_hits, cached_bytes, distinct, eager
from engine.outlook.types import USUAL, ComputeSpeed, DiskSpeed, Exchange, Range, Speed
from engine.plan import ModelFacts
from engine.protocol import Routing

READERS = 8
"""Reads in flight at most (`engine.experts.streamer`)."""
SLOW_DISK, SLOW_COMPUTE = 0.75, 1.25
"""The lower bound: what a disk and a processor that others use, too, still give of what was measured."""
FAST_COMPUTE = 0.9


@dataclass(frozen=True)
class Conditions:
    """What one token meets. hits, cached: shares as in `Speed`; threads: processors the machine has."""

    facts: ModelFacts
    disk: DiskSpeed
    compute: ComputeSpeed
    routing: Routing
    hits: float
    cached: float
    threads: int
    slower_disk: float = 1.0
    slower_compute: float = 1.0


def estimate(
    facts: ModelFacts,
    slots: int,
    room: int,
    disk: DiskSpeed,
    compute: ComputeSpeed,
    *,
    routing: Routing,
    threads: int,
    cached: int = 0,
    exchange: Exchange = USUAL,
) -> Speed:
    """The speed with `slots` slots and `room` bytes for the page cache, which holds `cached` of the checkpoint."""
    hits = arena_hits(facts, slots)
    pages = cached_bytes(facts, room, cached, exchange.prompt, exchange.reply)
    inside = cache_hits(facts, slots, pages)
    likely = Conditions(facts, disk, compute, routing, hits, inside, threads)
    slow = Conditions(facts, disk, compute, routing, hits, inside, threads, SLOW_DISK, SLOW_COMPUTE)
    fast = Conditions(facts, disk, compute, routing, eager(hits), eager(inside), threads, 1.0, FAST_COMPUTE)
    total, hidden = step_seconds(likely)
    first = prompt_seconds(likely, exchange.prompt, room, cached)
    return Speed(
        decode=Range(1 / step_seconds(slow)[0], 1 / total, 1 / step_seconds(fast)[0]),
        exchange=exchange,
        routing=routing,
        needed=facts.step_set * facts.record,
        hits=hits,
        cached=inside,
        read_s=read_seconds(likely, READERS),
        compute_s=compute_seconds(likely),
        hidden_s=hidden,
        first_token=Range(
            prompt_seconds(fast, exchange.prompt, room, cached),
            first,
            prompt_seconds(slow, exchange.prompt, room, cached),
        ),
    )


def read_seconds(c: Conditions, depth: float) -> float:
    """What one token's cold experts take with `depth` reads in flight all the time."""
    return _missing(c) * (1 - c.cached) / (c.disk.at(depth) * c.slower_disk)


def copy_seconds(c: Conditions) -> float:
    """What it takes to copy the experts the page cache holds."""
    return _missing(c) * c.cached / c.disk.cached


def compute_seconds(c: Conditions) -> float:
    """The arithmetic of a token and everything else the processors do for it."""
    predicted = c.routing == "predicted"
    speed = c.compute
    arithmetic = (speed.predicted + speed.heads if predicted else speed.exact) + speed.head
    reading = _missing(c) * (1 - c.cached) * _cpu(c) if predicted else 0.0
    return (arithmetic + copy_seconds(c) + reading) * c.slower_compute


def step_seconds(c: Conditions) -> tuple[float, float]:
    """Seconds of a token, and those of reading that are hidden behind computing."""
    facts = c.facts
    misses = facts.experts_per_token * (1 - c.hits) * (1 - c.cached)
    depth = max(1.0, min(READERS, misses))
    if c.routing == "exact" or not facts.predicted_layers:
        return compute_seconds(c) + read_seconds(c, depth), 0.0
    own = (facts.moe_layers - facts.predicted_layers) / facts.moe_layers
    reading, computing = read_seconds(c, READERS), compute_seconds(c)
    # A layer without a prediction waits for its own reads while the others' go on in the same queue.
    waiting = read_seconds(c, depth) * own
    total = max(reading, computing + waiting)
    return total, max(0.0, reading + computing - total)


def prompt_seconds(c: Conditions, tokens: int, room: int, cached: int) -> float:
    """Until the first token of a reply to `tokens` new ones: experts are read once each, while others compute."""
    facts = c.facts
    records = distinct(facts, tokens)
    everything = facts.all_records * facts.record
    inside = min(1.0, min(cached, room) / everything) if everything else 0.0
    nbytes = records * facts.record
    reading = nbytes * (1 - inside) / (c.disk.at(READERS) * c.slower_disk)
    copying = nbytes * inside / c.disk.cached + nbytes * (1 - inside) * _cpu(c)
    computing = (prefill_seconds(c.compute, tokens) + c.compute.head + copying) * c.slower_compute
    return max(reading, computing)


def prefill_seconds(compute: ComputeSpeed, tokens: int) -> float:
    """Arithmetic of `tokens` prompt tokens: on the line through the two chunk lengths that were measured."""
    (short, quick), (long, slow) = compute.prefill[0], compute.prefill[-1]
    slope = max(0.0, (slow - quick) / (long - short))
    return max(quick * min(1.0, tokens / short), quick + slope * (tokens - short))


def _cpu(c: Conditions) -> float:
    """Seconds a byte that reading from the disk takes away from computing; a copy is part of it."""
    return max(c.disk.cpu / c.threads, 1 / c.disk.cached)


def _missing(c: Conditions) -> float:
    """Bytes a token routes to that are in no slot."""
    return c.facts.step_set * c.facts.record * (1 - c.hits)

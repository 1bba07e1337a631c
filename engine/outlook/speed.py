"""Expected tokens a second, from what was measured of the disk and the layers. Pure.

Routing on the router (`exact`) reads a layer's missing experts when the layer is reached and waits for them. Where
the prerouter decides (`predicted`), reads of all its layers are under way from the beginning of the step, so that
reading and computing overlap; the layers without a prediction still wait, but the disk works on while they do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from engine.experts.limits import READERS
from engine.outlook.hits import arena_hits, cache_hits, cached_bytes, distinct, eager
from engine.outlook.types import USUAL, ComputeSpeed, DiskSpeed, Exchange, Machine, Range, Speed
from engine.plan import ModelFacts
from engine.protocol import Routing

SLOW_DISK, SLOW_COMPUTE = 0.75, 1.25
"""The lower bound: what a disk and a processor that others use, too, still give of what was measured."""
FAST_COMPUTE = 0.9


@dataclass(frozen=True)
class Processors:
    """Logical processors, and the share of a reader's time that is taken from computing.

    Kernels on a processor use every core and wait for the slowest, so whatever the readers use delays them; where
    cores have a second thread the readers have room there; an accelerator is not disturbed.
    """

    threads: int
    disturbed: float

    @classmethod
    def of(cls, machine: Machine) -> Processors:
        threads = machine.threads or 1
        if machine.device not in ("", "cpu"):
            return cls(threads, 0.0)
        return cls(threads, min(1.0, (machine.cores or threads) / threads))


@dataclass(frozen=True)
class Conditions:
    """What one token meets. hits, cached: shares as in `Speed`; see `Processors`."""

    facts: ModelFacts
    disk: DiskSpeed
    compute: ComputeSpeed
    routing: Routing
    hits: float
    cached: float
    processors: Processors
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
    processors: Processors,
    cached: int = 0,
    exchange: Exchange = USUAL,
) -> Speed:
    """The speed with `slots` slots and `room` bytes for the page cache, which holds `cached` of the checkpoint."""
    hits = arena_hits(facts, slots)
    pages = cached_bytes(facts, room, cached, exchange.prompt, exchange.reply)
    inside = cache_hits(facts, slots, pages)
    likely = Conditions(facts, disk, compute, routing, hits, inside, processors)
    slow = Conditions(facts, disk, compute, routing, hits, inside, processors, SLOW_DISK, SLOW_COMPUTE)
    fast = Conditions(facts, disk, compute, routing, eager(hits), eager(inside), processors, 1.0, FAST_COMPUTE)
    total, hidden = step_seconds(likely)
    first = prompt_seconds(likely, exchange.prompt, room, cached)
    return Speed(
        decode=Range(1 / step_seconds(slow)[0], 1 / total, 1 / step_seconds(fast)[0]),
        exchange=exchange,
        routing=routing,
        needed=facts.step_set * facts.record,
        hits=hits,
        cached=inside,
        read_s=read_seconds(likely, disk.at(READERS)),
        compute_s=compute_seconds(likely),
        hidden_s=hidden,
        first_token=Range(
            prompt_seconds(fast, exchange.prompt, room, cached),
            first,
            prompt_seconds(slow, exchange.prompt, room, cached),
        ),
    )


def read_seconds(c: Conditions, rate: float) -> float:
    """What one token's missing experts take to arrive, when the disk gives `rate` bytes a second all the time."""
    return _arriving(c, _missing(c) * (1 - c.cached), _missing(c) * c.cached, rate)


def compute_seconds(c: Conditions) -> float:
    """The arithmetic of a token, and what reading at the same time takes from it."""
    speed = c.compute
    if not _ahead(c):
        return (speed.exact + speed.head) * c.slower_compute
    disturbance = _disturbance(c, _missing(c) * (1 - c.cached), _missing(c) * c.cached)
    return (speed.predicted + speed.heads + speed.head + disturbance) * c.slower_compute


def layer_rate(c: Conditions) -> float:
    """Bytes a second of the disk while a layer waits for its own missing experts.

    Reads in flight are a missing expert and those of its layer that are missing with it, each as likely as any
    other. The mean number of misses in all layers would be too few: layers that miss nothing read nothing, and say
    nothing about how many reads share the disk. Near the end of filling a cache that is most layers.
    """
    others, missing = c.facts.experts_per_token - 1, (1 - c.hits) * (1 - c.cached)
    seconds = sum(
        math.comb(others, count) * missing**count * (1 - missing) ** (others - count)
        / c.disk.at(min(READERS, 1 + count))
        for count in range(others + 1)
    )  # fmt: skip
    return 1 / seconds


def step_seconds(c: Conditions) -> tuple[float, float]:
    """Seconds of a token, and those of reading that are hidden behind computing."""
    facts, alone = c.facts, read_seconds(c, layer_rate(c))
    if not _ahead(c):
        return compute_seconds(c) + alone, 0.0
    own = (facts.moe_layers - facts.predicted_layers) / facts.moe_layers
    reading, computing = read_seconds(c, c.disk.at(READERS)), compute_seconds(c)
    # A layer without a prediction waits for its own reads while the others' go on in the same queue.
    waiting = alone * own
    total = max(reading, computing + waiting)
    return total, max(0.0, reading + computing - total)


def prompt_seconds(c: Conditions, tokens: int, room: int, cached: int) -> float:
    """Until the first token of a reply to `tokens` new ones: experts are read once each, while others compute."""
    facts = c.facts
    records = distinct(facts, tokens)
    everything = facts.all_records * facts.record
    inside = min(1.0, min(cached, room) / everything) if everything else 0.0
    nbytes = records * facts.record
    cold, warm = nbytes * (1 - inside), nbytes * inside
    computing = prefill_seconds(c.compute, tokens) + c.compute.head + _disturbance(c, cold, warm)
    return max(_arriving(c, cold, warm, c.disk.at(READERS)), computing * c.slower_compute)


def prefill_seconds(compute: ComputeSpeed, tokens: int) -> float:
    """Arithmetic of `tokens` prompt tokens: on the line through the two chunk lengths that were measured."""
    (short, quick), (long, slow) = compute.prefill[0], compute.prefill[-1]
    slope = max(0.0, (slow - quick) / (long - short))
    return max(quick * min(1.0, tokens / short), quick + slope * (tokens - short))


def _ahead(c: Conditions) -> bool:
    """Whether anything is read before its layer is reached."""
    return c.routing == "predicted" and c.facts.predicted_layers > 0


def _arriving(c: Conditions, cold: float, warm: float, rate: float) -> float:
    """Seconds until so many bytes from the disk and from the page cache are in their slots."""
    return cold / (rate * c.slower_disk) + warm / c.disk.cached


def _disturbance(c: Conditions, cold: float, warm: float) -> float:
    """Seconds by which bringing these bytes delays a computation that goes on meanwhile."""
    copying = min(READERS, c.processors.threads) / c.disk.cached
    return c.processors.disturbed * (cold * max(c.disk.cpu, copying) + warm * copying)


def _missing(c: Conditions) -> float:
    """Bytes a token routes to that are in no slot."""
    return c.facts.step_set * c.facts.record * (1 - c.hits)

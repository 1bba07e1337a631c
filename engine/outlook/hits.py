"""How much of what a token routes to is in memory already, when routing is even. Pure.

Even routing is the model here: every expert of a layer is as likely as any other, whatever came before. It is what
the synthetic 35B does, and the least favourable case for any cache. The synthetic 8B comes back to the same experts
(a prompt of 16 tokens asks for 1,206 of them instead of 1,896, and slots for half of all records give 90 % hits),
and so does real text: `EAGERNESS` stands for that at the upper bound of an estimate, and replies teach it.
"""

from __future__ import annotations

import math

from engine.plan import ModelFacts

EAGERNESS = 0.6
"""Exponent at the upper bound: a cache that holds 10 % of the experts then gives 25 % hits, one of 50 % gives 66 %.
An assumption, not a measurement; what is learned from replies replaces it."""


def arena_hits(facts: ModelFacts, slots: int) -> float:
    """Share of a token's experts that are in a slot: the slots' share of all records."""
    return min(1.0, slots / facts.all_records)


def cache_hits(facts: ModelFacts, slots: int, cached: float) -> float:
    """Share of the arena's misses that `cached` bytes of expert pages hold.

    Arena and page cache both keep what was used last, so the page cache's first records are the arena's, too.
    """
    beyond = facts.all_records - slots
    if beyond <= 0:
        return 0.0
    return min(1.0, max(0.0, cached / facts.record - slots) / beyond)


def touched(facts: ModelFacts, known: float, tokens: float) -> float:
    """Share of a layer's experts that are known after `tokens` more tokens, when `known` of them are at first."""
    return 1 - (1 - known) * math.pow(1 - facts.experts_per_token / facts.experts, tokens)


def cached_bytes(facts: ModelFacts, room: int, now: int, prompt: int, reply: int) -> float:
    """Bytes of experts in the page cache on average over a reply, of which it holds `now` at the beginning.

    Whatever is read stays there as long as there is `room`.
    """
    everything = facts.all_records * facts.record
    start = touched(facts, min(1.0, now / everything), prompt)
    samples = [touched(facts, start, reply * (i + 0.5) / 8) for i in range(8)]
    return sum(min(share * everything, room) for share in samples) / len(samples)


def distinct(facts: ModelFacts, tokens: int) -> float:
    """Records a prompt of so many tokens routes to, in all layers."""
    return facts.all_records * touched(facts, 0.0, tokens)


def eager(share: float) -> float:
    """A hit rate when routing repeats itself, from that of even routing."""
    return math.pow(share, EAGERNESS) if share > 0 else 0.0

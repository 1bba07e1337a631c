"""How many of a prompt's experts may settle in the arena. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Share:
    """A layer's part of the arena in prefill: `quota` slots, or no limit where the whole model fits."""

    quota: int
    everything_fits: bool = False


def admissible(share: Share, missing: int, resident: int, free: int, evictable: int) -> int:
    """How many of a layer's missing experts to admit, hottest first; the others are staged.

    missing, resident  of the experts this chunk needs in this layer
    free, evictable    slots nobody holds, slots that could be taken from unpinned experts

    A layer does not grow beyond its share, and no more than half a share is taken from others in one chunk, so a
    long prompt cannot churn the arena.
    """
    if share.everything_fits:
        return missing
    wanted = min(missing, max(0, share.quota - resident))
    from_free = min(wanted, free)
    from_others = min(wanted - from_free, evictable, max(0, share.quota // 2 - from_free))
    return from_free + from_others

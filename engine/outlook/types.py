"""What a plan card shows: facts of the machine, measured speeds, and what a model is expected to do. No MLX.

Sizes in bytes, times in seconds. None means that the system does not tell, never a guess.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal

from engine.plan import MemoryPlan, ModelFacts
from engine.probe import Memory
from engine.protocol import PlanItem

Verdict = Literal["fits", "tight", "no"]


@dataclass(frozen=True)
class Swapping:
    """Bytes a second moved between memory and swap over a short window, and by how much swap in use grew.

    `into_memory` and `out_of_memory` are None where the system's counters mix in reads of files (macOS).
    """

    into_memory: float | None
    out_of_memory: float | None
    growth: float

    @property
    def busy(self) -> bool:
        """Pages are being pushed out now, so memory that reads as available is not idle."""
        return bool(self.out_of_memory) or self.growth > 0


@dataclass(frozen=True)
class Volume:
    """The file system a directory lies on, or will lie on."""

    path: Path
    free: int | None
    total: int | None
    file_system: str | None


@dataclass(frozen=True)
class DiskSpeed:
    """Random reads of whole records, none of them in the page cache and none read twice.

    rates     reads in flight → bytes a second, ascending
    cached    bytes a second of records that are in the page cache, with 8 reads in flight
    cpu       processor seconds a byte read cold
    record    bytes of one record, in `pieces` separate ranges
    bytes     what was read cold in all
    measured  when: seconds since 1970
    source    "checkpoint" or "temporary file"
    """

    rates: tuple[tuple[int, float], ...]
    cached: float
    cpu: float
    record: int
    pieces: int
    bytes: int
    measured: float
    source: str

    def at(self, depth: float) -> float:
        """Bytes a second with `depth` reads in flight; between two measured depths on the line between them."""
        known = self.rates
        if depth <= known[0][0]:
            return known[0][1]
        for (low, slow), (high, fast) in pairwise(known):
            if depth <= high:
                return slow + (fast - slow) * (depth - low) / (high - low)
        return known[-1][1]


@dataclass(frozen=True)
class ComputeSpeed:
    """Seconds of a model's own layers on random weights, everything in memory. `shape` names the dimensions.

    exact      one token through all layers, each asking its own router
    predicted  the same where the prerouter decides in the layers it has predictions for
    head       final norm, output projection and the choice of a token
    heads      the prerouter's heads
    prefill    tokens at once → seconds through all layers, ascending
    """

    shape: str
    exact: float
    predicted: float
    head: float
    heads: float
    prefill: tuple[tuple[int, float], ...]
    device: str
    version: str
    measured: float


@dataclass(frozen=True)
class Range:
    """A figure between two bounds, and the one that is likeliest."""

    low: float
    likely: float
    high: float

    def times(self, factor: float) -> Range:
        return Range(self.low * factor, self.likely * factor, self.high * factor)


@dataclass(frozen=True)
class Speed:
    """Tokens a second and what they are made of.

    needed      bytes of experts a token routes to
    hits        share of them that is in a slot already
    cached      share of the others that comes out of the page cache
    read_s      time to read the rest, and to copy what is cached
    compute_s   time to compute a token with everything in memory
    overlapped  share of `read_s` that computing hides
    """

    decode: Range
    needed: int
    hits: float
    cached: float
    read_s: float
    compute_s: float
    overlapped: float
    first_token: Range | None
    prompt: int


@dataclass(frozen=True)
class Learned:
    """How replies compared with what was expected: achieved ÷ expected, bounded, over `replies` of them."""

    factor: float
    replies: int
    expected: float
    achieved: float


@dataclass(frozen=True)
class Outlook:
    """A model on a machine at a budget and context.

    plan      None when the model does not fit: `items` is then what it would need at the least
    items     of the plan, or of the refusal
    kv        tokens of context → bytes of the KV cache: 4k, 32k and the chosen one, those the model has
    left      for the system's page cache when the engine has taken its budget
    least     the least budget that works; `most` the one that gives every expert a slot
    speed     None when it does not fit, or the disk or the kernels have not been measured
    reasons   sentences: where the speed comes from, what is unknown
    sentence  the verdict in one sentence
    hint      what to do about a refusal; empty otherwise
    """

    facts: ModelFacts
    machine: Machine
    budget: int
    context: int
    plan: MemoryPlan | None
    items: tuple[PlanItem, ...]
    kv: tuple[tuple[int, int], ...]
    left: int
    least: int
    most: int
    speed: Speed | None
    learned: Learned | None
    reasons: tuple[str, ...]
    verdict: Verdict
    sentence: str
    hint: str = ""

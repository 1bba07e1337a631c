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
from engine.protocol import PlanItem, Routing

Verdict = Literal["fits", "tight", "no"]
Pace = Literal["fluent", "slow", "unknown"]
"""Whether a reply comes about as fast as it is read; see `verdict.SLOW`."""


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
        """Bytes a second with `depth` reads in flight, on the line between two measured depths.

        A deeper queue is not slower than a shallower one, and n reads not more than n times as fast as one: where
        a short measurement says otherwise it is the other figure that counts.
        """
        return _between(self._even, depth)

    @property
    def _even(self) -> list[tuple[int, float]]:
        even, best = [], 0.0
        for depth, _ in self.rates:
            best = max(best, *(rate * min(1.0, depth / other) for other, rate in self.rates))
            even.append((depth, best))
        return even


def _between(points: list[tuple[int, float]], x: float) -> float:
    """Linear between known points, constant outside them."""
    if x <= points[0][0]:
        return points[0][1]
    for (left, low), (right, high) in pairwise(points):
        if x <= right:
            return low + (high - low) * (x - left) / (right - left)
    return points[-1][1]


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
class Machine:
    """What this machine is and has now.

    chip         the processor's name
    cores        physical ones; `threads` are the logical ones this process may use
    working_set  bytes the accelerator may keep resident; None without one
    computed     what has been measured of models' layers
    """

    chip: str | None
    cores: int | None
    threads: int | None
    system: str
    memory: Memory
    swapping: Swapping | None
    device: str
    activation_bytes: int
    working_set: int | None
    volume: Volume
    disk: DiskSpeed | None = None
    computed: tuple[ComputeSpeed, ...] = ()

    def compute(self, shape: str) -> ComputeSpeed | None:
        """What was measured for a model of these dimensions."""
        return next((speed for speed in self.computed if speed.shape == shape), None)


@dataclass(frozen=True)
class Range:
    """A figure between two bounds, and the one that is likeliest."""

    low: float
    likely: float
    high: float

    def times(self, factor: float) -> Range:
        """The same bounds in another measure."""
        return Range(self.low * factor, self.likely * factor, self.high * factor)


@dataclass(frozen=True)
class Exchange:
    """What a speed is expected for: tokens of a prompt and of the reply to it."""

    prompt: int = 256
    reply: int = 256


USUAL = Exchange()


@dataclass(frozen=True)
class Speed:
    """Tokens a second in an exchange, and what they are made of, each per token of the reply.

    routing      which of the two was reckoned with
    needed       bytes of experts a token routes to
    hits         share of them that is in a slot already
    cached       share of the others that the page cache holds
    read_s       time until the missing experts have arrived, from the disk and the page cache
    compute_s    time of the arithmetic with everything in memory, and what reading meanwhile takes from it
    hidden_s     the part of `read_s` that passes while something is computed
    first_token  seconds until the reply begins, when nothing of the prompt is known yet
    """

    decode: Range
    exchange: Exchange
    routing: Routing
    needed: int
    hits: float
    cached: float
    read_s: float
    compute_s: float
    hidden_s: float
    first_token: Range


@dataclass(frozen=True)
class Learned:
    """How replies compared with what was expected of them.

    factor              achieved ÷ expected, bounded; what the next estimate is multiplied with
    expected, achieved  tokens a second of the last reply, the first before any correction
    """

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
    pace      of `speed`, beside the verdict, which is about memory
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
    pace: Pace = "unknown"

    @property
    def possible(self) -> bool:
        return self.verdict != "no"

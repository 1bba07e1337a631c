"""What expert traffic cost since the reply began."""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.experts.readers import ReadStats
from engine.protocol import ExpertCounters


@dataclass
class Traffic:
    """Counts of one reply. An expert counts once per step (decode) or per layer of a chunk (prefill).

    hits             experts resident before the step asked or prefetched
    misses           the others
    bytes_requested  records of the misses
    wait_s           time the computing thread was blocked on reads
    dropped          experts asked for and not delivered; every such case also raises
    """

    hits: int = 0
    misses: int = 0
    bytes_requested: int = 0
    wait_s: float = 0.0
    dropped: int = 0
    reads_before: ReadStats = field(default_factory=ReadStats)

    def reset(self, reads: ReadStats) -> None:
        """Begin a reply; `reads` are the pool's totals now."""
        self.hits = self.misses = self.bytes_requested = self.dropped = 0
        self.wait_s = 0.0
        self.reads_before = reads

    def experts(self, slots: int, reads: ReadStats) -> ExpertCounters:
        """The counters as the protocol reports them; `reads` are the pool's totals now."""
        return ExpertCounters(
            slots=slots,
            hits=self.hits,
            misses=self.misses,
            bytes_read=reads.nbytes - self.reads_before.nbytes,
            bytes_requested=self.bytes_requested,
            dropped=self.dropped,
        )

    def bandwidth(self, reads: ReadStats) -> float:
        """Bytes per second over the time in which a read was in flight; 0 if none was."""
        busy = reads.busy_s - self.reads_before.busy_s
        return (reads.nbytes - self.reads_before.nbytes) / busy if busy > 0 else 0.0

"""From what the engine reports to the texts of the panel, header and status line. Pure; unknown is `–`."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from edge0_tui import units
from engine.protocol import Counters, ModelInfo

SAMPLE_SECONDS = 0.5
SAMPLES = 64


@dataclass
class Figures:
    """The newest figures, and enough of the past for a sparkline."""

    info: ModelInfo | None = None
    counters: Counters | None = None
    footprint: int | None = None
    prefill: tuple[int, int] | None = None
    context_known: bool = True
    speeds: deque[float] = field(default_factory=lambda: deque(maxlen=SAMPLES))
    _sampled: float = -1.0

    def update(self, counters: Counters, now: float) -> None:
        """Take in the counters of one event, which came at `now` on a monotonic clock."""
        self.counters = counters
        self.footprint = counters.footprint_bytes or self.footprint
        if counters.decode_tok_s_now > 0 and now - self._sampled >= SAMPLE_SECONDS:
            self.speeds.append(counters.decode_tok_s_now)
            self._sampled = now

    def begin_reply(self) -> None:
        """A new reply: cumulative counters start again, memory figures stay until newer ones come."""
        self.prefill = None
        self.speeds.clear()
        self._sampled = -1.0

    @property
    def context(self) -> tuple[int | None, int] | None:
        """Tokens used, which nobody knows of a chat that was just opened, and the limit."""
        used = self.counters.context_used if self.counters else 0 if self.context_known else None
        limit = (self.counters.context_limit if self.counters else 0) or (
            self.info.context_limit if self.info else 0
        )
        return (used, limit) if limit else None

    def values(self) -> dict[str, str]:
        """The text of every quantity that is known."""
        known: dict[str, str] = {}
        if self.footprint:
            known["footprint"] = units.size(self.footprint)
        if context := self.context:
            known["tokens"] = f"{units.count(context[0])} / {context[1]:,}"
        if self.info:
            known["mode"] = self.info.routing
            if self.info.slots:
                known["slots"] = units.count(self.info.slots)
        if self.counters:
            known |= _of(self.counters)
        return known


def _of(counters: Counters) -> dict[str, str]:
    experts, ttft, routing = counters.experts, counters.ttft, counters.routing
    known = {
        "now": units.tokens_per_second(counters.decode_tok_s_now),
        "average": units.tokens_per_second(counters.decode_tok_s),
        "prefill": units.tokens_per_second(counters.prefill_tok_s),
        "kv": units.size(counters.kv_bytes or None),
        "kv_per_token": f"{counters.kv_bytes_per_token:,} B" if counters.kv_bytes_per_token else units.UNKNOWN,
        "recurrent": units.size(counters.recurrent_bytes or None),
        "cached_pages": units.size(counters.cached_pages_bytes),
        "bytes_read": units.size(experts.bytes_read),
        "wait": units.seconds(counters.io_wait_s),
        "dropped": units.count(experts.dropped),
        "mode": routing.mode,
        "predicted_layers": units.count(routing.predicted_layers),
        "agreement": units.percent(routing.agreement),
    }
    if counters.prompt_tokens:
        known["reused"] = f"{counters.reused_tokens:,} / {counters.prompt_tokens:,}"
    if counters.allocator.peak:
        known["active"] = units.size(counters.allocator.active)
        known["peak"] = units.size(counters.allocator.peak)
        known["cache"] = units.size(counters.allocator.cache)
    if ttft.total:
        known["ttft"] = units.seconds(ttft.total)
        known["tokenise"] = units.seconds(ttft.tokenise)
        known["read"] = units.seconds(ttft.read)
        known["compute"] = units.seconds(ttft.compute)
    if experts.hits + experts.misses:
        known["hits"] = units.percent(experts.hits / (experts.hits + experts.misses))
    if counters.io_bandwidth:
        known["bandwidth"] = units.rate(counters.io_bandwidth)
    if experts.slots:
        known["slots"] = units.count(experts.slots)
    if experts.bytes_requested:
        known["amplification"] = f"{experts.read_amplification:.2f} ×"
    return known

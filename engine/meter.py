"""Clocks and counts of one reply, put together as the `Counters` every event carries."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from engine.protocol import Allocator, Counters, ExpertCounters, RoutingReport, Ttft

WINDOW = 1.0
"""Seconds the momentary rate looks back."""
REFRESH = 0.5
"""Seconds between two readings of figures that cost a system call."""


@dataclass
class Meter:
    """Times are taken with `clock` (seconds, monotonic); figures of the engine come from the given readers."""

    allocator: Callable[[], Allocator]
    footprint: Callable[[], int]
    experts: Callable[[], ExpertCounters]
    io_wait: Callable[[], float]
    io_bandwidth: Callable[[], float]
    clock: Callable[[], float] = time.perf_counter

    started: float = field(init=False)
    prompt_tokens: int = 0
    reused_tokens: int = 0
    dropped_messages: int = 0
    tokens: int = 0
    thinking_tokens: int = 0
    tokenise: float = 0.0
    context_limit: int = 0
    kv_bytes: int = 0
    kv_bytes_per_token: int = 0
    recurrent_bytes: int = 0
    context_used: int = 0
    routing: RoutingReport = field(default_factory=RoutingReport)

    def __post_init__(self) -> None:
        self.started = self.clock()
        self._prefill_start = self.started
        self._computed = 0
        self._prefill_seconds = 0.0
        self._ttft = Ttft()
        self._first = self._last = 0.0
        self._recent: deque[float] = deque()
        self._read_at = -REFRESH
        self._footprint = 0

    def prompt(self, tokens: int, reused: int) -> None:
        """Tokenised and compared with what is live: prefill begins."""
        now = self.clock()
        self.prompt_tokens, self.reused_tokens = tokens, reused
        self.tokenise = now - self.started
        self._prefill_start = now

    def prefilled(self, tokens: int) -> None:
        """`tokens` of the prompt have been computed so far."""
        self._computed = tokens
        self._prefill_seconds = self.clock() - self._prefill_start

    def token(self, thinking: bool) -> None:
        """One token of the reply was drawn."""
        now = self.clock()
        self.tokens += 1
        self.thinking_tokens += thinking
        if self.tokens == 1:
            self._first = now
            total, read = now - self.started, self.io_wait()
            self._ttft = Ttft(total, self.tokenise, read, max(0.0, total - read - self.tokenise))
        self._last = now
        self._recent.append(now)
        while now - self._recent[0] > WINDOW and len(self._recent) > 2:
            self._recent.popleft()

    def counters(self, fresh: bool = False) -> Counters:
        """Everything as it is now; `fresh` reads the costly figures again."""
        now = self.clock()
        if fresh or now - self._read_at >= REFRESH:
            self._read_at, self._footprint = now, self.footprint()
        span = self._last - self._first
        recent = self._recent[-1] - self._recent[0] if len(self._recent) > 1 else 0.0
        return Counters(
            prompt_tokens=self.prompt_tokens,
            reused_tokens=self.reused_tokens,
            dropped_messages=self.dropped_messages,
            completion_tokens=self.tokens,
            thinking_tokens=self.thinking_tokens,
            prefill_tok_s=self._computed / self._prefill_seconds if self._prefill_seconds else 0.0,
            decode_tok_s=(self.tokens - 1) / span if span else 0.0,
            decode_tok_s_now=(len(self._recent) - 1) / recent if recent else 0.0,
            ttft=self._ttft,
            allocator=self.allocator(),
            footprint_bytes=self._footprint,
            kv_bytes=self.kv_bytes,
            kv_bytes_per_token=self.kv_bytes_per_token,
            recurrent_bytes=self.recurrent_bytes,
            context_used=self.context_used,
            context_limit=self.context_limit,
            experts=self.experts(),
            io_wait_s=self.io_wait(),
            io_bandwidth=self.io_bandwidth(),
            routing=self.routing,
        )

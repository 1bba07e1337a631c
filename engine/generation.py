"""One reply: prefill what is new, then decode token by token."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import mlx.core as mx
import numpy as np

from engine.adapters.prerouter import Prerouter
from engine.conversation import LiveConversation
from engine.errors import EngineError
from engine.experts.streamer import ExpertStreamer
from engine.models.model import Model
from engine.models.routing import Route, agreement
from engine.models.step import Cancelled, Step
from engine.prefill import prefill
from engine.protocol import FinishReason
from engine.sampling import Sampler

RELEASE_CHUNK = 2048
"""The release prefills by this many tokens; a remainder of one token is run as a decode step there, so the heads
see it. The rule is kept as a rule about prompt lengths, whatever the chunk here."""


@dataclass(frozen=True)
class Limits:
    """Ids that end a reply, its length, and the context it must stay in."""

    stop_ids: frozenset[int]
    max_tokens: int
    context: int
    chunk: int


@dataclass
class Agreement:
    """Share of the true router's choice that the prediction named, by consumer layer."""

    sums: dict[int, float] = field(default_factory=dict)
    counts: dict[int, int] = field(default_factory=dict)

    def add(self, layer: int, used: Route, true: Route) -> None:
        self.sums[layer] = self.sums.get(layer, 0.0) + agreement(used.experts, true.experts)
        self.counts[layer] = self.counts.get(layer, 0) + 1

    @property
    def by_layer(self) -> dict[str, float]:
        return {str(layer): self.sums[layer] / self.counts[layer] for layer in sorted(self.sums)}

    @property
    def mean(self) -> float | None:
        total = sum(self.counts.values())
        return sum(self.sums.values()) / total if total else None


@dataclass
class Reply:
    """Iterating yields each token as soon as it is drawn; afterwards `finish_reason` says how it ended.

    prompt  the whole prompt; what `live` already covers is not computed again
    predict the heads decide the routing (else the model's own router does)
    measure also report how far the heads agree with the true router, which costs the routers' read-backs
    """

    model: Model
    live: LiveConversation
    experts: ExpertStreamer
    prerouter: Prerouter | None
    sampler: Sampler
    limits: Limits
    prompt: Sequence[int]
    boundary: int
    predict: bool
    measure: bool
    prefetch: bool
    cancelled: Callable[[], bool]
    progress: Callable[[int], None] = lambda done: None
    finish_reason: FinishReason = "error"
    agreement: Agreement = field(default_factory=Agreement)

    def __iter__(self) -> Iterator[int]:
        try:
            yield from self._tokens()
        except Cancelled:
            self.finish_reason = "cancelled"

    def _tokens(self) -> Iterator[int]:
        if self.prerouter is not None:
            self.prerouter.reset()
        one_token_rule = len(self.prompt) % RELEASE_CHUNK == 1
        last = Step(prefill=True, capture=self._owners if one_token_rule else frozenset())
        logits = prefill(
            self.model,
            self.live,
            self.prompt,
            chunk=self.limits.chunk,
            boundary=self.boundary,
            last=last,
            progress=self.progress,
            cancelled=self.cancelled,
        )
        self._observe(last)
        drawn = 0
        while True:
            if self.cancelled():
                raise Cancelled
            token = self.sampler(self._finite(logits))
            if token in self.limits.stop_ids:
                self.finish_reason = "stop"
                return
            drawn += 1
            yield token
            if drawn == self.limits.max_tokens or len(self.live.ids) + 1 >= self.limits.context:
                self.finish_reason = "length"
                return
            logits = self._decode(token)

    @property
    def _owners(self) -> frozenset[int]:
        wanted = self.prerouter is not None and (self.predict or self.measure)
        return self.prerouter.owners if wanted and self.prerouter is not None else frozenset()

    def _decode(self, token: int) -> mx.array:
        predicted = dict(self.prerouter.predicted) if self.prerouter is not None else {}
        step = Step(
            prefill=False,
            predicted=predicted if self.predict else {},
            capture=self._owners | (frozenset(predicted) if self.measure else frozenset()),
            measure=self.measure,
            on_layer=self._check,
        )
        before = self.live.state.snapshot()
        try:
            with self.experts.step():
                if self.prefetch:
                    self.experts.prefetch(
                        {layer: route.experts[0].tolist() for layer, route in step.predicted.items()}
                    )
                logits = self.model.forward([token], self.live.state, step)
                mx.eval(logits, self.live.state.arrays(), list(step.moe_inputs.values()))
        except Cancelled:
            self.live.go_back(before)
            raise
        self.live.advance([token])
        if self.measure:
            self._compare(predicted, step)
        self._observe(step)
        return logits

    def _check(self, layer: int) -> None:
        if self.cancelled():
            raise Cancelled

    def _observe(self, step: Step) -> None:
        if self.prerouter is not None and self.prerouter.owners <= step.moe_inputs.keys():
            self.prerouter.observe(step.moe_inputs, step.routes)

    def _compare(self, predicted: dict[int, Route], step: Step) -> None:
        for layer, route in predicted.items():
            if layer in step.true_logits:
                true = self.model.select(np.asarray(step.true_logits[layer].astype(mx.float32)))
            else:
                true = step.routes[layer]
            self.agreement.add(layer, route, true)

    def _finite(self, logits: mx.array) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
        row = np.asarray(logits.astype(mx.float32))
        if not np.isfinite(row).all():
            self.live.reset()
            raise EngineError(
                "The model's output is not finite, so this reply was stopped.",
                "The conversation's state was rebuilt; send the message again.",
            )
        return row

"""One reply: prefill what is new, then decode token by token."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import mlx.core as mx
import numpy as np

from engine.adapters.prerouter import Prerouter
from engine.adapters.watch import PromptWatch
from engine.conversation import LiveConversation
from engine.errors import EngineError
from engine.experts.streamer import ExpertStreamer
from engine.models.model import Model
from engine.models.routing import Route, agreement
from engine.models.step import Cancelled, Step
from engine.prefill import prefill
from engine.protocol import FinishReason
from engine.sampling import Sampler


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
        watch = self._watch()
        logits = prefill(
            self.model,
            self.live,
            self.prompt,
            chunk=self.limits.chunk,
            boundary=self.boundary,
            step=watch.step,
            progress=self.progress,
            cancelled=self.cancelled,
        )
        if self.prerouter is not None:
            watch.show(self.prerouter)
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
        """Layers the heads look at: none unless their predictions are used or measured."""
        wanted = self.prerouter is not None and (self.predict or self.measure)
        return self.prerouter.owners if wanted and self.prerouter is not None else frozenset()

    def _watch(self) -> PromptWatch:
        owners = self._owners
        seen = self.prerouter.rules.seen_of_prompt(len(self.prompt)) if self.prerouter and owners else ()
        return PromptWatch(owners, seen)

    def _step(self, predicted: dict[int, Route]) -> Step:
        asked = frozenset(predicted) if self.measure else frozenset[int]()
        if self.prerouter is not None and self.prerouter.rules.teacher:
            asked |= self._owners
        return Step(
            prefill=False,
            predicted=predicted if self.predict else {},
            capture=self._owners | asked,
            ask_router=asked,
            on_layer=self._check,
        )

    def _decode(self, token: int) -> mx.array:
        predicted = dict(self.prerouter.predicted) if self.prerouter is not None else {}
        step = self._step(predicted)
        before = self.live.state.snapshot()
        try:
            with self.experts.step():
                if self.prefetch:
                    self.experts.prefetch(
                        {layer: route.experts[0].tolist() for layer, route in step.predicted.items()}
                    )
                logits = self.model.forward([token], self.live.state, step)
                kept = [*step.moe_inputs.values(), *step.router_logits.values()]
                mx.eval(logits, self.live.state.arrays(), kept)
        except Cancelled:
            self.live.go_back(before)
            raise
        self.live.advance([token])
        if self.measure:
            for layer, route in predicted.items():
                self.agreement.add(layer, route, self._of_router(step, layer))
        self._observe(step)
        return logits

    def _check(self, layer: int) -> None:
        if self.cancelled():
            raise Cancelled

    def _observe(self, step: Step) -> None:
        if self.prerouter is None or not self._owners:
            return
        of_router = self.prerouter.rules.teacher
        used = {owner: self._of_router(step, owner) if of_router else step.routes[owner] for owner in self._owners}
        self.prerouter.observe(step.moe_inputs, {owner: route.experts for owner, route in used.items()})

    def _of_router(self, step: Step, layer: int) -> Route:
        """What the layer's own router chose in a step that asked it."""
        if layer not in step.router_logits:
            return step.routes[layer]
        return self.model.routers[layer](np.asarray(step.router_logits[layer].astype(mx.float32)))

    def _finite(self, logits: mx.array) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
        row = np.asarray(logits.astype(mx.float32))
        if not np.isfinite(row).all():
            self.live.reset()
            raise EngineError(
                "The model's output is not finite, so this reply was stopped.",
                "The conversation's state was rebuilt; send the message again.",
            )
        return row

"""Loads models and writes replies; the one object the worker's computing thread calls."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import cast

import mlx.core as mx
import numpy as np
import numpy.typing as npt

from engine.cached_pages import cached_pages
from engine.errors import UsageError
from engine.footprint import footprint
from engine.generation import Limits, Reply
from engine.kernels import get_kernels
from engine.loaded import LoadedModel, Progress, load, switch_adapter
from engine.meter import Meter
from engine.protocol import (
    Allocator,
    Counters,
    Delta,
    Event,
    Finished,
    Generate,
    Load,
    ModelInfo,
    Prefilling,
    Routing,
    RoutingReport,
)
from engine.sampling import Sampler, check
from engine.text import Prompt, TextCodec


class Session:
    """All methods belong to one thread, which thereby owns MLX."""

    def __init__(self, prefetch: bool = True) -> None:
        self.kernels = get_kernels()
        self.prefetch = prefetch
        self._loaded: LoadedModel | None = None
        self._request: Load | None = None

    def load(self, request: Load, progress: Progress, cancelled: Callable[[], bool]) -> ModelInfo:
        """Load what is asked for; only the adapter or routing is exchanged when the base stays the same."""
        loaded = self._loaded
        if loaded is not None and self._request is not None and _same_base(self._request, request):
            started = time.perf_counter()
            routing = self._check_routing(request.routing, loaded)
            switch_adapter(loaded, request.adapter, self.kernels)
            loaded.routing, loaded.seconds = routing, time.perf_counter() - started
        else:
            self.close()
            loaded = self._loaded = load(request, self.kernels, progress, cancelled)
        self._request = request
        return loaded.info

    def generate(self, request: Generate, emit: Callable[[Event], None], cancelled: Callable[[], bool]) -> Finished:
        """One reply. Emits Prefilling and Delta events as it goes and returns the whole at the end."""
        loaded = self._loaded
        if loaded is None:
            raise UsageError("No model is loaded.", "Load one first.")
        sampling = request.sampling or loaded.info.sampling
        check(sampling)
        routing = self._check_routing(request.routing, loaded) if request.routing else loaded.routing
        meter = self._meter(loaded)
        prompt = _encode(loaded.codec, request)
        if len(prompt.ids) >= loaded.plan.context:
            raise UsageError(
                f"The prompt has {len(prompt.ids):,} tokens and the context holds {loaded.plan.context:,}.",
                "Start a new chat, shorten the message, or load with a larger --context.",
            )
        reused = loaded.live.resume(prompt.ids)
        meter.prompt(len(prompt.ids), reused)
        loaded.experts.reset_counters()
        reply = Reply(
            model=loaded.model,
            live=loaded.live,
            experts=loaded.experts,
            prerouter=loaded.prerouter,
            select=loaded.model.select,
            sampler=Sampler(sampling, _forbidden(loaded)),
            limits=Limits(loaded.codec.stop_ids, sampling.max_tokens, loaded.plan.context, loaded.plan.chunk),
            prompt=prompt.ids,
            boundary=prompt.boundary,
            predict=routing == "predicted",
            measure=request.measure_agreement,
            prefetch=self.prefetch,
            cancelled=cancelled,
            progress=lambda done: emit(self._prefilling(request.id, meter, loaded, done, reused)),
        )
        try:
            finished = self._run(request, reply, prompt, meter, loaded, routing, emit)
        except BaseException:
            loaded.live.reset()
            raise
        if routing == "predicted":
            # What decoding left behind was routed by the heads; a later turn must equal a cold run, which
            # prefills these tokens on the router, so only the states prefill made are kept.
            loaded.live.back_to_kept()
        return finished

    def reset(self) -> None:
        """Forget the live conversation."""
        if self._loaded is not None:
            self._loaded.live.reset()

    def close(self) -> None:
        """Let the model go."""
        if self._loaded is not None:
            self._loaded.close()
        self._loaded = self._request = None
        mx.clear_cache()

    def _run(
        self,
        request: Generate,
        reply: Reply,
        prompt: Prompt,
        meter: Meter,
        loaded: LoadedModel,
        routing: Routing,
        emit: Callable[[Event], None],
    ) -> Finished:
        decoder = loaded.codec.reply_decoder(prompt.start)
        ids: list[int] = []
        text = {"answer": "", "thinking": ""}
        for token in reply:
            ids.append(token)
            meter.token(decoder.channel == "thinking")
            pieces = decoder.feed(token)
            for piece in pieces:
                text[piece.channel] += piece.text
            emit(Delta(request.id, pieces, self._counters(meter, loaded, reply, routing)))
        rest = decoder.finish()
        for piece in rest:
            text[piece.channel] += piece.text
        counters = self._counters(meter, loaded, reply, routing, last=True)
        if rest:
            emit(Delta(request.id, rest, counters))
        return Finished(
            id=request.id,
            finish_reason=reply.finish_reason,
            text=text["answer"],
            thinking=text["thinking"],
            prompt_ids=prompt.ids,
            ids=ids,
            counters=counters,
            seed=reply.sampler.seed if reply.sampler.sampling.temperature else None,
        )

    def _meter(self, loaded: LoadedModel) -> Meter:
        experts = loaded.experts
        return Meter(
            allocator=_allocator,
            footprint=footprint,
            experts=experts.counters,
            io_wait=lambda: experts.wait_s,
            io_bandwidth=lambda: experts.bandwidth,
            context_limit=loaded.plan.context,
        )

    def _prefilling(self, id: str, meter: Meter, loaded: LoadedModel, done: int, reused: int) -> Prefilling:
        meter.prefilled(done - reused)
        return Prefilling(
            id, done, meter.prompt_tokens, reused, self._counters(meter, loaded, None, loaded.routing)
        )

    def _counters(
        self, meter: Meter, loaded: LoadedModel, reply: Reply | None, routing: Routing, last: bool = False
    ) -> Counters:
        state = loaded.live.state
        meter.kv_bytes, meter.kv_bytes_per_token = state.cache_bytes, state.cache_bytes_per_token
        meter.recurrent_bytes, meter.context_used = state.recurrent_bytes, state.length
        layers = len(loaded.prerouter.consumers) if loaded.prerouter and routing == "predicted" else 0
        agreement = reply.agreement.mean if reply else None
        by_layer = reply.agreement.by_layer if reply and last else {}
        meter.routing = RoutingReport(routing, layers, agreement, by_layer)
        counters = meter.counters(fresh=last)
        if not last:
            return counters
        return replace(counters, cached_pages_bytes=cached_pages(loaded.checkpoint.files.shards))

    @staticmethod
    def _check_routing(wanted: str, loaded: LoadedModel) -> Routing:
        if wanted not in ("", "exact", "predicted"):
            raise UsageError(f"routing is {wanted!r}", "It is exact or predicted.")
        if wanted == "predicted" and loaded.prerouter is None:
            raise UsageError(
                f"{loaded.checkpoint.name} has no prerouter heads.", "Only exact routing is possible with it."
            )
        default: Routing = "predicted" if loaded.prerouter is not None else "exact"
        return cast(Routing, wanted) if wanted else default


def _same_base(old: Load, new: Load) -> bool:
    def base(request: Load) -> tuple[object, ...]:
        return request.model, request.memory_bytes, request.context

    return base(old) == base(new)


def _allocator() -> Allocator:
    return Allocator(mx.get_active_memory(), mx.get_peak_memory(), mx.get_cache_memory())


def _encode(codec: TextCodec, request: Generate) -> Prompt:
    if not request.messages:
        raise UsageError("There is nothing to answer.", "Give at least one message.")
    if request.raw:
        prompt = codec.encode_raw(request.messages[-1].content)
    else:
        prompt = codec.encode_chat(request.messages, request.thinking and codec.supports_thinking)
    if not prompt.ids:
        raise UsageError("The prompt is empty.", "Give some text.")
    return prompt


def _forbidden(loaded: LoadedModel) -> npt.NDArray[np.int64]:
    """Logit rows that stand for no token."""
    unused = range(loaded.codec.n_ids, loaded.checkpoint.config.vocab_size)
    return np.array([*loaded.codec.holes, *unused], dtype=np.int64)

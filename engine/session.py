"""Loads models and writes replies; the one object the worker's computing thread calls."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import mlx.core as mx
import numpy as np
import numpy.typing as npt

from engine.adapter_choice import ChosenAdapter, choose_adapter
from engine.cached_pages import cached_pages
from engine.choice import checked_routing
from engine.errors import ContextError, UsageError
from engine.facts import adapter_bytes
from engine.fitting import ROOM_FOR_THE_REPLY, without_oldest
from engine.footprint import footprint
from engine.generation import Limits, Reply
from engine.kernels import get_kernels
from engine.loaded import LoadedModel, Progress, load, prepare, switch_adapter
from engine.meter import Meter
from engine.protocol import (
    Allocator,
    Count,
    Counted,
    Counters,
    Delta,
    Event,
    Finished,
    Generate,
    Load,
    Message,
    ModelInfo,
    Prefilling,
    Routing,
    RoutingReport,
    Sampling,
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
        """Load what is asked for; only the adapter or routing is exchanged when the base stays the same.

        What is refused before anything large is touched, by its files or its plan, leaves all as it was. An adapter
        larger than the room the plan has for one is loaded anew with the base, by a plan of its own.
        """
        # No local name may refer to the old model while the new one is loaded: it would stay in memory.
        if not (self._has_base_of(request) and self._switched(request, progress, cancelled)):
            prepared = prepare(request, self.kernels, progress, cancelled)
            self.close()
            self._loaded = load(prepared, self.kernels)
        self._request = request
        return self.loaded.info

    def _has_base_of(self, request: Load) -> bool:
        return self._request is not None and _same_base(self._request, request)

    def _switched(self, request: Load, progress: Progress, cancelled: Callable[[], bool]) -> bool:
        """Exchange adapter and routing on the loaded base; false, with nothing changed, when there is no room."""
        loaded, started = self.loaded, time.perf_counter()
        routing = checked_routing(request.routing, loaded.checkpoint.name, self._has_heads)
        adapter = choose_adapter(loaded.checkpoint, request.adapter, request.adapters_dir)
        if adapter and adapter_bytes(adapter.file, self.kernels.activation_dtype.size) > loaded.adapter_room:
            return False
        if not _is_on(adapter, loaded):
            switch_adapter(loaded, adapter, self.kernels, progress, cancelled)
        loaded.routing, loaded.adapters_dir = routing, request.adapters_dir
        loaded.seconds = time.perf_counter() - started
        return True

    def generate(self, request: Generate, emit: Callable[[Event], None], cancelled: Callable[[], bool]) -> Finished:
        """One reply. Emits Prefilling and Delta events as it goes and returns the whole at the end."""
        loaded = self.loaded
        sampling = request.sampling or loaded.sampling
        routing = checked_routing(request.routing or loaded.routing, loaded.checkpoint.name, self._has_heads)
        check(sampling)
        meter = self._meter(loaded)
        prompt, meter.dropped_messages = _encode(loaded.codec, request, _most(loaded.plan.context, sampling))
        reply = self.reply(prompt, sampling, routing, measure=request.measure_agreement, cancelled=cancelled)
        reused = len(loaded.live.ids)
        meter.prompt(len(prompt.ids), reused)

        def progress(done: int) -> None:
            meter.prefilled(done - reused)
            counters = self._counters(meter, loaded, reply)
            emit(Prefilling(request.id, done, len(prompt.ids), reused, counters))

        reply.progress = progress
        with self._kept_consistent(reply):
            return self._run(request, reply, prompt, meter, loaded, emit)

    def reply(
        self,
        prompt: Prompt,
        sampling: Sampling,
        routing: Routing,
        *,
        measure: bool = False,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Reply:
        """A reply to encoded text, ready to be iterated; the live conversation is taken to where it continues."""
        loaded = self.loaded
        if len(prompt.ids) >= loaded.plan.context:
            raise ContextError(
                f"The prompt has {len(prompt.ids):,} tokens and the context holds {loaded.plan.context:,}.",
                "Start a new chat, shorten the message, or load with a larger --context.",
            )
        rules = loaded.prerouter.rules if loaded.prerouter else None
        loaded.live.resume(prompt.ids, leave=max(1, len(rules.seen_of_prompt(len(prompt.ids))) if rules else 0))
        loaded.experts.reset_counters()
        return Reply(
            model=loaded.model,
            live=loaded.live,
            experts=loaded.experts,
            prerouter=loaded.prerouter,
            sampler=Sampler(sampling, _forbidden(loaded)),
            limits=Limits(loaded.codec.stop_ids, sampling.max_tokens, loaded.plan.context, loaded.plan.chunk),
            prompt=prompt.ids,
            boundary=prompt.boundary,
            predict=routing == "predicted",
            measure=measure,
            prefetch=self.prefetch,
            cancelled=cancelled,
        )

    @property
    def loaded(self) -> LoadedModel:
        """What is loaded. Raises UsageError when nothing is."""
        if self._loaded is None:
            raise UsageError("No model is loaded.", "Load one first.")
        return self._loaded

    @contextmanager
    def _kept_consistent(self, reply: Reply) -> Iterator[None]:
        """Whatever happens to a reply, the next one starts from a state a cold run would have."""
        try:
            yield
        except BaseException:
            reply.live.reset()
            raise
        if reply.predict:
            # What decoding left behind was routed by the heads, but a cold run would prefill these tokens on the
            # router: only the states that prefill made are kept.
            reply.live.back_to_kept()

    @property
    def _has_heads(self) -> bool:
        return self.loaded.prerouter is not None

    def count(self, request: Count) -> Counted:
        """Tokens of texts, each by itself. Raises UsageError when nothing is loaded."""
        tokenizer = self.loaded.codec.tokenizer
        tokens = [len(tokenizer.encode(text)) for text in request.texts]
        return Counted(request.id, tokens, str(self.loaded.checkpoint.path))

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
            emit(Delta(request.id, pieces, self._counters(meter, loaded, reply)))
        rest = decoder.finish()
        for piece in rest:
            text[piece.channel] += piece.text
        counters = self._counters(meter, loaded, reply, last=True)
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

    def _counters(self, meter: Meter, loaded: LoadedModel, reply: Reply, last: bool = False) -> Counters:
        state = loaded.live.state
        meter.kv_bytes, meter.kv_bytes_per_token = state.cache_bytes, state.cache_bytes_per_token
        meter.recurrent_bytes, meter.context_used = state.recurrent_bytes, state.length
        layers = len(loaded.prerouter.consumers) if loaded.prerouter and reply.predict else 0
        meter.routing = RoutingReport(
            mode="predicted" if reply.predict else "exact",
            predicted_layers=layers,
            agreement=reply.agreement.mean,
            agreement_by_layer=reply.agreement.by_layer if last else {},
        )
        counters = meter.counters(fresh=last)
        return (
            replace(counters, cached_pages_bytes=cached_pages(loaded.checkpoint.files.shards)) if last else counters
        )


def _same_base(old: Load, new: Load) -> bool:
    def base(request: Load) -> tuple[object, ...]:
        return request.model, request.memory_bytes, request.context

    return base(old) == base(new)


def _is_on(adapter: ChosenAdapter | None, loaded: LoadedModel) -> bool:
    """Whether this very file is the one that is on."""
    on = loaded.adapter_report
    return (None if adapter is None else str(adapter.file.path)) == (None if on is None else on.path)


def _allocator() -> Allocator:
    return Allocator(mx.get_active_memory(), mx.get_peak_memory(), mx.get_cache_memory())


def _most(context: int, sampling: Sampling) -> int:
    """Tokens a prompt may have where turns are left out to make room."""
    return context - 1 - min(sampling.max_tokens, context // ROOM_FOR_THE_REPLY)


def _encode(codec: TextCodec, request: Generate, most: int) -> tuple[Prompt, int]:
    """The prompt, and how many messages are not in it."""
    dropped = 0
    if not request.messages:
        raise UsageError("There is nothing to answer.", "Give at least one message.")
    if request.raw:
        prompt = codec.encode_raw(request.messages[-1].content)
    else:
        thinking = request.thinking and codec.supports_thinking

        def encode(messages: Sequence[Message]) -> Prompt:
            return codec.encode_chat(messages, thinking)

        if request.drop_oldest:
            prompt, dropped = without_oldest(encode, request.messages, most)
        else:
            prompt = encode(request.messages)
    if not prompt.ids:
        raise UsageError("The prompt is empty.", "Give some text.")
    return prompt, dropped


def _forbidden(loaded: LoadedModel) -> npt.NDArray[np.int64]:
    """Logit rows that stand for no token."""
    unused = range(loaded.codec.n_ids, loaded.checkpoint.config.vocab_size)
    return np.array([*loaded.codec.holes, *unused], dtype=np.int64)

"""A model that is ready to answer: everything `load` made, and how it is taken down."""

from __future__ import annotations

import gc
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

import mlx.core as mx

from engine import probe
from engine.adapters.load import adapter_dtype, load_heads, load_lora
from engine.adapters.lora import attach
from engine.adapters.prerouter import Prerouter
from engine.adapters.rules import rules_of
from engine.checkpoint.adapter_match import require_heads, require_lora
from engine.checkpoint.checkpoint import Checkpoint
from engine.checkpoint.lora import read_lora
from engine.choice import Chosen, adapter_file, choose
from engine.conversation import LiveConversation
from engine.defaults import default_sampling
from engine.errors import EngineError
from engine.experts.arena import Arena
from engine.experts.record import RecordShape
from engine.experts.streamer import ExpertStreamer
from engine.footprint import footprint
from engine.kernels import selftest
from engine.kernels.interface import Kernels
from engine.models.build import build_model
from engine.models.model import Model
from engine.models.weights import Weights
from engine.plan import ALLOCATOR_CACHE, SNAPSHOTS, STAGING_GROUP, MemoryPlan, plan_memory
from engine.protocol import Load, ModelInfo, Routing
from engine.text import TextCodec

log = logging.getLogger(__name__)

Progress = Callable[[str, int, int], None]


class LoadStopped(EngineError):  # noqa: N818  # not an error: the user asked
    """The load was cancelled."""


@dataclass
class LoadedModel:
    """All parts of a loaded model and the conversation live in it."""

    checkpoint: Checkpoint
    codec: TextCodec
    model: Model
    experts: ExpertStreamer
    prerouter: Prerouter | None
    plan: MemoryPlan
    live: LiveConversation
    adapter: str
    routing: Routing
    seconds: float

    @property
    def info(self) -> ModelInfo:
        """What the user interface shows of it."""
        checkpoint, config = self.checkpoint, self.checkpoint.config
        return ModelInfo(
            name=checkpoint.name,
            tier=checkpoint.tier,
            path=str(checkpoint.path),
            revision=checkpoint.revision,
            family=checkpoint.family,
            adapter=self.adapter,
            adapters_available=[path.stem for path in checkpoint.files.adapters],
            routing=self.routing,
            predicted_available=self.prerouter is not None,
            experts_per_token=checkpoint.experts_per_token,
            layers=config.num_hidden_layers,
            experts_per_layer=config.num_experts,
            context_limit=self.plan.context,
            supports_thinking=self.codec.supports_thinking,
            sampling=default_sampling(checkpoint.tier, checkpoint.path),
            budget_bytes=self.plan.budget,
            plan=list(self.plan.items),
            slots=self.plan.slots,
            load_seconds=self.seconds,
        )

    def close(self) -> None:
        """Let go of files and threads; the arrays go with the last reference."""
        self.experts.close()


def load(request: Load, kernels: Kernels, progress: Progress, cancelled: Callable[[], bool]) -> LoadedModel:
    """Open, check, plan, allocate, read. Nothing large is touched before the plan has been accepted.

    Raises CheckpointError, PlanError or UsageError saying what stands in the way, LoadStopped when cancelled.
    """
    started = time.perf_counter()
    gc.collect()
    mx.clear_cache()
    mx.reset_peak_memory()
    mx.set_cache_limit(ALLOCATOR_CACHE)

    def step(phase: str, done: int = 0, total: int = 0) -> None:
        if cancelled():
            raise LoadStopped("The load was stopped.")
        progress(phase, done, total)

    step("checking files")
    chosen = choose(request)
    codec = TextCodec.open(chosen.checkpoint.path)
    facts = chosen.facts(kernels.activation_dtype.size)
    usable = probe.memory().usable + footprint()
    plan = plan_memory(facts, usable, request.memory_bytes, request.context)
    step("allocating the arena")
    experts = _streamer(chosen.checkpoint, plan)
    try:
        model, prerouter = _read(chosen, kernels, experts, step)
        step("preparing kernels")
        kernels.warm_up()
        if kernels.name == "mlx":
            selftest.run(kernels)
    except BaseException:
        experts.close()
        raise
    return LoadedModel(
        checkpoint=chosen.checkpoint,
        codec=codec,
        model=model,
        experts=experts,
        prerouter=prerouter,
        plan=plan,
        live=LiveConversation(model.fresh_state, SNAPSHOTS),
        adapter=chosen.adapter_name,
        routing=chosen.routing,
        seconds=time.perf_counter() - started,
    )


def _streamer(checkpoint: Checkpoint, plan: MemoryPlan) -> ExpertStreamer:
    layout, config = checkpoint.records.layout, checkpoint.config
    shape = RecordShape(
        config.hidden_size, config.moe_intermediate_size, layout.gate_up.bits, layout.gate_up.group_size
    )
    return ExpertStreamer(
        Arena(shape, plan.slots),
        checkpoint.records.ranges,
        layers=config.moe_layers,
        experts_per_layer=config.num_experts,
        k=checkpoint.experts_per_token,
        group_size=STAGING_GROUP,
    )


def _read(
    chosen: Chosen, kernels: Kernels, experts: ExpertStreamer, step: Progress
) -> tuple[Model, Prerouter | None]:
    """The dense weights, the adapter and the heads."""
    checkpoint = chosen.checkpoint
    read = 0

    def count(nbytes: int) -> None:
        nonlocal read
        read += nbytes
        step("reading dense weights", read, checkpoint.dense_bytes)

    weights = Weights(
        checkpoint.tensors, _quantisation(checkpoint), kernels, raw_layout=checkpoint.raw_layout, progress=count
    )
    model = build_model(checkpoint.config, checkpoint.experts_per_token, weights, experts, kernels)
    dtype = adapter_dtype(kernels.activation_dtype)
    if chosen.adapter:
        step("reading the adapter", 0, 0)
        applied = require_lora(chosen.adapter, checkpoint).applied
        attach(model.linears, load_lora(chosen.adapter, applied, dtype))
    if chosen.heads is None:
        return model, None
    step("reading the prerouter heads", 0, 0)
    match = require_heads(chosen.heads, checkpoint)
    heads = load_heads(chosen.heads, match.applied, dtype)
    return model, Prerouter(
        heads, frozenset(match.consumers), rules_of(checkpoint.config, checkpoint.experts_per_token)
    )


def switch_adapter(loaded: LoadedModel, name: str, kernels: Kernels) -> None:
    """Another adapter on the same base; the conversation's state, computed with the old one, is forgotten."""
    path = adapter_file(loaded.checkpoint, name)
    updates = {}
    if path is not None:
        file = read_lora(path)
        applied = require_lora(file, loaded.checkpoint).applied
        updates = load_lora(file, applied, adapter_dtype(kernels.activation_dtype))
    attach(loaded.model.linears, updates)
    loaded.adapter = path.stem if path else "none"
    loaded.live.reset()


def _quantisation(checkpoint: Checkpoint) -> Callable[[str], tuple[int, int] | None]:
    def of(module: str) -> tuple[int, int] | None:
        found = checkpoint.modules[module]
        return None if found is None else (found.group_size, found.bits)

    return of

"""A model that is ready to answer: everything `load` made, and how it is taken down."""

from __future__ import annotations

import gc
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

import mlx.core as mx

from engine import probe
from engine.adapter_choice import NONE, ChosenAdapter, selectable
from engine.adapters.load import load_heads
from engine.adapters.prerouter import Prerouter
from engine.adapters.put_on import put_on
from engine.adapters.rules import rules_of
from engine.checkpoint.adapter_match import require_heads
from engine.checkpoint.checkpoint import Checkpoint
from engine.choice import Chosen, choose
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
from engine.protocol import AdapterReport, Load, ModelInfo, Routing, Sampling
from engine.text import TextCodec

log = logging.getLogger(__name__)

Progress = Callable[[str, int, int], None]


class LoadStopped(EngineError):  # noqa: N818  # not an error: the user asked
    """The load was cancelled."""


@dataclass
class LoadedModel:
    """All parts of a loaded model and the conversation live in it.

    adapter_room  bytes that the plan holds for an adapter
    adapters_dir  a folder with more adapters than lie beside the checkpoint, or ""
    """

    checkpoint: Checkpoint
    codec: TextCodec
    model: Model
    experts: ExpertStreamer
    prerouter: Prerouter | None
    plan: MemoryPlan
    live: LiveConversation
    sampling: Sampling
    adapter: str
    adapter_report: AdapterReport | None
    adapter_room: int
    adapters_dir: str
    routing: Routing
    seconds: float
    base_seconds: float

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
            adapters_available=selectable(checkpoint, self.adapters_dir),
            adapter_report=self.adapter_report,
            routing=self.routing,
            predicted_available=self.prerouter is not None,
            experts_per_token=checkpoint.experts_per_token,
            layers=config.num_hidden_layers,
            experts_per_layer=config.num_experts,
            context_limit=self.plan.context,
            supports_thinking=self.codec.supports_thinking,
            sampling=self.sampling,
            budget_bytes=self.plan.budget,
            plan=list(self.plan.items),
            slots=self.plan.slots,
            load_seconds=self.seconds,
            base_seconds=self.base_seconds,
        )

    def close(self) -> None:
        """Let go of files and threads; the arrays go with the last reference."""
        self.experts.close()


@dataclass(frozen=True)
class Prepared:
    """A load that has been checked and planned; nothing large has been touched."""

    chosen: Chosen
    plan: MemoryPlan
    adapter_room: int
    sampling: Sampling
    step: Progress
    started: float


def prepare(request: Load, kernels: Kernels, progress: Progress, cancelled: Callable[[], bool]) -> Prepared:
    """Open, check and plan, while another model may still be loaded.

    Raises CheckpointError, PlanError or UsageError saying what stands in the way, LoadStopped when cancelled.
    """
    started = time.perf_counter()
    step = stoppable(progress, cancelled)
    step("checking files", 0, 0)
    chosen = choose(request)
    facts = chosen.facts(kernels.activation_dtype.size)
    usable = probe.memory().usable + footprint()
    plan = plan_memory(facts, usable, request.memory_bytes, request.context)
    sampling = default_sampling(chosen.checkpoint.tier, chosen.checkpoint.path)
    return Prepared(chosen, plan, facts.adapter, sampling, step, started)


def stoppable(progress: Progress, cancelled: Callable[[], bool]) -> Progress:
    """`progress`, which raises LoadStopped instead once `cancelled` says so."""

    def step(phase: str, done: int, total: int) -> None:
        if cancelled():
            raise LoadStopped("The load was stopped.")
        progress(phase, done, total)

    return step


def load(prepared: Prepared, kernels: Kernels) -> LoadedModel:
    """Allocate and read. Raises CheckpointError for what cannot be read, LoadStopped when cancelled."""
    chosen, plan, step = prepared.chosen, prepared.plan, prepared.step
    gc.collect()
    mx.clear_cache()
    mx.reset_peak_memory()
    mx.set_cache_limit(ALLOCATOR_CACHE)
    codec = TextCodec.open(chosen.checkpoint.path)
    step("allocating the arena", 0, 0)
    experts = _streamer(chosen.checkpoint, plan)
    try:
        model, prerouter, report = _read(chosen, kernels, experts, step)
        step("preparing kernels", 0, 0)
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
        sampling=prepared.sampling,
        adapter=chosen.adapter.name if chosen.adapter else NONE,
        adapter_report=report,
        adapter_room=prepared.adapter_room,
        adapters_dir=chosen.adapters_dir,
        routing=chosen.routing,
        seconds=(seconds := time.perf_counter() - prepared.started),
        base_seconds=seconds,
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
) -> tuple[Model, Prerouter | None, AdapterReport | None]:
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
    report = put_on(model.linears, chosen.adapter, kernels.activation_dtype, _told(step, "reading the adapter"))
    if chosen.heads is None:
        return model, None, report
    match = require_heads(chosen.heads, checkpoint)
    heads = load_heads(chosen.heads, match.applied, kernels, _told(step, "reading the prerouter heads"))
    rules = rules_of(checkpoint.config, checkpoint.experts_per_token)
    return model, Prerouter(heads, frozenset(match.consumers), rules), report


def switch_adapter(
    loaded: LoadedModel,
    adapter: ChosenAdapter | None,
    kernels: Kernels,
    progress: Progress,
    cancelled: Callable[[], bool],
) -> None:
    """Another adapter on the same base; the conversation's state, computed with the old one, is forgotten.

    Raises LoadStopped when cancelled, CheckpointError for what cannot be read; then the old one is still on.
    """
    told = _told(stoppable(progress, cancelled), "reading the adapter")
    loaded.adapter_report = put_on(loaded.model.linears, adapter, kernels.activation_dtype, told)
    loaded.adapter = adapter.name if adapter else NONE
    loaded.live.reset()
    mx.clear_cache()


def _told(step: Progress, phase: str) -> Callable[[int], None]:
    """What a reader of many tensors calls before each."""
    return lambda nbytes: step(phase, 0, 0)


def _quantisation(checkpoint: Checkpoint) -> Callable[[str], tuple[int, int] | None]:
    def of(module: str) -> tuple[int, int] | None:
        found = checkpoint.modules[module]
        return None if found is None else (found.group_size, found.bits)

    return of

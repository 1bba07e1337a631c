"""A model that is ready to answer: everything `load` made, and how it is taken down."""

from __future__ import annotations

import gc
import logging
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import mlx.core as mx

from engine import probe
from engine.adapters.load import adapter_dtype, load_heads, load_lora
from engine.adapters.lora import attach
from engine.adapters.prerouter import Prerouter
from engine.checkpoint.adapter_match import require_heads, require_lora
from engine.checkpoint.checkpoint import Checkpoint, open_checkpoint
from engine.checkpoint.lora import LoraFile, read_lora
from engine.checkpoint.prerouter import read_prerouter
from engine.checkpoint.tiers import NANO
from engine.conversation import LiveConversation
from engine.defaults import default_sampling
from engine.errors import CheckpointError, EngineError, UsageError
from engine.experts.arena import Arena
from engine.experts.record import RecordShape
from engine.experts.streamer import ExpertStreamer
from engine.facts import model_facts
from engine.footprint import footprint
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
    checkpoint = open_checkpoint(NANO if request.model == "nano" else Path(request.model).expanduser())
    for note in checkpoint.notes:
        log.info("%s: %s", checkpoint.name, note)
    codec = TextCodec.open(checkpoint.path)
    adapter_file = _adapter_file(checkpoint, request.adapter)
    adapter = read_lora(adapter_file) if adapter_file else None
    applied = require_lora(adapter, checkpoint).applied if adapter else ()
    heads_file = read_prerouter(checkpoint.files.heads[0]) if checkpoint.files.heads else None
    heads_match = require_heads(heads_file, checkpoint) if heads_file else None
    routing = _routing(request.routing, checkpoint, heads_file is not None)

    width = kernels.activation_dtype.size
    largest = max((read_lora(path) for path in checkpoint.files.adapters), key=_elements, default=adapter)
    facts = model_facts(checkpoint, max((adapter, largest), key=_elements), heads_file, width)
    usable = probe.memory().usable + footprint()
    plan = plan_memory(facts, usable, request.memory_bytes, request.context)

    step("allocating the arena")
    layout = checkpoint.records.layout
    shape = RecordShape(
        hidden=checkpoint.config.hidden_size,
        intermediate=checkpoint.config.moe_intermediate_size,
        bits=layout.gate_up.bits,
        group_size=layout.gate_up.group_size,
    )
    experts = ExpertStreamer(
        Arena(shape, plan.slots),
        checkpoint.records.ranges,
        layers=checkpoint.config.moe_layers,
        experts_per_layer=checkpoint.config.num_experts,
        k=checkpoint.experts_per_token,
        group_size=STAGING_GROUP,
    )
    try:
        read = 0

        def count(nbytes: int) -> None:
            nonlocal read
            read += nbytes
            step("reading dense weights", read, checkpoint.dense_bytes)

        weights = Weights(
            checkpoint.tensors,
            _quantisation(checkpoint),
            kernels,
            raw_layout=checkpoint.raw_layout,
            progress=count,
        )
        model = build_model(checkpoint.config, checkpoint.experts_per_token, weights, experts, kernels)
        dtype = adapter_dtype(kernels.activation_dtype)
        if adapter:
            step("reading the adapter")
            attach(model.linears, load_lora(adapter, applied, dtype))
        prerouter = None
        if heads_file and heads_match:
            step("reading the prerouter heads")
            heads = load_heads(heads_file, heads_match.applied, dtype)
            prerouter = Prerouter(heads, frozenset(heads_match.consumers), model.select)
        step("compiling kernels")
        kernels.warm_up()
    except BaseException:
        experts.close()
        raise
    return LoadedModel(
        checkpoint=checkpoint,
        codec=codec,
        model=model,
        experts=experts,
        prerouter=prerouter,
        plan=plan,
        live=LiveConversation(model.fresh_state, SNAPSHOTS),
        adapter=adapter_file.stem if adapter_file else "none",
        routing=routing,
        seconds=time.perf_counter() - started,
    )


def switch_adapter(loaded: LoadedModel, name: str, kernels: Kernels) -> None:
    """Another adapter on the same base; the conversation's state, computed with the old one, is forgotten."""
    path = _adapter_file(loaded.checkpoint, name)
    updates = {}
    if path is not None:
        file = read_lora(path)
        applied = require_lora(file, loaded.checkpoint).applied
        updates = load_lora(file, applied, adapter_dtype(kernels.activation_dtype))
    attach(loaded.model.linears, updates)
    loaded.adapter = path.stem if path else "none"
    loaded.live.reset()


def _elements(file: LoraFile | None) -> int:
    return sum(t.a.nbytes + t.b.nbytes for t in file.targets.values()) if file else 0


def _quantisation(checkpoint: Checkpoint) -> Callable[[str], tuple[int, int] | None]:
    def of(module: str) -> tuple[int, int] | None:
        found = checkpoint.modules[module]
        return None if found is None else (found.group_size, found.bits)

    return of


def _adapter_file(checkpoint: Checkpoint, name: str) -> Path | None:
    """The file meant by `name`: none, a name among those beside the checkpoint, or a path; empty: the default.

    The default is the first adapter that lies directly beside the weights, as the releases ship theirs.
    """
    if name == "none":
        return None
    available = {path.stem: path for path in checkpoint.files.adapters}
    if not name:
        beside = [path for path in checkpoint.files.adapters if path.parent == checkpoint.path]
        return beside[0] if beside else None
    if name in available:
        return available[name]
    path = Path(name).expanduser()
    if path.suffix == ".safetensors" or os.sep in name:
        return path
    known = ", ".join(sorted(available)) or "none"
    raise CheckpointError(f"There is no adapter {name!r} beside {checkpoint.name}.", f"Available: {known}.")


def _routing(wanted: str, checkpoint: Checkpoint, heads: bool) -> Routing:
    if wanted not in ("", "exact", "predicted"):
        raise UsageError(f"routing is {wanted!r}", "It is exact or predicted.")
    if wanted == "predicted" and not heads:
        raise UsageError(f"{checkpoint.name} has no prerouter heads", "so only exact routing is possible.")
    if wanted == "exact":
        return "exact"
    return "predicted" if heads else "exact"

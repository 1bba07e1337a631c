"""Times a model's layers, head and prerouter, everything in memory."""

from __future__ import annotations

import time
from collections.abc import Callable

import mlx.core as mx
import numpy as np

from engine.adapters.lora import attach
from engine.adapters.prerouter import Heads
from engine.checkpoint.prerouter import PrerouterFile
from engine.experts.record import RecordShape
from engine.kernels.interface import Kernels
from engine.layer_probe.kinds import Kind, kinds
from engine.layer_probe.random_weights import RandomWeights
from engine.layer_probe.resident_experts import ResidentExperts
from engine.models.build import build_model
from engine.models.linear import LowRank
from engine.models.model import Model
from engine.models.routing import Route
from engine.models.step import Step
from engine.outlook.model import PlannedModel
from engine.outlook.store import version
from engine.outlook.types import ComputeSpeed
from engine.protocol import Sampling
from engine.sampling import Sampler

COPIES = 3
"""Layers of a kind in a row: some 60 MB of weights, which no processor's cache holds."""
SLOTS_BYTES = 64 << 20
REPEATS = 7
PREFILL = (16, 64)
HEADS = 4

Progress = Callable[[str], None]


def measure_layers(model: PlannedModel, kernels: Kernels, progress: Progress = lambda text: None) -> ComputeSpeed:
    """What a token and a prompt take in `model`'s layers on this device.

    Attention over an empty context: what a long one adds is small beside the experts.
    """
    kernels.warm_up()
    checkpoint = model.checkpoint
    consumers = set(checkpoint.config.consumers(model.heads.owners)) if model.heads else set[int]()
    experts = ResidentExperts(_shape(model), max(2 * checkpoint.experts_per_token, SLOTS_BYTES // model.record))
    exact = predicted = head = 0.0
    prefill = dict.fromkeys(PREFILL, 0.0)
    for kind in kinds(checkpoint.config, COPIES):
        progress(f"computing a layer of {len(kind.layers)}")
        built = _build(model, kind, experts, kernels)
        asking, told = _decode(built, kind, checkpoint.experts_per_token)
        share = len(consumers.intersection(kind.layers))
        exact += len(kind.layers) * asking
        predicted += (len(kind.layers) - share) * asking + share * told
        for tokens in PREFILL:
            prefill[tokens] += len(kind.layers) * _prefill(built, tokens)
        head = _head(built, checkpoint.config.vocab_size)
    return ComputeSpeed(
        shape=model.facts(kernels.activation_dtype.size).shape,
        exact=exact,
        predicted=predicted,
        head=head,
        heads=_heads(model.heads, kernels) if model.heads else 0.0,
        prefill=tuple(prefill.items()),
        device=kernels.name,
        version=version(),
        measured=time.time(),
    )


def _shape(model: PlannedModel) -> RecordShape:
    layout, config = model.checkpoint.records.layout, model.checkpoint.config
    return RecordShape(
        config.hidden_size, config.moe_intermediate_size, layout.gate_up.bits, layout.gate_up.group_size
    )


def _build(model: PlannedModel, kind: Kind, experts: ResidentExperts, kernels: Kernels) -> Model:
    checkpoint = model.checkpoint
    weights = RandomWeights(kind.config, checkpoint.quant, kernels, checkpoint.raw_layout)
    # What a layer asks of its experts is the same; only where they come from differs.
    built = build_model(kind.config, checkpoint.experts_per_token, weights, experts, kernels)  # type: ignore[arg-type]
    if model.adapter is not None:
        # As `engine.adapters.load` holds them.
        dtype = mx.float32 if kernels.activation_dtype == mx.float32 else mx.float16
        rank, targets = model.adapter.rank, set(kind.config.lora_targets)
        attach(built.linears, {m: _low_rank(built, m, rank, dtype) for m in targets if m in built.linears})
    return built


def _low_rank(built: Model, module: str, rank: int, dtype: mx.Dtype) -> LowRank:
    out, inner = built.linears[module].shape  # type: ignore[attr-defined]
    return LowRank(mx.full((rank, inner), 0.001, dtype=dtype), mx.full((out, rank), 0.001, dtype=dtype), 1.0)


def _decode(built: Model, kind: Kind, k: int) -> tuple[float, float]:
    """Seconds of a layer that asks its router, and of one that is told what to use."""
    state = built.fresh_state()
    layers = len(built.layers)
    route = Route(np.arange(k, dtype=np.int32)[None], np.full((1, k), 1 / k, dtype=np.float32))
    routes = dict.fromkeys(built.routers, route)

    def run(predicted: dict[int, Route]) -> None:
        x = built.embed(np.zeros(1, dtype=np.int32))
        step = Step(prefill=False, predicted=predicted)
        for layer, layer_state in zip(built.layers, state.layers, strict=True):
            x = layer(x, layer_state, step)
        mx.eval(x, state.arrays())

    return _typical(lambda: run({})) / layers, _typical(lambda: run(routes)) / layers


def _prefill(built: Model, tokens: int) -> float:
    """Seconds of a layer for a chunk of so many tokens."""

    def run() -> None:
        state = built.fresh_state()
        x = built.embed(np.arange(tokens, dtype=np.int32))
        layer = built.layers[0](x, state.layers[0], Step(prefill=True))
        mx.eval(layer, state.layers[0].arrays())

    return _typical(run, 3)


def _head(built: Model, vocabulary: int) -> float:
    """Seconds from the last layer's output to a token."""
    x = built.embed(np.zeros(1, dtype=np.int32))
    mx.eval(x)
    measured = built.head(x).shape[-1]
    logits = np.linspace(-8, 8, vocabulary, dtype=np.float32)
    sampler = Sampler(Sampling(seed=1), np.empty(0, dtype=np.int64))
    return _typical(lambda: mx.eval(built.head(x))) * vocabulary / measured + _typical(lambda: sampler(logits))


def _heads(file: PrerouterFile, kernels: Kernels) -> float:
    """Seconds of all prerouter heads, from a few of them."""
    count = min(HEADS, len(file.owners))

    def stack(*shape: int) -> mx.array:
        return mx.full((count, *shape), 0.001, dtype=mx.float16)

    features, experts = file.features, file.num_experts
    heads = Heads(
        kernels,
        file.owners[:count],
        experts,
        stack(file.hidden, features),
        stack(experts, file.hidden),
        stack(experts, features),
    )
    inputs = mx.zeros((count, features - 2 * experts))
    now = np.zeros((count, experts), dtype=np.float32)
    mx.eval(heads.fc1, heads.fc2, heads.linear, inputs)
    return _typical(lambda: mx.eval(heads.logits(inputs, now, now))) * len(file.owners) / count


def _typical(run: Callable[[], object], repeats: int = REPEATS) -> float:
    """The lower quartile, since other work on the machine only ever lengthens a measurement."""
    times = []
    for _ in range(repeats + 1):
        began = time.perf_counter()
        run()
        times.append(time.perf_counter() - began)
    return sorted(times[1:])[repeats // 4]  # the first one compiles and touches memory

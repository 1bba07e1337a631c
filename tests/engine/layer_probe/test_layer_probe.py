"""The layers' probe computes what a loaded model computes, and says so from a process of its own."""

from __future__ import annotations

from dataclasses import replace

import mlx.core as mx
import pytest

from engine.checkpoint.model_config import ModelConfig
from engine.checkpoint.synthetic import REAL_8B, REAL_35B, tiny, tiny_8b
from engine.checkpoint.tiers import NANO
from engine.errors import EngineError
from engine.kernels import ExpertArrays, Indices, Kernels, Quantized, get_kernels
from engine.layer_probe import measure as module
from engine.layer_probe.kinds import kinds
from engine.layer_probe.measure import measure_layers
from engine.layer_probe.resident_experts import ResidentExperts
from engine.outlook.measure import measure_layers as in_its_own_process
from engine.outlook.model import PlannedModel, open_model
from engine.outlook.published import described
from engine.protocol import Load, Sampling
from engine.session import Session
from engine.text import Prompt, ReplyStart


@pytest.mark.parametrize(("config", "counts"), [(REAL_35B, [30, 10]), (REAL_8B, [1, 17, 6])])
def test_every_layer_is_of_one_kind(config: ModelConfig, counts: list[int]) -> None:
    found = kinds(config, 3)
    assert [len(kind.layers) for kind in found] == counts
    assert sorted(layer for kind in found for layer in kind.layers) == list(range(config.num_hidden_layers))
    for kind in found:
        experts = {layer in config.moe_layers for layer in kind.layers}
        assert experts == {bool(kind.config.moe_layers)} and kind.config.num_hidden_layers == 3
        assert kind.config.hidden_size == config.hidden_size


@pytest.mark.parametrize(
    "model",
    [
        described(tiny(), "custom", "tiny"),
        described(tiny_8b(), "custom", "tiny"),
        described(replace(tiny(), owners=(), lora_rank=0), "custom", "plain"),
    ],
)
def test_both_families_with_and_without_heads(model: PlannedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SLOTS_BYTES", 1 << 20)
    said: list[str] = []
    speed = measure_layers(model, get_kernels(), said.append)
    assert speed.shape == model.facts(4).shape and len(said) == len(kinds(model.checkpoint.config, 1))
    assert speed.head > 0 and speed.exact > 0 and speed.predicted > 0
    assert (speed.heads > 0) == (model.heads is not None)
    assert [tokens for tokens, _ in speed.prefill] == [16, 64] and all(seconds > 0 for _, seconds in speed.prefill)


def test_the_layers_multiply_what_a_token_multiplies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted, not timed: weights met in a step of nano, and in one of the probe's layers times their number."""
    kernels = get_kernels()
    met = 0
    linear, experts = type(kernels).linear, type(kernels).experts

    def count_linear(self: Kernels, x: mx.array, w: Quantized) -> mx.array:
        nonlocal met
        met += w.out_features * w.in_features * x.shape[0]
        return linear(self, x, w)

    def count_experts(self: Kernels, x: mx.array, slots: Indices, arrays: ExpertArrays) -> mx.array:
        nonlocal met
        gate_up, down = arrays.gate_up, arrays.down
        met += slots.size * (gate_up.out_features * gate_up.in_features + down.out_features * down.in_features)
        return experts(self, x, slots, arrays)

    session = Session()
    info = session.load(Load("load", "nano"), lambda *_: None, lambda: False)
    monkeypatch.setattr(type(kernels), "linear", count_linear)
    monkeypatch.setattr(type(kernels), "experts", count_experts)
    sampling = Sampling(temperature=0, max_tokens=2)
    reply = iter(session.reply(Prompt("", [5] * 8, 8, ReplyStart()), sampling, info.routing))
    next(reply)
    met = 0
    next(reply)
    token = met
    session.close()

    model, layers = open_model(NANO), 0
    resident = ResidentExperts(module._shape(model), 16)
    for kind in kinds(model.checkpoint.config, 2):
        built = module._build(model, kind, resident, kernels)
        met = 0
        module._decode(built, kind, model.checkpoint.experts_per_token)
        steps = 2 * (module.REPEATS + 1) * 2  # asking and told, of two layers
        routers = len(kind.layers) * len(kind.config.moe_layers) // 2 * _router_weights(model)
        layers += met * len(kind.layers) // steps + routers // 2  # told ones ask no router
    head = model.checkpoint.config.vocab_size * model.checkpoint.config.hidden_size
    assert token == layers + head


def _router_weights(model: PlannedModel) -> int:
    config = model.checkpoint.config
    return config.num_experts * config.hidden_size


def test_in_a_process_of_its_own() -> None:
    speed = in_its_own_process(str(NANO))
    assert speed.shape == open_model(NANO).facts(4).shape and speed.exact > 0
    with pytest.raises(EngineError, match="no such checkpoint directory"):
        in_its_own_process("/nowhere")

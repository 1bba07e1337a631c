"""mlx-lm, which shares no code with this package, loads the 8B we write and makes sense of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
import pytest

from tests.engine.checkpoint.bailing_oracle import load

IDS = np.random.default_rng(0).integers(0, 448, 16).tolist()


@pytest.fixture(autouse=True, scope="module")
def on_cpu() -> Iterator[None]:
    before = mx.default_device()
    mx.set_default_device(mx.cpu)
    yield
    mx.set_default_device(before)


@pytest.fixture(scope="module")
def model(tiny_8b_path: Path) -> Any:
    return load(tiny_8b_path)


def test_loads_strictly_with_sane_logits(model: Any) -> None:
    out = np.array(model(mx.array([IDS]))[0])
    assert out.shape == (16, 512) and np.isfinite(out).all()
    assert 1.0 < out.std() < 10.0
    assert len(set(out.argmax(-1).tolist())) > 8


def test_quantised_as_published(model: Any) -> None:
    kda, mla = model.layers[0], model.layers[3]
    assert (kda.attention.f_proj.bits, mla.attention.q_a_proj.bits, kda.mlp.up_proj.bits) == (4, 4, 4)
    assert (mla.mlp.switch_mlp.up_proj.bits, model.model.word_embeddings.bits, model.lm_head.bits) == (4, 4, 4)
    assert not hasattr(mla.mlp.gate, "bits") and mla.mlp.gate.top_k == 4


def test_routing_differs_and_every_part_has_a_say(model: Any) -> None:
    hidden = model.model.word_embeddings(mx.array([IDS]))
    for layer in model.layers:
        mixed = layer.attention(layer.input_layernorm(hidden), None if layer.is_linear else causal(len(IDS)))
        after = hidden + mixed
        normed = layer.post_attention_layernorm(after)
        if hasattr(layer.mlp, "gate"):
            indices, weights = (np.array(a)[0] for a in layer.mlp.gate(normed))
            assert len({tuple(sorted(row)) for row in indices.tolist()}) > 8
            assert len(set(indices.flatten().tolist())) > 8
            assert np.ptp(weights, axis=-1).mean() > 0.1
            plain = np.array(mx.sigmoid(normed[0] @ layer.mlp.gate.weight.T))
            assert (np.argsort(-plain, -1)[:, :4] != np.argsort(-(plain + bias(layer)), -1)[:, :4]).any()
        update = layer.mlp(normed)
        for part in (mixed, update):
            assert 0.05 < float(part.std()) < 5
        hidden = after + update
        assert float(mx.abs(hidden).max()) < 100


def causal(length: int) -> mx.array:
    return mx.array(np.tril(np.ones((length, length), dtype=bool)))


def bias(layer: Any) -> np.ndarray[Any, Any]:
    return np.array(layer.mlp.gate.expert_bias)


def test_k_and_an_addition_to_kv_b_reach_the_model(model: Any, tiny_8b_path: Path) -> None:
    module = "model.layers.3.attention.kv_b_proj"
    heads, rows, latent = 4, 64, 64
    share = np.random.default_rng(1).standard_normal((heads * rows, latent)) * 0.1
    other = load(tiny_8b_path, k=2, added={module: share})
    assert other.layers[1].mlp.gate.top_k == 2
    before, after = model.layers[3].attention, other.layers[3].attention
    blocks = share.reshape(heads, rows, latent)
    np.testing.assert_allclose(
        np.array(after.embed_q.weight - before.embed_q.weight), blocks[:, :32].swapaxes(1, 2), atol=1e-6
    )
    np.testing.assert_allclose(
        np.array(after.unembed_out.weight - before.unembed_out.weight), blocks[:, 32:], atol=1e-6
    )

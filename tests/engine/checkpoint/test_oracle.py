"""mlx-lm, which shares no code with this package, loads what we write and makes sense of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
import pytest
from mlx_lm.utils import load_model

from engine.checkpoint.synthetic import tiny, write_synthetic

IDS = np.random.default_rng(0).integers(0, 448, 16).tolist()


@pytest.fixture(autouse=True, scope="module")
def on_cpu() -> Iterator[None]:
    before = mx.default_device()
    mx.set_default_device(mx.cpu)
    yield
    mx.set_default_device(before)


def load(path: Path) -> Any:
    """Strictly: a missing, extra or misshapen tensor raises."""
    model, _ = load_model(path, strict=True)
    model.set_dtype(mx.float32)
    return model


def logits(model: Any) -> np.ndarray[Any, Any]:
    return np.array(model(mx.array([IDS]))[0])


@pytest.fixture(scope="module")
def model(tiny_path: Path) -> Any:
    return load(tiny_path)


def test_loads_strictly_with_sane_logits(model: Any) -> None:
    out = logits(model)
    assert out.shape == (16, 512) and np.isfinite(out).all()
    assert 1.0 < out.std() < 10.0
    assert len(set(out.argmax(-1).tolist())) > 8


def test_bits_are_as_the_overrides_say(model: Any) -> None:
    layer = model.layers[3]
    assert (layer.mlp.gate.bits, layer.mlp.shared_expert_gate.bits) == (8, 8)
    assert (layer.mlp.switch_mlp.up_proj.bits, layer.self_attn.q_proj.bits, layer.mlp.top_k) == (4, 4, 4)


def test_routing_differs_from_token_to_token(model: Any) -> None:
    hidden = model.language_model.model.embed_tokens(mx.array([IDS]))
    for layer in model.layers:
        mixer, mask = (layer.linear_attn, None) if layer.is_linear else (layer.self_attn, "causal")
        after = hidden + mixer(layer.input_layernorm(hidden), mask=mask, cache=None)
        normed = layer.post_attention_layernorm(after)
        chosen = np.argsort(-np.array(layer.mlp.gate(normed)[0]), -1)[:, :4]
        assert len({tuple(sorted(row)) for row in chosen.tolist()}) > 8
        assert len(set(chosen.flatten().tolist())) > 8
        hidden = after + layer.mlp(normed)
        assert float(mx.abs(hidden).max()) < 100


def test_original_layout_is_the_same_model(model: Any, tmp_path: Path) -> None:
    raw = load(write_synthetic(tmp_path / "raw", replace(tiny(), raw_layout=True, prefix="model.language_model.")))
    np.testing.assert_array_equal(logits(raw), logits(model))

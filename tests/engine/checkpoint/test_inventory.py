"""The published figures, from configuration alone (facts: checkpoints.md §2a, §3)."""

from __future__ import annotations

from math import prod

from engine.checkpoint import LinearPart, expected_tensors
from engine.checkpoint.synthetic import REAL_35B, full, published_quant, total_bytes
from engine.checkpoint.synthetic.adapters import head_tensors, lora_tensors

TENSORS = expected_tensors(REAL_35B, published_quant(40))


def in_layer(layer: int) -> list[int]:
    """Sizes of a layer's resident tensors."""
    return [t.nbytes for t in TENSORS if t.name.startswith(f"layers.{layer}.") and not t.expert]


def test_whole_model() -> None:
    assert len(TENSORS) == 1757
    assert sum(t.nbytes for t in TENSORS) == 19_508_787_456
    assert sum(t.nbytes for t in TENSORS if not t.expert) == 1_389_394_176
    assert sum(t.nbytes for t in TENSORS if t.expert) == 256 * 40 * 1_769_472
    assert len({t.name for t in TENSORS}) == 1757


def test_layers() -> None:
    assert (len(in_layer(0)), sum(in_layer(0))) == (36, 21_350_912)
    assert (len(in_layer(3)), sum(in_layer(3))) == (31, 17_673_344)
    assert REAL_35B.attention_layers == tuple(range(3, 40, 4))


def test_modules() -> None:
    linear = [part for part in REAL_35B.parts(False) if isinstance(part, LinearPart)]
    assert sum(1 for part in linear if not part.experts) == 392
    assert sum(1 for part in linear if part.experts) == 120
    matrices = sum(max(part.experts, 1) * part.out_features * part.in_features for part in linear)
    plain = sum(prod(part.shape) for part in REAL_35B.parts(False) if not isinstance(part, LinearPart))
    assert matrices + plain == 34_660_610_688


def test_single_tensors() -> None:
    sizes = {t.name: (t.dtype, t.shape, t.nbytes) for t in TENSORS}
    assert sizes["embed_tokens.weight"][:2] == ("U32", (248320, 256))
    assert sizes["layers.0.linear_attn.conv1d.weight"] == ("BF16", (8192, 4, 1), 65_536)
    assert sizes["layers.39.mlp.gate.weight"][:2] == ("U32", (256, 512))
    assert sizes["layers.39.mlp.shared_expert_gate.scales"][:2] == ("BF16", (1, 32))
    assert sizes["layers.5.mlp.switch_mlp.down_proj.weight"][:2] == ("U32", (256, 2048, 64))
    assert sizes["layers.5.mlp.switch_mlp.up_proj.biases"][:2] == ("BF16", (256, 512, 32))


def test_adapters_and_heads() -> None:
    lora, heads = lora_tensors(full()), head_tensors(full())
    assert (len(lora), sum(t.nbytes for t in lora)) == (620, 42_332_160)
    assert (len(heads), sum(t.nbytes for t in heads)) == (99, 138_412_032)
    assert total_bytes(full()) == 19_508_787_456 + 42_332_160 + 138_412_032
    assert REAL_35B.consumers(full().owners) == tuple(range(7, 39))

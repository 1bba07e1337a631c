"""The 8B's published figures, from configuration alone (facts: checkpoints.md §2b, §3)."""

from __future__ import annotations

from math import prod

import pytest

from engine.checkpoint import LinearPart, Quantization, QuantSpec, expected_tensors
from engine.checkpoint.bailing_moe_v3.config import layer_types
from engine.checkpoint.records import PARTS
from engine.checkpoint.synthetic import REAL_8B, full_8b, sliced_8b, total_bytes
from engine.checkpoint.synthetic.adapters import head_tensors, lora_tensors
from engine.checkpoint.synthetic.bailing_moe_v3 import leftovers
from engine.errors import UsageError

TENSORS = expected_tensors(REAL_8B, QuantSpec(Quantization(64, 4)), raw_layout=True)
SIZES = {t.name: (t.dtype, t.shape, t.nbytes) for t in TENSORS}


def in_layer(layer: int) -> list[int]:
    """Sizes of a layer's resident tensors."""
    return [t.nbytes for t in TENSORS if t.name.startswith(f"layers.{layer}.") and not t.expert]


def test_whole_model() -> None:
    assert len({t.name for t in TENSORS}) == len(TENSORS) == 1196 - 66
    assert sum(t.nbytes for t in TENSORS if not t.expert) == 540_351_296
    assert sum(t.nbytes for t in TENSORS if t.expert) == 3_906_994_176 == 23 * 128 * 1_327_104
    assert sum(t.nbytes for t in TENSORS if t.name.startswith("layers.9.") and t.expert) == 169_869_312


def test_file_with_the_leftovers_of_training() -> None:
    pregate = leftovers(full_8b())
    assert (len(pregate), sum(t.nbytes for t in pregate)) == (66, 61_210_624)
    assert len({t.name for t in pregate}) == 66 and all(REAL_8B.ignores(f"model.{t.name}") for t in pregate)
    assert sum(t.nbytes for t in (*TENSORS, *pregate)) == 4_508_556_096 == 4_508_697_328 - 8 - 141_224


def test_layers() -> None:
    assert sum(in_layer(0)) == 22_634_272
    assert {sum(in_layer(i)) for i in REAL_8B.kda_layers if i} == {12_410_912}
    assert {sum(in_layer(i)) for i in REAL_8B.mla_layers} == {5_852_416}
    assert REAL_8B.mla_layers == (3, 7, 11, 15, 19, 23) and len(REAL_8B.kda_layers) == 18
    assert REAL_8B.moe_layers == tuple(range(1, 24))


def test_parameters() -> None:
    parts = REAL_8B.parts(True)
    linear = [part for part in parts if isinstance(part, LinearPart)]
    matrices = sum(max(part.experts, 1) * part.out_features * part.in_features for part in linear)
    plain = sum(prod(part.shape) for part in parts if not isinstance(part, LinearPart))
    assert matrices + plain == 7_893_392_800


def test_single_tensors() -> None:
    at = "layers.3.attention"
    assert SIZES["word_embeddings.weight"][:2] == ("U32", (157184, 192))
    assert SIZES["layers.0.attention.k_conv1d.weight"] == ("BF16", (2048, 1, 4), 16_384)
    assert SIZES["layers.0.attention.dt_bias"][:2] == ("BF16", (2048,))
    assert SIZES["layers.0.mlp.down_proj.weight"][:2] == ("U32", (1536, 576))
    assert SIZES[f"{at}.kv_a_proj_with_mqa.weight"][:2] == ("U32", (576, 192))
    assert SIZES[f"{at}.kv_b_proj.scales"][:2] == ("BF16", (4096, 8))
    assert SIZES[f"{at}.q_b_proj.weight"][:2] == ("U32", (3072, 32))
    assert SIZES["layers.1.mlp.gate.weight"] == ("BF16", (128, 1536), 393_216)
    assert SIZES["layers.1.mlp.gate.expert_bias"] == ("BF16", (128,), 256)
    assert SIZES["layers.1.mlp.experts.down_proj.weight"] == ("U32", (128, 1536, 64), 50_331_648)
    assert sum(SIZES[f"layers.1.mlp.experts.{part}"][2] for part in PARTS) == 128 * 1_327_104
    assert "layers.1.mlp.gate.scales" not in SIZES and "layers.0.mlp.gate.weight" not in SIZES


def test_older_layout_differs_in_the_convolutions_only() -> None:
    older = expected_tensors(REAL_8B, QuantSpec(Quantization(64, 4)), raw_layout=False)
    moved = [(a, b) for a, b in zip(TENSORS, older, strict=True) if a != b]
    assert len(moved) == 54 and {(a.shape, b.shape) for a, b in moved} == {((2048, 1, 4), (2048, 4, 1))}


def test_adapters_and_heads() -> None:
    lora, heads = lora_tensors(full_8b()), head_tensors(full_8b())
    assert (len(lora), sum(t.nbytes for t in lora)) == (2 * 153, 16_379_904)
    assert (len(heads), sum(t.nbytes for t in heads)) == (48, 38_797_312)
    assert [t.shape for t in heads[:3]] == [(512, 1792), (128, 512), (128, 1792)]
    assert total_bytes(full_8b()) == 4_508_556_096 + 16_379_904 + 38_797_312
    targets = REAL_8B.lora_targets
    assert len(set(targets)) == 153 == 18 * 7 + 6 * 4 + 3
    assert "layers.3.attention.kv_b_proj" in targets and "layers.3.attention.q_a_proj" not in targets


@pytest.mark.parametrize(
    ("owners", "consumers"),
    [(range(7, 23), range(8, 24)), ((0, 1), (2,)), ((22, 23, 24), (23,)), ((9, 8), (9, 10)), ((), ())],
)
def test_consumers_include_the_last_layer(owners: tuple[int, ...], consumers: tuple[int, ...]) -> None:
    assert REAL_8B.consumers(owners) == tuple(consumers)


def test_the_slice_keeps_the_real_dimensions() -> None:
    spec = sliced_8b(4)
    assert spec.model.hidden_size == 1536 and spec.model.num_experts == 128
    assert spec.model.consumers(spec.owners) == (2, 3)
    assert total_bytes(spec) < 700_000_000
    assert sliced_8b(24, 157184).model == REAL_8B and sliced_8b(24, 157184).owners == full_8b().owners
    with pytest.raises(UsageError, match="A slice of 1 layers has no experts"):
        sliced_8b(1)
    # what makes no whole group attends, as in the original code
    assert layer_types(6) == ("kda", "kda", "kda", "mla", "mla", "mla")

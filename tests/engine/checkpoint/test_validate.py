"""Every departure from the complete tensor list is named; every accepted variation is accepted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.checkpoint import Quantization, open_checkpoint
from engine.checkpoint.dtypes import from_bfloat16
from engine.errors import CheckpointError

EditShard = Callable[[Path, Callable[[dict[str, Any]], object]], None]
EditJson = Callable[[Path, Callable[[dict[str, Any]], object]], None]

AT = "language_model.model.layers.3"
Q_PROJ = f"{AT}.self_attn.q_proj"
EXPERTS = f"{AT}.mlp.switch_mlp.gate_proj"


def remove(*names: str) -> Callable[[dict[str, Any]], None]:
    def change(tensors: dict[str, Any]) -> None:
        for name in names:
            del tensors[name]

    return change


def put(name: str, dtype: str, shape: list[int]) -> Callable[[dict[str, Any]], None]:
    size = {"BF16": 2, "F16": 2, "F32": 4, "U32": 4, "I32": 4}[dtype]
    return lambda tensors: tensors.update({name: (dtype, shape, bytes(size * int(np.prod(shape))))})


REFUSED: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "missing norm": (remove(f"{AT}.self_attn.q_norm.weight"), r"1 tensor missing: 'layers\.3\.self_attn\.q_norm"),
    "missing scales": (remove(f"{Q_PROJ}.scales"), r"1 tensor missing: 'layers\.3\.self_attn\.q_proj\.scales'"),
    "missing biases": (remove(f"{EXPERTS}.biases"), r"missing: 'layers\.3\.mlp\.switch_mlp\.gate_proj\.biases'"),
    "missing matrix": (
        remove(f"{Q_PROJ}.weight", f"{Q_PROJ}.scales", f"{Q_PROJ}.biases"),
        r"3 tensors missing: 'layers\.3\.self_attn\.q_proj\.weight'",
    ),
    "extra": (
        put("language_model.model.layers.8.x", "F32", [1]),
        r"1 tensor extra: .*layers\.8\.x' in model\.safe",
    ),
    "extra bias": (put(f"{Q_PROJ}.bias", "F32", [256]), r"1 tensor extra: .*q_proj\.bias'"),
    "norm shape": (
        put(f"{AT}.input_layernorm.weight", "BF16", [64]),
        r"1 tensor misshapen: .*\[64\] instead of \[128\]",
    ),
    "matrix shape": (
        put(f"{Q_PROJ}.weight", "U32", [256, 15]),
        r"q_proj\.weight' .*\[256, 15\] instead of \[256, 16\]",
    ),
    "scales shape": (
        put(f"{Q_PROJ}.scales", "BF16", [256, 3]),
        r"q_proj\.scales' .*\[256, 3\] instead of \[256, 2\]",
    ),
    "experts shape": (put(f"{EXPERTS}.weight", "U32", [15, 64, 16]), r"\[15, 64, 16\] instead of \[16, 64, 16\]"),
    "weight type": (
        put(f"{Q_PROJ}.weight", "I32", [256, 16]),
        r"1 tensor of a wrong element type: .*I32 instead of U32",
    ),
    "scales type": (put(f"{Q_PROJ}.scales", "F32", [256, 2]), r"q_proj\.scales' .*F32 instead of BF16"),
    "norm type": (put(f"{AT}.input_layernorm.weight", "I32", [128]), r"I32 instead of BF16"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_by_name(case: str, single_copy: Path, edit_shard: EditShard) -> None:
    change, message = REFUSED[case]
    edit_shard(single_copy / "model.safetensors", change)
    with pytest.raises(CheckpointError, match=message):
        open_checkpoint(single_copy)


def test_many_are_counted_and_the_first_named(single_copy: Path, edit_shard: EditShard) -> None:
    def change(tensors: dict[str, Any]) -> None:
        for name in [name for name in tensors if ".mlp.gate." in name]:
            del tensors[name]

    edit_shard(single_copy / "model.safetensors", change)
    with pytest.raises(
        CheckpointError, match=r"single: 24 tensors missing: 'layers\.0\.mlp\.gate\.weight'.* and 20 more"
    ):
        open_checkpoint(single_copy)


def unquantise(tensors: dict[str, Any], module: str, out: int, inputs: int) -> None:
    for suffix in ("weight", "scales", "biases"):
        del tensors[f"{module}.{suffix}"]
    tensors[f"{module}.weight"] = ("BF16", [out, inputs], bytes(out * inputs * 2))


def test_modules_may_be_unquantised(single_copy: Path, edit_shard: EditShard) -> None:
    def change(tensors: dict[str, Any]) -> None:
        unquantise(tensors, Q_PROJ, 256, 128)
        unquantise(tensors, f"{AT}.mlp.gate", 16, 128)

    edit_shard(single_copy / "model.safetensors", change)
    modules = open_checkpoint(single_copy).modules
    assert modules["layers.3.self_attn.q_proj"] is None and modules["layers.3.mlp.gate"] is None
    assert modules["layers.3.self_attn.k_proj"] == Quantization(64, 4)
    assert modules["layers.2.mlp.gate"] == Quantization(64, 8)


def test_experts_must_be_quantised(single_copy: Path, edit_shard: EditShard) -> None:
    def change(tensors: dict[str, Any]) -> None:
        for suffix in ("weight", "scales", "biases"):
            del tensors[f"{EXPERTS}.{suffix}"]
        tensors[f"{EXPERTS}.weight"] = ("BF16", [16, 64, 128], bytes(16 * 64 * 128 * 2))

    edit_shard(single_copy / "model.safetensors", change)
    with pytest.raises(CheckpointError, match=r"not supported: .*experts must be quantised"):
        open_checkpoint(single_copy)


def test_shapes_tell_bits_and_group(single_copy: Path, edit_shard: EditShard) -> None:
    """8 bits in groups of 32, where the file's default says 4 in groups of 64."""

    def change(tensors: dict[str, Any]) -> None:
        put(f"{Q_PROJ}.weight", "U32", [256, 32])(tensors)
        put(f"{Q_PROJ}.scales", "F16", [256, 4])(tensors)
        put(f"{Q_PROJ}.biases", "F16", [256, 4])(tensors)

    edit_shard(single_copy / "model.safetensors", change)
    assert open_checkpoint(single_copy).modules["layers.3.self_attn.q_proj"] == Quantization(32, 8)


def test_an_override_must_agree_with_the_shapes(single_copy: Path, edit_json: EditJson) -> None:
    override = {f"{AT}.mlp.gate": {"group_size": 64, "bits": 4}}
    edit_json(single_copy / "config.json", lambda config: config["quantization"].update(override))
    with pytest.raises(
        CheckpointError, match=r"layers\.3\.mlp\.gate\.weight' \(8 bits, but config\.json says otherwise"
    ):
        open_checkpoint(single_copy)


def test_layers_must_share_one_record_form(single_copy: Path, edit_shard: EditShard) -> None:
    def change(tensors: dict[str, Any]) -> None:
        for proj in ("gate_proj", "up_proj"):
            at = f"{AT}.mlp.switch_mlp.{proj}"
            put(f"{at}.weight", "U32", [16, 64, 32])(tensors)

    edit_shard(single_copy / "model.safetensors", change)
    with pytest.raises(
        CheckpointError, match=r"layers\.3\.mlp\.switch_mlp\.gate_proj\.weight': is not quantised like"
    ):
        open_checkpoint(single_copy)


@pytest.mark.parametrize("suffix", ["A_log", "dt_bias", "norm.weight", "conv1d.weight"])
def test_float32_vectors_are_accepted(suffix: str, single_copy: Path, edit_shard: EditShard) -> None:
    name = f"language_model.model.layers.0.linear_attn.{suffix}"

    def change(tensors: dict[str, Any]) -> None:
        _, shape, data = tensors[name]
        tensors[name] = ("F32", shape, from_bfloat16(np.frombuffer(data, np.uint16)).tobytes())

    edit_shard(single_copy / "model.safetensors", change)
    assert open_checkpoint(single_copy).tensors[f"layers.0.linear_attn.{suffix}"].dtype == "F32"


def test_vision_and_extra_heads_are_skipped(single_copy: Path, edit_shard: EditShard) -> None:
    before = set(open_checkpoint(single_copy).tensors)

    def change(tensors: dict[str, Any]) -> None:
        for name in ("vision_tower.a", "model.visual.b", "mtp.fc.weight", "language_model.mtp.norm.weight"):
            tensors[name] = ("F32", [1], bytes(4))

    edit_shard(single_copy / "model.safetensors", change)
    assert set(open_checkpoint(single_copy).tensors) == before


def test_mixed_convolution_layouts_are_refused(single_copy: Path, edit_shard: EditShard) -> None:
    name = "language_model.model.layers.0.linear_attn.conv1d.weight"
    edit_shard(single_copy / "model.safetensors", put(name, "BF16", [256, 1, 4]))
    with pytest.raises(CheckpointError, match=r"5 tensors misshapen: .*layers\.1\.linear_attn\.conv1d"):
        open_checkpoint(single_copy)


def test_the_original_model_is_told_apart_from_damage(
    single_copy: Path, edit_shard: EditShard, edit_json: EditJson
) -> None:
    def change(tensors: dict[str, Any]) -> None:
        for name in [name for name in tensors if ".switch_mlp." in name]:
            del tensors[name]
        put(f"{AT}.mlp.experts.gate_up_proj", "BF16", [16, 128, 128])(tensors)

    edit_shard(single_copy / "model.safetensors", change)
    edit_json(
        single_copy / "config.json", lambda config: [config.pop(k) for k in list(config) if k.startswith("quant")]
    )
    with pytest.raises(CheckpointError, match=r"1 tensor extra: .*experts\.gate_up_proj'") as error:
        open_checkpoint(single_copy)
    assert "never quantised" in error.value.hint

"""What the 8B's file may contain besides, and the older spellings of its convolutions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.checkpoint import open_checkpoint, read_header, read_tensor
from engine.checkpoint.dtypes import from_bfloat16
from engine.errors import CheckpointError

EditShard = Callable[[Path, Callable[[dict[str, Any]], object]], None]

FILE = "model.safetensors"
CONV = "model.layers.0.attention.q_conv1d.weight"


def rename(tensors: dict[str, Any], name: str) -> None:
    tensors[name.replace("_conv1d.weight", "_conv1d.conv.weight")] = tensors.pop(name)


def move_axes(tensors: dict[str, Any], name: str) -> None:
    """[C, 1, k] → [C, k, 1]: the same bytes in order."""
    dtype, (channels, _, kernel), data = tensors[name]
    tensors[name] = (dtype, [channels, kernel, 1], data)


@pytest.mark.parametrize("moved", [False, True])
@pytest.mark.parametrize("renamed", [False, True])
def test_older_names_and_layouts_are_one_model(
    renamed: bool, moved: bool, tiny_8b_path: Path, tiny_8b_copy: Path, edit_shard: EditShard
) -> None:
    def change(tensors: dict[str, Any]) -> None:
        for name in [name for name in tensors if "_conv1d" in name]:
            if moved:
                move_axes(tensors, name)
            if renamed:
                rename(tensors, name)

    edit_shard(tiny_8b_copy / FILE, change)
    found, published = open_checkpoint(tiny_8b_copy), open_checkpoint(tiny_8b_path)
    assert found.raw_layout is not moved and published.raw_layout
    assert set(found.tensors) == set(published.tensors)
    convolutions = [name for name in found.tensors if name.endswith("_conv1d.weight")]
    assert len(convolutions) == 6 * 3
    assert found.tensors[convolutions[0]].shape == ((128, 4, 1) if moved else (128, 1, 4))
    assert all(("conv.weight" in found.tensors[name].name) is renamed for name in convolutions)
    for name in convolutions:
        np.testing.assert_array_equal(
            read_tensor(found.tensors[name]).reshape(128, 4), read_tensor(published.tensors[name]).reshape(128, 4)
        )


def test_mixed_layouts_are_refused(tiny_8b_copy: Path, edit_shard: EditShard) -> None:
    edit_shard(tiny_8b_copy / FILE, lambda tensors: move_axes(tensors, CONV))
    with pytest.raises(
        CheckpointError, match=r"1 tensor misshapen: .*0\.attention\.q_conv1d.*\[128, 4, 1\] instead of \[128, 1, 4"
    ):
        open_checkpoint(tiny_8b_copy)


def test_a_convolution_under_both_names_is_refused(tiny_8b_copy: Path, edit_shard: EditShard) -> None:
    def change(tensors: dict[str, Any]) -> None:
        copy = tensors[CONV]
        rename(tensors, CONV)
        tensors[CONV] = copy

    edit_shard(tiny_8b_copy / FILE, change)
    with pytest.raises(CheckpointError, match=r"q_conv1d\.weight': is the same weight as .*q_conv1d\.conv\.weight"):
        open_checkpoint(tiny_8b_copy)


def test_leftovers_of_training_are_ignored_whatever_they_are(tiny_8b_copy: Path, edit_shard: EditShard) -> None:
    before = open_checkpoint(tiny_8b_copy)
    in_file = read_header(tiny_8b_copy / FILE).tensors
    assert sum(".mlp.pregate." in name for name in in_file) == 6 * 3
    assert len(before.tensors) == len(in_file) - 18
    assert before.dense_bytes + before.expert_bytes == sum(info.nbytes for info in before.tensors.values())

    def change(tensors: dict[str, Any]) -> None:
        for name in [name for name in tensors if ".mlp.pregate." in name]:
            del tensors[name]
        tensors["model.layers.5.mlp.pregate.surprise.bias"] = ("F32", [1], bytes(4))

    edit_shard(tiny_8b_copy / FILE, change)
    assert set(open_checkpoint(tiny_8b_copy).tensors) == set(before.tensors)


@pytest.mark.parametrize(
    "name",
    ["attention.A_log", "attention.dt_bias", "attention.o_norm.weight", "attention.v_conv1d.weight",
     "mlp.gate.weight", "mlp.gate.expert_bias"],
)  # fmt: skip
def test_float32_vectors_and_routers_are_accepted(name: str, tiny_8b_copy: Path, edit_shard: EditShard) -> None:
    def change(tensors: dict[str, Any]) -> None:
        _, shape, data = tensors[f"model.layers.1.{name}"]
        words = np.frombuffer(data, np.uint16)
        tensors[f"model.layers.1.{name}"] = ("F32", shape, from_bfloat16(words).tobytes())

    edit_shard(tiny_8b_copy / FILE, change)
    assert open_checkpoint(tiny_8b_copy).tensors[f"layers.1.{name}"].dtype == "F32"


def test_a_quantised_router_is_refused(tiny_8b_copy: Path, edit_shard: EditShard) -> None:
    def change(tensors: dict[str, Any]) -> None:
        tensors["model.layers.1.mlp.gate.weight"] = ("U32", [16, 32], bytes(2048))
        for part in ("scales", "biases"):
            tensors[f"model.layers.1.mlp.gate.{part}"] = ("BF16", [16, 2], bytes(64))

    edit_shard(tiny_8b_copy / FILE, change)
    with pytest.raises(CheckpointError, match=r"2 tensors extra: 'model\.layers\.1\.mlp\.gate\.scales'.*misshapen"):
        open_checkpoint(tiny_8b_copy)


def test_remote_code_is_never_touched(tiny_8b_copy: Path) -> None:
    trap = tiny_8b_copy / "ran"
    for name in ("configuration_bailing_moe_v3.py", "modeling_bailing_moe_v3.py"):
        (tiny_8b_copy / name).write_text(f"open({str(trap)!r}, 'w')\n")
    assert open_checkpoint(tiny_8b_copy).family == "bailing_moe_v3" and not trap.exists()

"""An expert's nine ranges, and read_tensor, against independent readers on files with odd offsets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
import pytest
from safetensors import deserialize
from safetensors.numpy import load_file

from engine.checkpoint import Checkpoint, Quantization, open_checkpoint, read_header, read_tensor
from engine.checkpoint.records import PARTS
from engine.checkpoint.synthetic.adapters import LORA
from engine.errors import CheckpointError


@pytest.fixture(scope="module")
def checkpoint(tiny_path: Path) -> Checkpoint:
    return open_checkpoint(tiny_path)


def by_mlx(checkpoint: Checkpoint, name: str) -> np.ndarray[Any, Any]:
    """The bytes of a tensor as mlx reads them."""
    info = checkpoint.tensors[name]
    loaded = mx.load(str(info.path))
    assert isinstance(loaded, dict)
    return np.array(loaded[info.name].view(mx.uint8))


def test_layout(checkpoint: Checkpoint) -> None:
    layout = checkpoint.records.layout
    assert [part.name for part in layout.parts] == list(PARTS)
    assert [part.shape for part in layout.parts] == [(64, 16)] * 2 + [(64, 2)] * 4 + [(128, 8)] + [(128, 1)] * 2
    assert [part.offset for part in layout.parts] == [0, 4096, 8192, 8448, 8704, 8960, 9216, 13312, 13568]
    assert layout.nbytes == sum(part.nbytes for part in layout.parts) == 13824
    assert layout.gate_up == layout.down == Quantization(64, 4)


@pytest.mark.parametrize(("layer", "expert"), [(0, 0), (3, 7), (7, 15)])
def test_ranges_are_the_expert(layer: int, expert: int, checkpoint: Checkpoint) -> None:
    for part, place in zip(PARTS, checkpoint.records.ranges(layer, expert), strict=True):
        with place.path.open("rb") as file:
            file.seek(place.offset)
            data = file.read(place.nbytes)
        whole = by_mlx(checkpoint, f"layers.{layer}.mlp.switch_mlp.{part}")
        assert data == whole[expert].tobytes()


def test_ranges_outside(checkpoint: Checkpoint) -> None:
    for layer, expert in ((8, 0), (0, 16), (0, -1)):
        with pytest.raises(IndexError, match=f"no expert {expert} in layer {layer}"):
            checkpoint.records.ranges(layer, expert)


def test_bytes_are_accounted_for(checkpoint: Checkpoint) -> None:
    assert checkpoint.expert_bytes == 8 * 16 * 13824
    assert checkpoint.dense_bytes + checkpoint.expert_bytes == sum(i.nbytes for i in checkpoint.tensors.values())


def test_read_tensor_at_odd_offsets(checkpoint: Checkpoint) -> None:
    odd = [info for info in checkpoint.tensors.values() if info.offset % 2]
    assert len(odd) > 100
    for shard in checkpoint.files.shards:
        raw = dict(deserialize(shard.read_bytes()))  # type: ignore[no-untyped-call]
        for info in read_header(shard).tensors.values():
            array = read_tensor(info)
            assert array.tobytes() == bytes(raw[info.name]["data"])
            assert list(array.shape) == raw[info.name]["shape"]
            assert array.ctypes.data % 64 == 0 and array.flags.writeable


def test_read_tensor_gives_numpy_types(tiny_path: Path, checkpoint: Checkpoint) -> None:
    reference = load_file(tiny_path / LORA)
    for name, info in read_header(tiny_path / LORA).tensors.items():
        assert info.offset % 2 == 1
        np.testing.assert_array_equal(read_tensor(info), reference[name], strict=True)
    assert read_tensor(checkpoint.tensors["norm.weight"]).dtype == np.uint16


def test_a_file_cut_after_opening_is_named(tiny_copy: Path) -> None:
    info = open_checkpoint(tiny_copy).tensors["norm.weight"]
    info.path.write_bytes(info.path.read_bytes()[: info.offset + 10])
    with pytest.raises(
        CheckpointError, match=rf"{info.path.name}: tensor '{info.name}': ends after 10 of 256 bytes"
    ):
        read_tensor(info)

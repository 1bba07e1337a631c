"""The writer's 8B: one aligned file, read back by our reader and by others."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from engine.checkpoint import Quantization, from_bfloat16, open_checkpoint, read_header, read_tensor
from engine.checkpoint.records import PARTS
from engine.checkpoint.synthetic import TINY_8B, sliced_8b, tiny_8b, total_bytes, write_synthetic
from engine.checkpoint.synthetic.__main__ import main
from engine.checkpoint.synthetic.adapters import HEADS, LORA


def contents(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def test_same_seed_same_bytes(tiny_8b_path: Path, tmp_path: Path) -> None:
    first = contents(tiny_8b_path)
    assert contents(write_synthetic(tmp_path / "again", tiny_8b(), seed=0)) == first
    other = contents(write_synthetic(tmp_path / "other", tiny_8b(), seed=1))
    assert other["model.safetensors"] != first["model.safetensors"] and other["config.json"] == first["config.json"]


def test_one_file_named_as_published(tiny_8b_path: Path) -> None:
    assert set(contents(tiny_8b_path)) == {
        "config.json", "tokenizer.json", "tokenizer_config.json", "chat_template.jinja", "model.safetensors",
        LORA, HEADS,
    }  # fmt: skip
    header = read_header(tiny_8b_path / "model.safetensors")
    assert header.data_start % 8 == 0
    starts = {name.split(".")[0] for name in header.tensors}
    assert starts == {"model", "lm_head"} and "model.word_embeddings.weight" in header.tensors
    written = sum(info.nbytes for info in header.tensors.values())
    for name in (LORA, HEADS):
        written += sum(info.nbytes for info in read_header(tiny_8b_path / name).tensors.values())
    assert written == total_bytes(tiny_8b())


def test_opens_as_what_was_asked_for(tiny_8b_path: Path) -> None:
    checkpoint = open_checkpoint(tiny_8b_path)
    assert checkpoint.config == TINY_8B and checkpoint.family == "bailing_moe_v3" and checkpoint.raw_layout
    assert (checkpoint.tier, checkpoint.experts_per_token, checkpoint.notes) == ("custom", 4, ())
    assert (
        set(checkpoint.modules.values()) == {Quantization(64, 4)} and "layers.1.mlp.gate" not in checkpoint.modules
    )
    assert checkpoint.expert_bytes == 7 * 16 * checkpoint.records.layout.nbytes == 7 * 16 * 13824


@pytest.mark.parametrize(("layer", "expert"), [(1, 0), (3, 7), (7, 15)])
def test_records_are_the_experts(layer: int, expert: int, tiny_8b_path: Path, tmp_path: Path) -> None:
    checkpoint = open_checkpoint(tiny_8b_path)
    for part, place in zip(PARTS, checkpoint.records.ranges(layer, expert), strict=True):
        whole = read_tensor(checkpoint.tensors[f"layers.{layer}.mlp.experts.{part}"])
        content = place.path.read_bytes()[place.offset : place.offset + place.nbytes]
        assert content == whole[expert].tobytes()
    with pytest.raises(IndexError, match="no expert 0 in layer 0"):
        checkpoint.records.ranges(0, 0)


def test_an_index_and_odd_offsets_are_read_too(tiny_8b_path: Path, tmp_path: Path) -> None:
    several = open_checkpoint(write_synthetic(tmp_path / "x", replace(tiny_8b(), shards=3, odd_headers=True)))
    single = open_checkpoint(tiny_8b_path)
    assert len(several.files.shards) == 3 and several.files.index is not None
    assert list(several.tensors) == list(single.tensors)
    name = "layers.7.mlp.experts.down_proj.weight"
    np.testing.assert_array_equal(read_tensor(several.tensors[name]), read_tensor(single.tensors[name]))


def test_values_are_spread_as_the_maths_needs(tiny_8b_path: Path) -> None:
    checkpoint = open_checkpoint(tiny_8b_path)

    def values(name: str) -> np.ndarray:
        return from_bfloat16(read_tensor(checkpoint.tensors[name]))

    rate = np.exp(values("layers.0.attention.A_log"))
    assert rate.min() >= 0.49 and rate.max() <= 2.01
    bias = values("layers.0.attention.dt_bias")
    decay = np.exp(TINY_8B.kda_lower_bound / (1 + np.exp(-np.repeat(rate, 32) * bias)))
    assert decay.min() < 0.5 and decay.max() > 0.95
    gate = values("layers.1.mlp.gate.weight")
    assert gate.std() * 128**0.5 == pytest.approx(2.0, rel=0.1)
    assert 0.02 < values("layers.1.mlp.gate.expert_bias").std() < 0.3
    assert abs(values("layers.3.attention.kv_a_layernorm.weight").mean() - 1) < 0.1


def test_adapter_files_carry_the_published_metadata(tiny_8b_path: Path) -> None:
    lora = json.loads(read_header(tiny_8b_path / LORA).metadata["__metadata__"])
    heads = json.loads(read_header(tiny_8b_path / HEADS).metadata["__metadata__"])
    assert (lora["kind"], lora["K"], lora["r"], lora["alpha"]) == ("lora", "4", "4", "8")
    assert (heads["kind"], heads["K"], json.loads(heads["owners"])) == ("prerouter", "4", [2, 3, 4, 5, 6])
    assert {array.dtype for array in load_file(tiny_8b_path / HEADS).values()} == {np.dtype(np.float16)}


def test_real_dimensions_carry_the_released_k(tmp_path: Path) -> None:
    """A slice of two layers with a single head, of fewer experts than published to spare the disk."""
    spec = replace(sliced_8b(2, 512), special_base=448, owners=(1,))
    spec = replace(spec, model=replace(spec.model, eos_token_ids=(450,), num_experts=16))
    checkpoint = open_checkpoint(write_synthetic(tmp_path / "x", spec))
    assert checkpoint.config.head_features == 1568 and checkpoint.experts_per_token == 8
    assert checkpoint.records.layout.nbytes == 1_327_104 and checkpoint.expert_bytes == 16 * 1_327_104
    for name in (LORA, HEADS):
        assert json.loads(read_header(tmp_path / "x" / name).metadata["__metadata__"])["K"] == "8"


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tiny-8b", str(tmp_path / "x"), "--seed", "5"]) == 0
    assert open_checkpoint(tmp_path / "x").family == "bailing_moe_v3"
    assert main(["slice-8b", str(tmp_path / "y"), "--layers", "1"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and "written in" in err and "has no experts" in err

"""The base model and other programs' conversions of it: refused, and told apart from damage."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.checkpoint import open_checkpoint
from engine.errors import CheckpointError

EditShard = Callable[[Path, Callable[[dict[str, Any]], object]], None]
EditJson = Callable[[Path, Callable[[dict[str, Any]], object]], None]
Change = Callable[[dict[str, Any]], object]

FILE = "model.safetensors"
KV_B = "model.layers.3.attention.kv_b_proj"


def plain_kv_b(tensors: dict[str, Any]) -> None:
    for part in ("scales", "biases"):
        del tensors[f"{KV_B}.{part}"]
    tensors[f"{KV_B}.weight"] = ("BF16", [256, 64], bytes(2 * 256 * 64))


def split_kv_b(tensors: dict[str, Any]) -> None:
    for part in ("weight", "scales", "biases"):
        del tensors[f"{KV_B}.{part}"]
    for name in ("embed_q", "unembed_out"):
        tensors[f"model.layers.3.attention.{name}.weight"] = ("BF16", [4, 64, 32], bytes(2 * 4 * 64 * 32))


def switch_mlp(tensors: dict[str, Any]) -> None:
    for name in [name for name in tensors if ".mlp.experts." in name]:
        tensors[name.replace(".experts.", ".switch_mlp.")] = tensors.pop(name)


def unstacked(tensors: dict[str, Any]) -> None:
    for name in [name for name in tensors if ".mlp.experts." in name]:
        del tensors[name]
    tensors["model.layers.1.mlp.experts.0.gate_proj.weight"] = ("BF16", [64, 128], bytes(2 * 64 * 128))


def mtp(tensors: dict[str, Any]) -> None:
    tensors["model.layers.8.eh_proj.weight"] = ("BF16", [128, 256], bytes(2 * 128 * 256))
    tensors["model.layers.8.input_layernorm.weight"] = ("BF16", [128], bytes(256))


def mtp_by_name(tensors: dict[str, Any]) -> None:
    tensors["model.mtp.fc.weight"] = ("BF16", [128], bytes(256))


CASES: dict[str, tuple[Change, str, str]] = {
    "kv_b": (
        plain_kv_b,
        r"1 tensor not supported: 'model\.layers\.3\.attention\.kv_b_proj\.weight' .*this matrix must be quantised",
        "its kv_b_proj is not quantised",
    ),
    "split kv_b": (split_kv_b, r"2 tensors extra: 'model\.layers\.3\.attention\.embed_q", "its kv_b_proj is split"),
    "switch_mlp": (
        switch_mlp,
        r"63 tensors missing: 'layers\.1\.mlp\.experts",
        "its experts are called switch_mlp",
    ),
    "unstacked": (unstacked, r"1 tensor extra: .*experts\.0\.gate_proj", "its experts are not stacked"),
    "mtp": (mtp, r"2 tensors extra: 'model\.layers\.8\.eh_proj", r"layers beyond its 8, which predict .*\(MTP\)"),
    "mtp by name": (mtp_by_name, r"1 tensor extra: 'model\.mtp\.fc", r"it predicts further tokens \(MTP\)"),
}


@pytest.mark.parametrize("case", CASES)
def test_each_sign_is_named(case: str, tiny_8b_copy: Path, edit_shard: EditShard) -> None:
    change, message, hint = CASES[case]
    edit_shard(tiny_8b_copy / FILE, change)
    with pytest.raises(CheckpointError, match=message) as error:
        open_checkpoint(tiny_8b_copy)
    assert error.value.hint.startswith("This is the base model (Ling 3.0) or another program's conversion of it: ")
    assert re.search(hint, error.value.hint)


def test_all_of_them_together(tiny_8b_copy: Path, edit_shard: EditShard) -> None:
    edit_shard(tiny_8b_copy / FILE, lambda tensors: [change(tensors) for change in (plain_kv_b, switch_mlp, mtp)])
    with pytest.raises(CheckpointError) as error:
        open_checkpoint(tiny_8b_copy)
    for part in ("63 tensors missing", "65 tensors extra", "1 tensor not supported"):
        assert part in error.value.message
    for sign in ("switch_mlp", "(MTP)", "not quantised"):
        assert error.value.hint.count(sign) == 1


def test_the_base_models_configuration(tiny_8b_copy: Path, edit_json: EditJson) -> None:
    change = {"model_type": "bailing_hybrid", "num_nextn_predict_layers": 1}
    edit_json(tiny_8b_copy / "config.json", lambda config: config.update(change))
    with pytest.raises(CheckpointError, match=r"num_nextn_predict_layers' is not 0: .*\(MTP\)") as error:
        open_checkpoint(tiny_8b_copy)
    assert "Edge0's own checkpoint" in error.value.hint


def test_damage_is_not_taken_for_the_base_model(tiny_8b_copy: Path, edit_shard: EditShard) -> None:
    edit_shard(tiny_8b_copy / FILE, lambda tensors: tensors.pop("model.norm.weight"))
    with pytest.raises(CheckpointError, match=r"1 tensor missing: 'norm\.weight'") as error:
        open_checkpoint(tiny_8b_copy)
    assert "damaged" in error.value.hint and "Ling" not in error.value.hint


def test_groups_that_do_not_divide_the_experts(tiny_8b_copy: Path, edit_json: EditJson) -> None:
    edit_json(tiny_8b_copy / "config.json", lambda config: config.update(n_group=3))
    with pytest.raises(CheckpointError, match=r"n_group' is 3, which does not divide 16 experts"):
        open_checkpoint(tiny_8b_copy)


def test_truncated_or_unfinished_files_are_named(tiny_8b_copy: Path) -> None:
    file = tiny_8b_copy / FILE
    content = file.read_bytes()
    file.write_bytes(content[:-1000])
    with pytest.raises(CheckpointError, match=r"model\.safetensors: tensor '.*': the file is truncated"):
        open_checkpoint(tiny_8b_copy)
    file.rename(tiny_8b_copy / f"{FILE}.part")
    with pytest.raises(CheckpointError, match=r"holds no weights, only the unfinished model\.safetensors\.part"):
        open_checkpoint(tiny_8b_copy)

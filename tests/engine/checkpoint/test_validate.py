"""Every departure from the complete tensor list is named; every accepted variation is accepted."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.checkpoint import Quantization, open_checkpoint
from engine.checkpoint.dtypes import from_bfloat16
from engine.errors import CheckpointError

EditShard = Callable[[Path, Callable[[dict[str, Any]], object]], None]
EditJson = Callable[[Path, Callable[[dict[str, Any]], object]], None]


@dataclass(frozen=True)
class Names:
    """Examples in layer 3 of a family's tiny checkpoint, by their names in the file after `at`.

    norm    a vector that the family has and others have not
    matrix  a projection [rows, 128], and experts [16, 64, 128]
    """

    copy: str
    at: str
    norm: str
    matrix: str
    rows: int
    experts: str

    def __getitem__(self, field: str) -> str:
        return f"{self.at}.{getattr(self, field)}"

    def pattern(self, field: str, suffix: str = "") -> str:
        """The end of a canonical name, quoted as messages quote it."""
        return re.escape(f"layers.3.{getattr(self, field)}{suffix}'")


FAMILIES = {
    "35b": Names(
        copy="single_copy",
        at="language_model.model.layers.3",
        norm="self_attn.q_norm.weight",
        matrix="self_attn.q_proj",
        rows=256,
        experts="mlp.switch_mlp.gate_proj",
    ),
    "8b": Names(
        copy="tiny_8b_copy",
        at="model.layers.3",
        norm="attention.q_a_layernorm.weight",
        matrix="attention.dense",
        rows=128,
        experts="mlp.experts.gate_proj",
    ),
}


@pytest.fixture(params=FAMILIES)
def names(request: pytest.FixtureRequest) -> Names:
    return FAMILIES[request.param]


@pytest.fixture
def directory(names: Names, request: pytest.FixtureRequest) -> Path:
    """A checkpoint of one file in the family's published layout, to modify."""
    return Path(request.getfixturevalue(names.copy))


def remove(*names: str) -> Callable[[dict[str, Any]], None]:
    def change(tensors: dict[str, Any]) -> None:
        for name in names:
            del tensors[name]

    return change


def put(name: str, dtype: str, shape: list[int]) -> Callable[[dict[str, Any]], None]:
    size = {"BF16": 2, "F16": 2, "F32": 4, "U32": 4, "I32": 4}[dtype]
    return lambda tensors: tensors.update({name: (dtype, shape, bytes(size * int(np.prod(shape))))})


REFUSED: dict[str, Callable[[Names], tuple[Callable[[dict[str, Any]], None], str]]] = {
    "missing norm": lambda n: (remove(n["norm"]), f"1 tensor missing: '{n.pattern('norm')}"),
    "missing scales": lambda n: (
        remove(f"{n['matrix']}.scales"),
        f"1 tensor missing: '{n.pattern('matrix', '.scales')}",
    ),
    "missing biases": lambda n: (remove(f"{n['experts']}.biases"), f"missing: '{n.pattern('experts', '.biases')}"),
    "missing matrix": lambda n: (
        remove(*(f"{n['matrix']}.{part}" for part in ("weight", "scales", "biases"))),
        f"3 tensors missing: '{n.pattern('matrix', '.weight')}",
    ),
    "extra": lambda n: (put(f"{n.at}.x", "F32", [1]), r"1 tensor extra: .*layers\.3\.x' in model\.safe"),
    "extra bias": lambda n: (
        put(f"{n['matrix']}.bias", "F32", [n.rows]),
        f"1 tensor extra: .*{n.pattern('matrix', '.bias')}",
    ),
    "norm shape": lambda n: (
        put(f"{n.at}.input_layernorm.weight", "BF16", [64]),
        r"1 tensor misshapen: .*\[64\] instead of \[128\]",
    ),
    "matrix shape": lambda n: (
        put(f"{n['matrix']}.weight", "U32", [n.rows, 15]),
        rf"{n.pattern('matrix', '.weight')} .*\[{n.rows}, 15\] instead of \[{n.rows}, 16\]",
    ),
    "scales shape": lambda n: (
        put(f"{n['matrix']}.scales", "BF16", [n.rows, 3]),
        rf"{n.pattern('matrix', '.scales')} .*\[{n.rows}, 3\] instead of \[{n.rows}, 2\]",
    ),
    "experts shape": lambda n: (
        put(f"{n['experts']}.weight", "U32", [15, 64, 16]),
        r"\[15, 64, 16\] instead of \[16, 64, 16\]",
    ),
    "weight type": lambda n: (
        put(f"{n['matrix']}.weight", "I32", [n.rows, 16]),
        r"1 tensor of a wrong element type: .*I32 instead of U32",
    ),
    "scales type": lambda n: (
        put(f"{n['matrix']}.scales", "F32", [n.rows, 2]),
        f"{n.pattern('matrix', '.scales')} .*F32 instead of BF16",
    ),
    "norm type": lambda n: (put(f"{n.at}.input_layernorm.weight", "I32", [128]), r"I32 instead of BF16"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_by_name(case: str, names: Names, directory: Path, edit_shard: EditShard) -> None:
    change, message = REFUSED[case](names)
    edit_shard(directory / "model.safetensors", change)
    with pytest.raises(CheckpointError, match=message):
        open_checkpoint(directory)


def test_many_are_counted_and_the_first_named(single_copy: Path, edit_shard: EditShard) -> None:
    def change(tensors: dict[str, Any]) -> None:
        for name in [name for name in tensors if ".mlp.gate." in name]:
            del tensors[name]

    edit_shard(single_copy / "model.safetensors", change)
    with pytest.raises(
        CheckpointError, match=r"single: 24 tensors missing: 'layers\.0\.mlp\.gate\.weight'.* and 20 more"
    ):
        open_checkpoint(single_copy)


def unquantise(tensors: dict[str, Any], module: str, *shape: int) -> None:
    for suffix in ("weight", "scales", "biases"):
        del tensors[f"{module}.{suffix}"]
    put(f"{module}.weight", "BF16", list(shape))(tensors)


def test_modules_may_be_unquantised(names: Names, directory: Path, edit_shard: EditShard) -> None:
    edit_shard(
        directory / "model.safetensors", lambda tensors: unquantise(tensors, names["matrix"], names.rows, 128)
    )
    modules = open_checkpoint(directory).modules
    plain = [module for module, q in modules.items() if q is None]
    assert plain == [f"layers.3.{names.matrix}"]
    assert modules["lm_head"] == Quantization(64, 4)


def test_a_router_may_be_unquantised(single_copy: Path, edit_shard: EditShard) -> None:
    gate = "language_model.model.layers.3.mlp.gate"
    edit_shard(single_copy / "model.safetensors", lambda tensors: unquantise(tensors, gate, 16, 128))
    modules = open_checkpoint(single_copy).modules
    assert modules["layers.3.mlp.gate"] is None and modules["layers.2.mlp.gate"] == Quantization(64, 8)


def test_experts_must_be_quantised(names: Names, directory: Path, edit_shard: EditShard) -> None:
    edit_shard(directory / "model.safetensors", lambda tensors: unquantise(tensors, names["experts"], 16, 64, 128))
    with pytest.raises(CheckpointError, match=r"not supported: .*experts must be quantised"):
        open_checkpoint(directory)


def test_shapes_tell_bits_and_group(names: Names, directory: Path, edit_shard: EditShard) -> None:
    """8 bits in groups of 32, where the file's default says 4 in groups of 64."""

    def change(tensors: dict[str, Any]) -> None:
        put(f"{names['matrix']}.weight", "U32", [names.rows, 32])(tensors)
        put(f"{names['matrix']}.scales", "F16", [names.rows, 4])(tensors)
        put(f"{names['matrix']}.biases", "F16", [names.rows, 4])(tensors)

    edit_shard(directory / "model.safetensors", change)
    assert open_checkpoint(directory).modules[f"layers.3.{names.matrix}"] == Quantization(32, 8)


def test_an_override_must_agree_with_the_shapes(names: Names, directory: Path, edit_json: EditJson) -> None:
    override = {names["matrix"]: {"group_size": 64, "bits": 8}}
    edit_json(directory / "config.json", lambda config: config["quantization"].update(override))
    message = rf"{names.pattern('matrix', '.weight')} \(4 bits, but config\.json says otherwise"
    with pytest.raises(CheckpointError, match=message):
        open_checkpoint(directory)


def test_layers_must_share_one_record_form(names: Names, directory: Path, edit_shard: EditShard) -> None:
    def change(tensors: dict[str, Any]) -> None:
        for proj in ("gate_proj", "up_proj"):
            at = names["experts"].replace("gate_proj", proj)
            put(f"{at}.weight", "U32", [16, 64, 32])(tensors)

    edit_shard(directory / "model.safetensors", change)
    message = f"{names.pattern('experts', '.weight')}: is not quantised like the same matrix in other layers"
    with pytest.raises(CheckpointError, match=message):
        open_checkpoint(directory)


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
        put("language_model.model.layers.3.mlp.experts.gate_up_proj", "BF16", [16, 128, 128])(tensors)

    edit_shard(single_copy / "model.safetensors", change)
    edit_json(
        single_copy / "config.json", lambda config: [config.pop(k) for k in list(config) if k.startswith("quant")]
    )
    with pytest.raises(CheckpointError, match=r"1 tensor extra: .*experts\.gate_up_proj'") as error:
        open_checkpoint(single_copy)
    assert "never quantised" in error.value.hint

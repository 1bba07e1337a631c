"""LoRA and prerouter files: as published, damaged, and of another tier."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.checkpoint import (
    Checkpoint,
    match_lora,
    open_checkpoint,
    read_lora,
    read_prerouter,
    require_heads,
    require_lora,
)
from engine.checkpoint.adapter_metadata import parse_metadata
from engine.checkpoint.synthetic import TINY, tiny, write_synthetic
from engine.checkpoint.synthetic.adapters import HEADS, LORA
from engine.errors import CheckpointError

EditShard = Callable[[Path, Callable[[dict[str, Any]], object]], None]

TARGET = "language_model.model.layers.3.self_attn.q_proj"


@pytest.fixture(scope="module")
def checkpoint(tiny_path: Path) -> Checkpoint:
    return open_checkpoint(tiny_path)


@pytest.fixture(scope="module")
def other_tier(tmp_path_factory: pytest.TempPathFactory) -> Checkpoint:
    """The same layers and names, another width and number of experts."""
    model = replace(TINY, hidden_size=192, num_experts=8)
    return open_checkpoint(
        write_synthetic(tmp_path_factory.mktemp("other") / "Other-8B", replace(tiny(), model=model))
    )


def test_lora_as_published(checkpoint: Checkpoint) -> None:
    lora = read_lora(checkpoint.files.adapters[0])
    assert (lora.rank, lora.alpha, lora.scale, lora.metadata.experts_per_token) == (4, 8.0, 2.0, 4)
    assert lora.metadata.kind == "lora" and lora.metadata.raw["format_version"] == "1"
    target = lora.targets["layers.3.self_attn.q_proj"]
    assert (target.a.shape, target.b.shape, target.a.dtype) == ((4, 128), (256, 4), "F16")
    match = require_lora(lora, checkpoint)
    assert set(match.applied) == set(checkpoint.config.lora_targets) and len(match.applied) == 62
    assert match.not_found == match.misshapen == match.notes == ()


def test_heads_as_published(checkpoint: Checkpoint) -> None:
    heads = read_prerouter(checkpoint.files.heads[0])
    assert heads.owners == (2, 3, 4, 5, 6) == heads.metadata.owners
    assert (heads.features, heads.hidden, heads.num_experts, heads.experts_per_token) == (160, 32, 16, 4)
    assert heads.heads[6].fc2.shape == (16, 32)
    match = require_heads(heads, checkpoint)
    assert match.applied == heads.owners
    assert match.consumers == (3, 4, 5, 6)  # the last layer, 7, keeps its router
    assert match.not_found == () == match.notes


def test_nested_head_names(tiny_copy: Path, edit_shard: EditShard) -> None:
    def rename(tensors: dict[str, Any]) -> None:
        for name in list(tensors):
            _, owner, piece, _ = name.split(".")
            tensors[f"layers.{owner}.mlp.prerouter.{piece}.weight"] = tensors.pop(name)

    before = read_prerouter(tiny_copy / HEADS)
    edit_shard(tiny_copy / HEADS, rename)
    after = read_prerouter(tiny_copy / HEADS)
    assert after.owners == before.owners and after.heads[4].fc1.shape == before.heads[4].fc1.shape


def test_adapter_of_another_tier(checkpoint: Checkpoint, other_tier: Checkpoint) -> None:
    lora, heads = read_lora(checkpoint.files.adapters[0]), read_prerouter(checkpoint.files.heads[0])
    match = match_lora(lora, other_tier)
    assert len(match.misshapen) == 62 and match.applied == match.not_found == ()
    message = (
        r"^lora_edge0_synthetic\.safetensors \(made for 'edge0-synthetic'\) does not belong to Other-8B \(tier"
    )
    with pytest.raises(
        CheckpointError, match=message + r".*0 of its targets fit, 0 are not there, 62 differ in shape"
    ):
        require_lora(lora, other_tier)
    with pytest.raises(
        CheckpointError, match=r"does not belong to Other-8B .*16 experts from 160 features, not 8 from 208"
    ):
        require_heads(heads, other_tier)


def test_adapter_with_other_names(tiny_copy: Path, checkpoint: Checkpoint, edit_shard: EditShard) -> None:
    def rename(tensors: dict[str, Any]) -> None:
        for name in list(tensors):
            tensors[f"x.{name}"] = tensors.pop(name)

    edit_shard(tiny_copy / LORA, rename)
    with pytest.raises(
        CheckpointError, match=r"0 of its targets fit, 62 are not there, 0 differ in shape \(the first is 'x"
    ):
        require_lora(read_lora(tiny_copy / LORA), checkpoint)


def test_part_of_the_targets_missing_is_counted(
    tiny_copy: Path, checkpoint: Checkpoint, edit_shard: EditShard
) -> None:
    def change(tensors: dict[str, Any]) -> None:
        for factor in ("lora_A", "lora_B"):
            tensors[f"layers.99.self_attn.q_proj.{factor}"] = tensors.pop(f"{TARGET}.{factor}")

    edit_shard(tiny_copy / LORA, change)
    match = require_lora(read_lora(tiny_copy / LORA), checkpoint)
    assert len(match.applied) == 61 and match.not_found == ("layers.99.self_attn.q_proj",)


def test_other_k_is_noted(tiny_path: Path) -> None:
    checkpoint = open_checkpoint(tiny_path, experts_per_token=8)
    notes = require_lora(read_lora(tiny_path / LORA), checkpoint).notes
    assert notes == (f"{LORA} was trained for K=4, the checkpoint runs K=8",)
    assert require_heads(read_prerouter(tiny_path / HEADS), checkpoint).notes == (notes[0].replace(LORA, HEADS),)


def test_owners_beyond_the_model(tmp_path: Path, checkpoint: Checkpoint) -> None:
    longer = replace(TINY, num_hidden_layers=12, layer_types=TINY.layer_types + TINY.layer_types[:4])
    path = write_synthetic(tmp_path / "longer", replace(tiny(), model=longer, owners=(6, 7, 9)))
    match = require_heads(read_prerouter(path / HEADS), checkpoint)
    assert (match.applied, match.not_found, match.consumers) == ((6, 7), (9,), ())


DAMAGED_LORA: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "no pair": (
        lambda t: t.pop(f"{TARGET}.lora_B"),
        r"tensor 'layers\.3\.self_attn\.q_proj': .*not come in a pair",
    ),
    "rank": (lambda t: t.update({f"{TARGET}.lora_A": ("F16", [2, 128], bytes(512))}), r"q_proj\.lora_A': .*rank 4"),
    "type": (lambda t: t.update({f"{TARGET}.lora_A": ("U8", [4, 128], bytes(512))}), r"U8 instead of F16"),
    "bias": (lambda t: t.update({f"{TARGET}.lora_C": ("F16", [0], b"")}), r"'.*lora_C': is no part of a LoRA"),
    "foreign": (lambda t: t.update({f"{TARGET}.lora_a": ("F16", [0], b"")}), r"no adapter_config\.json beside"),
    "empty": (lambda t: t.clear(), "holds no adapter tensors"),
}


@pytest.mark.parametrize("case", DAMAGED_LORA)
def test_damaged_lora(case: str, tiny_copy: Path, edit_shard: EditShard) -> None:
    change, message = DAMAGED_LORA[case]
    edit_shard(tiny_copy / LORA, change)
    with pytest.raises(CheckpointError, match=message):
        read_lora(tiny_copy / LORA)


DAMAGED_HEADS: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "missing": (lambda t: t.pop("layers.4.fc2.weight"), r"tensor 'layers\.4\.fc2\.weight': is missing"),
    "owner": (
        lambda t: [t.pop(f"layers.6.{p}.weight") for p in ("fc1", "fc2", "linear_init")],
        r"\[2, 3, 4, 5\], not",
    ),
    "shape": (lambda t: t.update({"layers.4.fc2.weight": ("F16", [16, 31], bytes(992))}), r"\[16, 31\] instead of"),
    "vector": (lambda t: t.update({"layers.2.fc1.weight": ("F16", [3], bytes(6))}), r"\[3\], not a matrix"),
    "type": (lambda t: t.update({"layers.4.fc2.weight": ("I16", [16, 32], bytes(1024))}), r"I16 instead of F16"),
    "foreign": (
        lambda t: t.update({"layers.x.fc1.weight": ("F16", [0], b"")}),
        r"'layers\.x\.fc1\.weight': is no part",
    ),
    "bias": (lambda t: t.update({"layers.4.fc1.bias": ("F16", [0], b"")}), r"'layers\.4\.fc1\.bias': is no part"),
    "twice": (lambda t: t.update({"layers.4.mlp.prerouter.fc1.weight": ("F16", [0], b"")}), "twice"),
}


@pytest.mark.parametrize("case", DAMAGED_HEADS)
def test_damaged_heads(case: str, tiny_copy: Path, edit_shard: EditShard) -> None:
    change, message = DAMAGED_HEADS[case]
    edit_shard(tiny_copy / HEADS, change)
    with pytest.raises(CheckpointError, match=message):
        read_prerouter(tiny_copy / HEADS)


def test_one_kind_given_as_the_other(tiny_path: Path) -> None:
    with pytest.raises(CheckpointError, match="holds 'prerouter', not a LoRA"):
        read_lora(tiny_path / HEADS)
    with pytest.raises(CheckpointError, match="holds 'lora', not prerouter"):
        read_prerouter(tiny_path / LORA)


def test_metadata_plain_or_nested() -> None:
    plain = {"kind": "lora", "K": "4", "r": "16", "alpha": "32", "owners": "[6, 7]"}
    nested = {"__metadata__": json.dumps(plain)}
    numbers = {"__metadata__": json.dumps({**plain, "K": 4, "owners": [6, 7]})}
    found = {str(parse_metadata(Path("x"), m)) for m in (plain, nested, numbers)}
    assert len(found) == 1
    metadata = parse_metadata(Path("x"), nested)
    assert (metadata.experts_per_token, metadata.r, metadata.alpha, metadata.owners) == (4, 16, 32.0, (6, 7))
    assert parse_metadata(Path("x"), {}).alpha is None


@pytest.mark.parametrize(
    ("key", "value"),
    [("K", "four"), ("K", "0"), ("K", "-4"), ("K", "9999999"), ("r", "1.5"), ("alpha", "nan"), ("alpha", "inf"),
     ("alpha", "x"), ("owners", "[1"), ("owners", "[2, 1]"), ("owners", "[1, 1]"), ("owners", '["1"]'),
     ("owners", "7"), ("owners", "[99999]"), ("owners", "[true]")],
)  # fmt: skip
def test_metadata_that_makes_no_sense(key: str, value: str) -> None:
    with pytest.raises(CheckpointError, match=r"^a\.safetensors: "):
        parse_metadata(Path("a.safetensors"), {"__metadata__": json.dumps({key: value})})


def test_metadata_too_large_or_broken() -> None:
    for text, message in (
        (" " * (2 << 20), "characters of metadata"),
        ("{", "not valid JSON"),
        ("[]", "not a JSON"),
    ):
        with pytest.raises(CheckpointError, match=message):
            parse_metadata(Path("a.safetensors"), {"__metadata__": text})


def test_lora_without_alpha(tmp_path: Path, write_raw: Callable[[Path, bytes, bytes], Path]) -> None:
    entry = {"dtype": "F16", "shape": [1, 1]}
    header = {"m.lora_A": {**entry, "data_offsets": [0, 2]}, "m.lora_B": {**entry, "data_offsets": [2, 4]}}
    path = write_raw(tmp_path / "lora_x.safetensors", json.dumps(header).encode(), bytes(4))
    with pytest.raises(CheckpointError, match=r"lora_x\.safetensors: its metadata gives no alpha"):
        read_lora(path)

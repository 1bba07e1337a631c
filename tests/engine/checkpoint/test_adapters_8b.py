"""The 8B's adapter and heads files, and both kinds given to the other tier."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

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
from engine.checkpoint.synthetic import REAL_8B, REAL_35B, TINY, tiny, write_synthetic
from engine.checkpoint.synthetic.adapters import HEADS, LORA
from engine.errors import CheckpointError


@pytest.fixture(scope="module")
def checkpoint(tiny_8b_path: Path) -> Checkpoint:
    return open_checkpoint(tiny_8b_path)


@pytest.fixture(scope="module")
def of_35b(tmp_path_factory: pytest.TempPathFactory) -> Checkpoint:
    """The other family, tiny, with more experts."""
    model = replace(TINY, num_experts=32)
    path = tmp_path_factory.mktemp("other") / "Edge0-35B"
    return open_checkpoint(write_synthetic(path, replace(tiny(), model=model)))


def test_lora_as_published(checkpoint: Checkpoint) -> None:
    lora = read_lora(checkpoint.files.adapters[0])
    match = require_lora(lora, checkpoint)
    assert set(match.applied) == set(checkpoint.config.lora_targets) == set(lora.targets)
    assert len(match.applied) == 6 * 7 + 2 * 4 + 3
    assert match.not_found == match.misshapen == match.notes == ()
    kv_b = lora.targets["layers.3.attention.kv_b_proj"]
    assert kv_b.a.name == "model.layers.3.attention.kv_b_proj.lora_A"
    assert (kv_b.a.shape, kv_b.b.shape, kv_b.a.dtype) == ((4, 64), (256, 4), "F16")
    assert lora.targets["layers.0.mlp.down_proj"].a.shape == (4, 192)


def test_heads_as_published(checkpoint: Checkpoint) -> None:
    heads = read_prerouter(checkpoint.files.heads[0])
    assert (heads.features, heads.hidden, heads.num_experts, heads.experts_per_token) == (160, 32, 16, 4)
    match = require_heads(heads, checkpoint)
    assert match.applied == heads.owners == (2, 3, 4, 5, 6)
    assert match.consumers == (3, 4, 5, 6, 7)  # the last layer included
    assert match.not_found == () == match.notes


def test_heads_of_a_layer_without_experts(tmp_path: Path, checkpoint: Checkpoint) -> None:
    path = write_synthetic(tmp_path / "x", replace(tiny(), owners=(0, 1, 7, 8), shards=1, lora_rank=0))
    match = require_heads(read_prerouter(path / HEADS), checkpoint)
    assert (match.applied, match.not_found, match.consumers) == ((1, 7), (0, 8), (2,))


def test_adapters_of_the_other_tier_are_refused_both_ways(checkpoint: Checkpoint, of_35b: Checkpoint) -> None:
    for mine, other in ((checkpoint, of_35b), (of_35b, checkpoint)):
        lora, heads = read_lora(other.path / LORA), read_prerouter(other.path / HEADS)
        match = match_lora(lora, mine)
        assert match.applied == () and len(match.not_found) == len(lora.targets)
        with pytest.raises(CheckpointError, match=rf"does not belong to {mine.name} .*: 0 of its targets fit"):
            require_lora(lora, mine)
        ours = f"not {mine.config.num_experts} from {mine.config.head_features}"
        with pytest.raises(CheckpointError, match=rf"does not belong to {mine.name} .*{ours}"):
            require_heads(heads, mine)


def test_no_target_and_no_head_size_is_common_to_the_released_tiers() -> None:
    assert not set(REAL_8B.lora_targets) & set(REAL_35B.lora_targets)
    assert REAL_8B.head_features != REAL_35B.head_features and REAL_8B.num_experts != REAL_35B.num_experts

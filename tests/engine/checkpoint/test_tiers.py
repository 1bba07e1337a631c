"""The rule for tier and K, case by case, and its effect on real directories."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.checkpoint import ModelConfig, open_checkpoint
from engine.checkpoint.synthetic import REAL_8B, REAL_35B, TINY, TINY_8B, tiny, write_synthetic
from engine.checkpoint.synthetic.adapters import HEADS, LORA
from engine.checkpoint.tiers import NANO, identify
from engine.errors import CheckpointError

L, P = "lora_edge0_a.safetensors", "prerouter_edge0_a.safetensors"


@pytest.mark.parametrize(
    ("name", "config", "marker", "files", "tier", "k", "notes"),
    [
        ("Qwen3.5-35B-A3B-4bit", REAL_35B, None, {}, "35b", 8, 0),
        ("Edge0-35B", REAL_35B, None, {}, "35b", 4, 1),
        ("some/edge0-35b-A3B", REAL_35B, None, {}, "35b", 4, 1),
        ("x", REAL_35B, None, {L: 4, P: 4}, "35b", 4, 1),
        ("x", REAL_35B, None, {L: None}, "35b", 4, 1),
        ("x", REAL_35B, None, {"lora_mine.safetensors": None}, "35b", 8, 0),
        ("x", REAL_35B, None, {"lora_mine.safetensors": 8}, "35b", 8, 0),
        ("Edge0-35B", REAL_35B, None, {L: 8}, "35b", 8, 1),
        ("Edge0-35B", REAL_35B, None, {L: 8, P: 4}, "35b", 4, 2),
        ("x", TINY, None, {L: 2, P: 3}, "custom", 4, 1),
        ("x", TINY, None, {L: 2, P: 2}, "custom", 2, 1),
        ("x", TINY, None, {L: 99}, "custom", 4, 1),
        ("Edge0-35B", TINY, None, {}, "custom", 4, 0),
        ("x", TINY, "nano", {}, "nano", 4, 0),
        ("x", TINY, ["nano"], {}, "custom", 4, 0),
        ("x", replace(REAL_35B, num_hidden_layers=39), None, {}, "custom", 8, 0),
        ("Edge0-8B-A1B-preview", REAL_8B, None, {}, "8b", 8, 0),
        ("x", REAL_8B, None, {}, "8b", 8, 0),
        ("x", REAL_8B, None, {L: 8, P: 8}, "8b", 8, 0),
        ("Edge0-8B", REAL_8B, None, {L: 4}, "8b", 4, 2),
        ("Edge0-8B", REAL_8B, None, {L: 4, P: 8}, "8b", 8, 1),
        # a token's groups hold 64 experts
        ("x", REAL_8B, None, {"lora_mine.safetensors": 65}, "8b", 8, 1),
        ("Edge0-8B", TINY_8B, None, {}, "custom", 4, 0),
        ("x", replace(REAL_8B, topk_group=8), None, {}, "custom", 8, 0),
        ("x", TINY_8B, "nano", {}, "nano", 4, 0),
    ],
)
def test_rule(
    name: str, config: ModelConfig, marker: object, files: dict[str, int | None], tier: str, k: int, notes: int
) -> None:
    found = identify(Path("/models/here"), name, config, marker, files)
    assert (found.tier, found.experts_per_token, len(found.notes)) == (tier, k, notes), found.notes


def test_the_built_in_directory_is_nano() -> None:
    assert identify(NANO, "nano", TINY, None, {}).tier == "nano"


def test_disagreement_is_put_in_words() -> None:
    notes = identify(Path("/m/Edge0-35B"), "x", REAL_35B, None, {L: 8, P: 4}).notes
    assert notes == (f"files disagree on K: {L} says 8, {P} says 4", "runs K=4, config.json says 8")


def test_config_says_eight_adapters_say_four(tmp_path: Path) -> None:
    spec = tiny()
    path = write_synthetic(tmp_path / "x", replace(spec, model=replace(TINY, num_experts_per_tok=8)))
    assert open_checkpoint(path).experts_per_token == 4
    assert open_checkpoint(path).notes == ("runs K=4, config.json says 8",)
    assert open_checkpoint(path, experts_per_token=6).experts_per_token == 6
    with pytest.raises(CheckpointError, match="K=17 is not between 1 and 16"):
        open_checkpoint(path, experts_per_token=17)
    # files under adapters/ can be used, but do not say what the base is
    (path / "adapters").mkdir()
    for name in (LORA, HEADS):
        (path / name).rename(path / "adapters" / name)
    assert open_checkpoint(path).experts_per_token == 8


def test_k_stays_within_the_groups_a_token_keeps(tiny_8b_path: Path) -> None:
    assert open_checkpoint(tiny_8b_path, experts_per_token=8).experts_per_token == 8
    with pytest.raises(CheckpointError, match="K=9 is not between 1 and 8"):
        open_checkpoint(tiny_8b_path, experts_per_token=9)


def test_a_damaged_adapter_does_not_block_the_base(tiny_copy: Path) -> None:
    (tiny_copy / LORA).write_bytes(b"damaged")
    assert open_checkpoint(tiny_copy).experts_per_token == 4


def test_marker_in_the_file(
    tiny_copy: Path, edit_json: Callable[[Path, Callable[[dict[str, Any]], object]], None]
) -> None:
    edit_json(tiny_copy / "config.json", lambda config: config.update(edge0_tier="nano"))
    assert open_checkpoint(tiny_copy).tier == "nano"

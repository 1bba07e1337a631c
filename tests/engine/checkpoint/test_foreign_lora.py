"""mlx-lm's and PEFT's files: what is read, what is refused and in which words, and where files are found."""

from __future__ import annotations

import json
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from engine.checkpoint import Checkpoint, match_lora, open_checkpoint, read_lora, require_lora
from engine.checkpoint.adapter_source import stored_adapters, stored_name
from engine.checkpoint.finite import require_finite
from engine.errors import CheckpointError

PEFT = {"peft_type": "LORA", "r": 4, "lora_alpha": 8, "bias": "none", "base_model_name_or_path": "some/base"}
MLX = {"fine_tune_type": "lora", "num_layers": 8, "lora_parameters": {"rank": 4, "scale": 20.0, "dropout": 0.0}}
Q = "self_attn.q_proj"  # [256, 128] in the tiny 35B


@pytest.fixture(scope="module")
def checkpoint(tiny_path: Path) -> Checkpoint:
    return open_checkpoint(tiny_path)


def zeros(*shape: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.zeros(shape, np.float32)


def mlx(folder: Path, changes: dict[str, Any] | None = None, **tensors: Any) -> Path:
    """An adapter of mlx-lm with two targets, and `tensors` with __ for dots in addition."""
    folder.mkdir(parents=True)
    at = "language_model.model.layers.3"
    factors = {f"{at}.{Q}.lora_a": zeros(128, 4), f"{at}.{Q}.lora_b": zeros(4, 256)}
    factors |= {name.replace("__", "."): value for name, value in tensors.items()}
    save_file(factors, folder / "adapters.safetensors")
    (folder / "adapter_config.json").write_text(json.dumps({**MLX, **(changes or {})}))
    return folder


def peft(folder: Path, changes: dict[str, Any] | None = None, **tensors: Any) -> Path:
    """The same of PEFT."""
    folder.mkdir(parents=True)
    at = "base_model.model.model.language_model.layers.3"
    factors = {f"{at}.{Q}.lora_A.weight": zeros(4, 128), f"{at}.{Q}.lora_B.weight": zeros(256, 4)}
    factors |= {name.replace("__", "."): value for name, value in tensors.items()}
    save_file(factors, folder / "adapter_model.safetensors")
    (folder / "adapter_config.json").write_text(json.dumps({**PEFT, **(changes or {})}))
    return folder


def test_both_become_one_form(tmp_path: Path, checkpoint: Checkpoint) -> None:
    for file, kind, scale in (
        (read_lora(mlx(tmp_path / "of-mlx")), "mlx-lm", 20.0),
        (read_lora(peft(tmp_path / "of-peft") / "adapter_model.safetensors"), "PEFT", 2.0),
    ):
        assert (file.format, file.rank, file.scale) == (kind, 4, scale)
        target = file.targets[f"layers.3.{Q}"]
        assert (target.rank, target.in_features, target.out_features, target.scale) == (4, 128, 256, scale)
        assert require_lora(file, checkpoint).applied == (f"layers.3.{Q}",)
    assert [read_lora(tmp_path / name).name for name in ("of-mlx", "of-peft")] == ["of-mlx", "of-peft"]


def test_pefts_patterns_decide_rank_and_scale_of_a_module(tmp_path: Path) -> None:
    at = "base_model__model__lm_head"
    more = {f"{at}__lora_A__weight": zeros(9, 128), f"{at}__lora_B__weight": zeros(512, 9)}
    changes = {
        "rank_pattern": {"head": 2, "lm_head": 9},
        "alpha_pattern": {"^q_proj": 1, "layers.3.self_attn.q_proj": 6},
    }
    targets = read_lora(peft(tmp_path / "x", {**changes, "use_rslora": True}, **more)).targets
    assert targets["lm_head"].rank == 9 and targets["lm_head"].scale == pytest.approx(8 / sqrt(9))
    assert targets[f"layers.3.{Q}"].scale == pytest.approx(6 / sqrt(4))


def test_modules_by_outcome(tmp_path: Path, checkpoint: Checkpoint) -> None:
    def pair(module: str, rank: int = 4) -> dict[str, Any]:
        name = f"base_model.model.{module}"
        return {f"{name}.lora_A.weight": zeros(rank, 128), f"{name}.lora_B.weight": zeros(256, rank)}

    folder = peft(
        tmp_path / "x",
        None,
        **pair("model.language_model.layers.77.self_attn.q_proj"),
        **pair("model.visual.blocks.0.attn.qkv"),
        **pair("model.language_model.layers.0.mlp.experts.base_layer", rank=64),
        **{f"base_model.model.model.language_model.embed_tokens.lora_embedding_{f}": zeros(4, 512) for f in "AB"},
    )
    match = match_lora(read_lora(folder), checkpoint)
    assert match.applied == (f"layers.3.{Q}",) and match.not_found == ("layers.77.self_attn.q_proj",)
    assert set(match.skipped) == {"visual.blocks.0.attn.qkv", "layers.0.mlp.experts.base_layer", "embed_tokens"}
    assert "3 modules" in match.notes[0]


def test_one_that_would_apply_nothing_is_refused(tmp_path: Path, checkpoint: Checkpoint) -> None:
    folder = mlx(tmp_path / "experts")
    name = "language_model.model.layers.3.mlp.switch_mlp.up_proj"
    experts = {f"{name}.lora_a": zeros(16, 4, 128), f"{name}.lora_b": zeros(16, 64, 4)}
    save_file(experts, folder / "adapters.safetensors")
    with pytest.raises(CheckpointError, match=r"0 of its targets fit, .* 1 cannot be adapted here"):
        require_lora(read_lora(folder), checkpoint)


REFUSED_PEFT: dict[str, tuple[dict[str, Any], str]] = {
    "dora": ({"use_dora": True}, "DoRA"),
    "modules": ({"modules_to_save": ["lm_head"]}, "trained whole"),
    "bias": ({"bias": "all"}, "trained biases"),
    "lora bias": ({"lora_bias": True}, "with biases"),
    "kind": ({"peft_type": "IA3"}, "'IA3', not LORA"),
    "pissa": ({"init_lora_weights": "pissa_niter_4"}, "changed base"),
    "expression": ({"rank_pattern": {"(a+)+$": 4}}, "expression"),
    "pattern": ({"alpha_pattern": {"q_proj": -1}}, "alpha_pattern.q_proj"),
    "rank": ({"r": 5}, "does not fit rank 5"),
    "no alpha": ({"lora_alpha": None}, "lora_alpha' is missing"),
    "nan": ({"lora_alpha": float("nan")}, "NaN"),
}


@pytest.mark.parametrize("case", REFUSED_PEFT)
def test_what_is_more_than_lora_is_refused_by_name(case: str, tmp_path: Path) -> None:
    changes, message = REFUSED_PEFT[case]
    with pytest.raises(CheckpointError, match=message):
        read_lora(peft(tmp_path / "x", changes))


def test_refusals_of_tensors_and_mlx_configs(tmp_path: Path) -> None:
    vector = "base_model__model__model__layers__3__self_attn__q_proj__lora_magnitude_vector"
    kept = "base_model__model__lm_head__weight"
    cases = (
        (peft(tmp_path / "a", None, **{vector: zeros(256)}), "belongs to DoRA"),
        (peft(tmp_path / "b", None, **{kept: zeros(4, 4)}), "is no part of a LoRA adapter"),
        (mlx(tmp_path / "c", {"fine_tune_type": "dora"}), "'dora', not lora"),
        (mlx(tmp_path / "d", {"fine_tune_type": "full"}), "'full', not lora"),
        (mlx(tmp_path / "e", {"lora_parameters": {"rank": 4}}), "lora_parameters.scale' is missing"),
        (mlx(tmp_path / "f", {"lora_parameters": {"rank": 8, "scale": 1}}), "does not fit rank 8"),
        (mlx(tmp_path / "g", None, layers__3__m=zeros(4)), "is no part of a LoRA adapter"),
    )
    for folder, message in cases:
        with pytest.raises(CheckpointError, match=message):
            read_lora(folder)
    # the same matrix by two of its names
    twice = {f"layers__3__self_attn__q_proj__lora_{f}": zeros(*s) for f, s in (("a", (128, 4)), ("b", (4, 256)))}
    with pytest.raises(CheckpointError, match="the same module appears twice"):
        read_lora(mlx(tmp_path / "h", None, **twice))


def test_files_without_or_with_a_foreign_config(tmp_path: Path) -> None:
    folder = mlx(tmp_path / "x")
    (folder / "adapter_config.json").write_text("{}")
    with pytest.raises(CheckpointError, match="neither mlx-lm's nor PEFT's"):
        read_lora(folder)
    (folder / "adapter_config.json").unlink()
    with pytest.raises(CheckpointError, match=r"no adapter_config\.json beside"):
        read_lora(folder)
    (folder / "adapters.safetensors").rename(folder / "adapter_model.bin")
    with pytest.raises(CheckpointError, match="is a pickle"):
        read_lora(folder)
    (folder / "adapter_model.bin").unlink()
    with pytest.raises(CheckpointError, match="holds no adapter file"):
        read_lora(folder)
    with pytest.raises(CheckpointError, match="there is no such adapter"):
        read_lora(tmp_path / "nowhere")


def test_the_adapters_folder_and_a_checkpoints_own_are_searched(tiny_copy: Path, tmp_path: Path) -> None:
    mlx(tmp_path / "stored" / "one.two")
    (tmp_path / "stored" / ".unfinished-1-x").mkdir()
    (tmp_path / "stored" / "notes").mkdir()
    save_file({"x": zeros(1)}, tmp_path / "stored" / "style.v2.safetensors")
    save_file({"x": zeros(1)}, tmp_path / "stored" / "prerouter_x.safetensors")
    assert [stored_name(path) for path in stored_adapters(tmp_path / "stored")] == ["style.v2", "one.two"]
    assert stored_adapters(tmp_path / "nowhere") == ()
    peft(tiny_copy / "adapters" / "mine")
    assert open_checkpoint(tiny_copy).files.adapters[-1] == tiny_copy / "adapters" / "mine"


def test_numbers_that_are_none_are_found(tmp_path: Path) -> None:
    folder = mlx(tmp_path / "x")
    require_finite(read_lora(folder))
    bad = zeros(128, 4)
    bad[7, 1] = np.nan
    at = f"language_model.model.layers.3.{Q}"
    save_file({f"{at}.lora_a": bad, f"{at}.lora_b": zeros(4, 256)}, folder / "adapters.safetensors")
    with pytest.raises(CheckpointError, match=r"lora_a': holds numbers that are not finite"):
        require_finite(read_lora(folder))

"""Adapters of other programs: mlx-lm's written and applied by mlx-lm itself, PEFT's by its rules in numpy."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import sqrt
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
from mlx.utils import tree_flatten
from mlx_lm.tuner.utils import linear_to_lora_layers, load_adapters
from safetensors.numpy import save_file

from engine.checkpoint.parts import LinearPart
from tests.engine.fidelity.bench_of_one import Subject, relative_error
from tests.engine.fidelity.families import Family, K
from tests.engine.fidelity.oracle import Array, Oracle

PROMPT = [(7 * i * i + 13 * i + 5) % 440 for i in range(40)]
THEN = [17, 4, 230]
TOLERANCE = 1e-4
RANK = 6

# What mlx-lm is told to adapt: paths inside a layer, and the head by its whole name.
KEYS = {
    "35b": [
        *("linear_attn.in_proj_qkv", "linear_attn.in_proj_a", "linear_attn.out_proj", "self_attn.q_proj"),
        *("self_attn.o_proj", "mlp.gate", "mlp.shared_expert_gate", "mlp.shared_expert.down_proj"),
        "language_model.lm_head",
    ],
    "8b": [
        *("attention.q_proj", "attention.f_proj", "attention.o_proj", "attention.q_a_proj", "attention.q_b_proj"),
        *(
            "attention.kv_a_proj_with_mqa",
            "attention.dense",
            "mlp.gate_proj",
            "mlp.shared_experts.up_proj",
            "lm_head",
        ),
    ],
}


def train(family: Family, path: Path, folder: Path, keys: list[str] | None) -> None:
    """What mlx-lm's training would leave in `folder`, with random factors."""
    parameters: dict[str, Any] = {"rank": RANK, "scale": 3.0, "dropout": 0.0} | ({"keys": keys} if keys else {})

    class Trained(family.oracle):  # type: ignore[name-defined, misc]
        def load(self, adapted: bool) -> Any:
            model = super().load(False)
            model.freeze()
            linear_to_lora_layers(model, 8, parameters)
            mx.random.seed(3)
            factors = {}
            trained: Any = tree_flatten(model.trainable_parameters())
            for name, value in trained:
                gain = 0.02 if name.endswith("lora_b") else value.shape[-2 if value.ndim == 2 else -1] ** -0.5
                factors[name] = mx.random.normal(value.shape) * gain
            folder.mkdir()
            mx.save_safetensors(str(folder / "adapters.safetensors"), factors)
            return model

    Trained(path, K)
    config = {"fine_tune_type": "lora", "num_layers": 8, "lora_parameters": parameters, "model": "some/base"}
    (folder / "adapter_config.json").write_text(json.dumps(config))


def test_mlx_lms_adapter_equals_mlx_lm(plain: Path, family: Family, tmp_path: Path) -> None:
    folder = tmp_path / "tuned"
    train(family, plain, folder, KEYS[family.name])

    class Tuned(family.oracle):  # type: ignore[name-defined, misc]
        def load(self, adapted: bool) -> Any:
            return load_adapters(super().load(False), str(folder))

    subject = Subject(plain, adapter=str(folder))
    report = subject.info.adapter_report
    assert report is not None and (report.format, report.rank, report.scale) == ("mlx-lm", RANK, 3.0)
    assert (report.not_found, report.skipped, report.names) == (0, 0, [])
    assert report.applied == len(mx.load(str(folder / "adapters.safetensors"))) // 2
    base = Subject(plain).logits(PROMPT)[0]
    ours = subject.logits(PROMPT, THEN)
    for mine, theirs in zip(ours, Tuned(plain, K).logits(PROMPT, THEN), strict=True):
        assert relative_error(mine, theirs) < TOLERANCE
    assert relative_error(base, ours[0]) > 100 * TOLERANCE


def test_mlx_lms_default_is_put_on_but_for_experts(plain: Path, family: Family, tmp_path: Path) -> None:
    folder = tmp_path / "default"
    train(family, plain, folder, None)
    report = Subject(plain, adapter=str(folder)).info.adapter_report
    assert report is not None and report.not_found == 0
    assert report.skipped == 3 * family.moe_layers and "switch_mlp" in report.names[0]
    assert report.applied + report.skipped == len(mx.load(str(folder / "adapters.safetensors"))) // 2
    assert "such as routed experts" in report.notes[0]


def hf_name(name: str, family: Family) -> str:
    """A canonical module as transformers' classes call it."""
    if family.name == "35b" or name == "lm_head":
        return name if name == "lm_head" else f"model.language_model.{name}"
    name = name.replace(".attention.", ".self_attn.").replace(".f_proj", ".forget_gate.f_proj")
    return "model." + name.replace("self_attn.dense", "self_attn.o_proj")


def in_file(name: str, family: Family) -> str:
    """A canonical module as the checkpoint's file and mlx-lm call it."""
    if family.name == "35b":
        return f"language_model.{name}" if name == "lm_head" else f"language_model.model.{name}"
    return name if name == "lm_head" else f"model.{name}"


def test_pefts_adapter_equals_its_rules_in_numpy(plain: Path, family: Family, tmp_path: Path) -> None:
    spec, root = family.spec(), family.name == "8b"
    parts = [p for p in spec.model.parts(False) if isinstance(p, LinearPart) and not p.experts]
    modules = {p.module: p for p in parts if p.module in spec.model.lora_targets or p.module == "lm_head"}
    random = np.random.default_rng(5)
    tensors: dict[str, Array] = {}
    factors: dict[str, tuple[Array, Array, float]] = {}
    for module, part in modules.items():
        # rank_pattern names the end of a module, alpha_pattern a whole one
        r = 3 if module.endswith("o_proj") else 8
        alpha = 40 if module == "lm_head" else 16
        a = (random.standard_normal((r, part.in_features)) * part.in_features**-0.5).astype(np.float32)
        b = (random.standard_normal((part.out_features, r)) * 0.02).astype(np.float32)
        name = f"base_model.model.{hf_name(module, family)}"
        tensors |= {f"{name}.lora_A.weight": a, f"{name}.lora_B.weight": b}
        factors[in_file(module, family)] = a, b, alpha / (sqrt(r) if root else r)
    folder = write_peft(tmp_path / "peft", tensors, {"use_rslora": root, "rank_pattern": ranks(modules, family)})

    class Tuned(family.oracle):  # type: ignore[name-defined, misc]
        def factors(self) -> dict[str, tuple[Array, Array, float]]:
            return factors

    oracle: Oracle = Tuned(plain, K)
    subject = Subject(plain, adapter=str(folder))
    report = subject.info.adapter_report
    assert report is not None and (report.applied, report.not_found, report.skipped) == (len(modules), 0, 0)
    for mine, theirs in zip(subject.logits(PROMPT, THEN), oracle.logits(PROMPT, THEN), strict=True):
        assert relative_error(mine, theirs) < TOLERANCE


def ranks(modules: Mapping[str, LinearPart], family: Family) -> dict[str, int]:
    """o_proj has rank 3, but where it is only transformers' name for another projection."""
    dense = {hf_name(module, family): 8 for module in modules if module.endswith("attention.dense")}
    return dense | {"o_proj": 3}


def write_peft(folder: Path, tensors: dict[str, Array], changes: dict[str, Any]) -> Path:
    folder.mkdir()
    save_file(tensors, folder / "adapter_model.safetensors", {"format": "pt"})
    config = {"peft_type": "LORA", "r": 8, "lora_alpha": 16, "bias": "none", "base_model_name_or_path": "some/base"}
    config |= {"alpha_pattern": {"^lm_head": 40}, "modules_to_save": None, "use_dora": False}
    (folder / "adapter_config.json").write_text(json.dumps({**config, **changes}))
    return folder

"""What is particular to writing a bailing_moe_v3 checkpoint: how its weights are spread, and what else it holds."""

from __future__ import annotations

from math import sqrt

import numpy as np
import numpy.typing as npt

from engine.checkpoint.bailing_moe_v3.config import BailingMoeV3Config
from engine.checkpoint.expected import ExpectedTensor
from engine.checkpoint.synthetic.bailing_json import config_json
from engine.checkpoint.synthetic.bailing_text import text_style
from engine.checkpoint.synthetic.spec import SyntheticSpec

__all__ = ["config_json", "gain", "leftovers", "plain_values", "text_style"]

# Training's own prerouter heads: wider in the layers below this one.
SHALLOW_LAYERS = 5


def gain(module: str, inputs: int) -> float:
    """Standard deviation of a module's outputs when its inputs have one; embeddings: of their entries."""
    if module == "word_embeddings":
        return sqrt(inputs)
    if module == "lm_head":
        return 3.0
    # decided routers: their choice then differs from token to token, with weights that are not all alike
    return 2.0 if module.endswith("mlp.gate") else 1.0


def plain_values(t: ExpectedTensor, spec: SyntheticSpec, random: np.random.Generator) -> npt.NDArray[np.float32]:
    """Values of a tensor that is not quantised."""
    normal = random.standard_normal(t.shape, dtype=np.float32)
    module, _, suffix = t.name.rpartition(".")
    if suffix == "A_log":
        return np.log(random.uniform(0.5, 2.0, t.shape)).astype(np.float32)
    if suffix == "dt_bias":
        # channels that forget within a few tokens, and some that remember for a hundred
        return random.uniform(-6.0, 0.0, t.shape).astype(np.float32)
    if suffix == "expert_bias":
        return normal * np.float32(0.1)
    if module.endswith("_conv1d"):
        return normal * np.float32(0.5)
    if module.endswith("norm"):
        return np.float32(1.0) + normal * np.float32(0.1)
    return normal * np.float32(gain(module, t.shape[-1]) / sqrt(t.shape[-1]))


def leftovers(spec: SyntheticSpec) -> tuple[ExpectedTensor, ...]:
    """`mlp.pregate`: 66 tensors of 61,210,624 B in the published file, in every layer with experts but the last."""
    c = spec.model
    if not isinstance(c, BailingMoeV3Config):
        raise TypeError(f"{c.family} is another family's")
    result: list[ExpectedTensor] = []
    for layer in c.moe_layers[:-1]:
        hidden = spec.head_hidden * (2 if layer < SHALLOW_LAYERS else 1)
        at = f"layers.{layer}.mlp.pregate"
        result += [
            ExpectedTensor(f"{at}.fc1.weight", "BF16", (hidden, c.head_features)),
            ExpectedTensor(f"{at}.fc2.weight", "BF16", (c.num_experts, hidden)),
            ExpectedTensor(f"{at}.linear_init.weight", "BF16", (c.num_experts, c.head_features)),
        ]
    return tuple(result)

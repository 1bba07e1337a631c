"""mlx-lm's `bailing_moe_v3` on a checkpoint in the 8B's published layout, which mlx-lm alone cannot load.

mlx-lm wants a model_type, experts called switch_mlp, kv_b_proj in plain floats and no training leftovers (facts:
checkpoints.md §7). The mapping below is all that is added; the maths is mlx-lm's.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
import numpy.typing as npt
from mlx_lm.models.bailing_moe_v3 import Model, ModelArgs
from mlx_lm.utils import load_model

Array = npt.NDArray[Any]


def load(path: Path, k: int | None = None, added: Mapping[str, Array] | None = None) -> Any:
    """The model of the checkpoint directory `path` in float32, loaded strictly: ValueError for any tensor amiss.

    `k`: experts a token instead of the file's figure. `added`: what to add to a kv_b_proj before mlx-lm splits it
    into embed_q and unembed_out, by the module's name in the file, [heads · (nope + value), latent]: an adapter's
    share is `scale * B @ A`. Adapters of other modules, and prerouter heads, are the caller's to wrap around.

    The result is called with ids [batch, tokens] and optionally `cache=make_prompt_cache(model)`; its parts are
    `model.model.word_embeddings`, `.layers[i].attention`, `.mlp`, `.mlp.gate(x) -> (indices, weights)`, `lm_head`.
    """

    class Published(Model):  # type: ignore[misc]
        def sanitize(self, weights: dict[str, mx.array]) -> Any:
            kept = {n.replace(".mlp.experts.", ".mlp.switch_mlp."): w for n, w in weights.items() if _needed(n)}
            for name in [name for name in kept if name.endswith(".kv_b_proj.scales")]:
                module = name.removesuffix(".scales")
                kept[f"{module}.weight"] = _plain(kept, module, (added or {}).get(module))
            return super().sanitize(kept)

    changes: dict[str, Any] = {"model_type": "bailing_hybrid"} | ({"num_experts_per_tok": k} if k else {})
    model, _ = load_model(path, model_config=changes, get_model_classes=lambda config: (Published, ModelArgs))
    model.set_dtype(mx.float32)
    return model


def _needed(name: str) -> bool:
    return ".mlp.pregate." not in name


def _plain(weights: dict[str, mx.array], module: str, added: Array | None) -> mx.array:
    """The matrix of a quantised module in float32; its three tensors are taken out of `weights`."""
    packed, scales, biases = (weights.pop(f"{module}.{part}") for part in ("weight", "scales", "biases"))
    # bits from the shapes: a group has 64 inputs in every published file
    inputs = scales.shape[-1] * 64
    bits = packed.shape[-1] * 32 // inputs
    whole = mx.dequantize(packed, scales.astype(mx.float32), biases.astype(mx.float32), group_size=64, bits=bits)
    return whole if added is None else whole + mx.array(added.astype(np.float32))

"""A checkpoint's sizes as the memory plan wants them, before anything is allocated. No MLX."""

from __future__ import annotations

from hashlib import sha256
from math import prod

from engine.checkpoint.checkpoint import Checkpoint
from engine.checkpoint.lora import LoraFile
from engine.checkpoint.prerouter import PrerouterFile
from engine.plan import ModelFacts
from engine.sizes import Sizes, sizes_of

HALF = 2
"""Bytes of a float16."""


def model_facts(
    checkpoint: Checkpoint, adapter: LoraFile | None, heads: PrerouterFile | None, activation_bytes: int
) -> ModelFacts:
    """`activation_bytes`: 4 where the device computes in float32, 2 where in bfloat16; caches have that width.

    Adapters are held in that width, too, or as stored where it is 2; heads in float16 everywhere.
    """
    config = checkpoint.config
    sizes = sizes_of(config, checkpoint.experts_per_token, activation_bytes)
    return ModelFacts(
        name=checkpoint.name,
        dense=_dense(checkpoint, sizes, activation_bytes),
        record=checkpoint.records.layout.nbytes,
        moe_layers=len(config.moe_layers),
        experts=config.num_experts,
        experts_per_token=checkpoint.experts_per_token,
        cache_per_token=sizes.cache_per_token,
        recurrent=sizes.recurrent,
        adapter=adapter_bytes(adapter, activation_bytes),
        heads=_heads(heads),
        activations_per_token=sizes.activations_per_token,
        max_context=config.max_position_embeddings,
        predicted_layers=len(config.consumers(heads.owners)) if heads else 0,
        pieces=len(checkpoint.records.layout.parts),
        shape=_shape(checkpoint, adapter, heads),
    )


def _shape(checkpoint: Checkpoint, adapter: LoraFile | None, heads: PrerouterFile | None) -> str:
    """The family and a digest of everything a step's arithmetic depends on, so that a measurement can be kept."""
    parts = (
        checkpoint.config,
        checkpoint.experts_per_token,
        checkpoint.quant.default,
        adapter.rank if adapter else 0,
        (heads.owners, heads.hidden) if heads else (),
    )
    return f"{checkpoint.family}-{sha256(repr(parts).encode()).hexdigest()[:16]}"


def _dense(checkpoint: Checkpoint, sizes: Sizes, activation_bytes: int) -> int:
    """As stored, except that plain matrices are held in the activations' width instead of 16 bits, and what is
    `derived` instead of what it replaces."""
    plain = [module for module, quantisation in checkpoint.modules.items() if quantisation is None]
    stored = sum(prod(checkpoint.tensors[f"{module}.weight"].shape) for module in plain)
    replaced = sum(info.nbytes for name, info in checkpoint.tensors.items() if name.startswith(sizes.replaced))
    return checkpoint.dense_bytes + stored * (activation_bytes - 2) + sizes.derived - replaced


def adapter_bytes(adapter: LoraFile | None, activation_bytes: int) -> int:
    """What an adapter's factors take in memory."""
    factors = [info for t in adapter.targets.values() for info in (t.a, t.b)] if adapter else []
    if activation_bytes == 2:
        return sum(info.nbytes for info in factors)
    return sum(prod(info.shape) for info in factors) * activation_bytes


def _heads(heads: PrerouterFile | None) -> int:
    if heads is None:
        return 0
    pieces = [(head.fc1, head.fc2, head.linear_init) for head in heads.heads.values()]
    return sum(prod(info.shape) for three in pieces for info in three) * HALF

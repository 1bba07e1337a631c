"""A model's layers sorted by what they compute, and a small model of each kind. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine.checkpoint.bailing_moe_v3.config import BailingMoeV3Config
from engine.checkpoint.model_config import ModelConfig
from engine.checkpoint.qwen3_5_moe.config import Qwen35MoeConfig
from engine.errors import CheckpointError

VOCABULARY = 8192
"""Rows of the head that is measured; the whole one takes longer in proportion."""


@dataclass(frozen=True)
class Kind:
    """`config` is that of a model with nothing but such layers; `layers` are the real model's of this kind."""

    config: ModelConfig
    layers: tuple[int, ...]


def kinds(config: ModelConfig, copies: int) -> list[Kind]:
    """One entry for each combination of mixer and feed-forward block, with `copies` layers each.

    Raises CheckpointError for a family that is not known.
    """
    match config:
        case Qwen35MoeConfig():
            groups = _grouped(config.layer_types, 0)
        case BailingMoeV3Config():
            groups = _grouped(config.layer_types, config.first_k_dense_replace)
        case _:
            raise CheckpointError(f"models of the family {config.family} are not supported")
    return [Kind(_uniform(config, *kind, copies), tuple(layers)) for kind, layers in groups.items()]


def _grouped(types: tuple[str, ...], dense: int) -> dict[tuple[str, bool], list[int]]:
    groups: dict[tuple[str, bool], list[int]] = {}
    for layer, mixer in enumerate(types):
        groups.setdefault((mixer, layer < dense), []).append(layer)
    return groups


def _uniform(config: Qwen35MoeConfig | BailingMoeV3Config, mixer: str, dense: bool, copies: int) -> ModelConfig:
    small = replace(
        config,
        num_hidden_layers=copies,
        layer_types=(mixer,) * copies,
        vocab_size=min(VOCABULARY, config.vocab_size),
    )
    return replace(small, first_k_dense_replace=copies * dense) if isinstance(small, BailingMoeV3Config) else small

"""From a checkpoint's configuration and weights to a `Model` of its family."""

from __future__ import annotations

from engine.checkpoint.bailing_moe_v3.config import BailingMoeV3Config
from engine.checkpoint.model_config import ModelConfig
from engine.checkpoint.qwen3_5_moe.config import Qwen35MoeConfig
from engine.errors import CheckpointError
from engine.experts.streamer import ExpertStreamer
from engine.kernels.interface import Kernels
from engine.models import build_bailing_moe_v3 as bailing_moe_v3
from engine.models import build_qwen3_5_moe as qwen3_5_moe
from engine.models.model import Model
from engine.models.weights import Weights


def build_model(config: ModelConfig, k: int, weights: Weights, experts: ExpertStreamer, kernels: Kernels) -> Model:
    """The model of the configuration's family, with `k` experts per token."""
    match config:
        case Qwen35MoeConfig():
            return qwen3_5_moe.build(config, k, weights, experts, kernels)
        case BailingMoeV3Config():
            return bailing_moe_v3.build(config, k, weights, experts, kernels)
        case _:
            raise CheckpointError(f"models of the family {config.family} are not supported")

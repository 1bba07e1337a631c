"""The sizes of a qwen3_5_moe text model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from engine.checkpoint.headers import TensorInfo
from engine.checkpoint.model_config import ModelConfig
from engine.checkpoint.names import canonical
from engine.checkpoint.parts import Part
from engine.checkpoint.qwen3_5_moe import tensors as inventory

LINEAR = "linear_attention"
FULL = "full_attention"


@dataclass(frozen=True, kw_only=True)
class Qwen35MoeConfig(ModelConfig):
    """config.json of a qwen3_5_moe checkpoint. `layer_types` holds LINEAR or FULL for each layer."""

    family: ClassVar[str] = "qwen3_5_moe"

    layer_types: tuple[str, ...]
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    rotary_dim: int
    rope_theta: float
    attn_output_gate: bool
    linear_num_key_heads: int
    linear_num_value_heads: int
    linear_key_head_dim: int
    linear_value_head_dim: int
    linear_conv_kernel_dim: int
    shared_expert_intermediate_size: int

    @property
    def linear_key_dim(self) -> int:
        return self.linear_num_key_heads * self.linear_key_head_dim

    @property
    def linear_value_dim(self) -> int:
        return self.linear_num_value_heads * self.linear_value_head_dim

    @property
    def conv_dim(self) -> int:
        """Channels of the causal convolution: queries, keys, values."""
        return 2 * self.linear_key_dim + self.linear_value_dim

    @property
    def attention_layers(self) -> tuple[int, ...]:
        return tuple(i for i, kind in enumerate(self.layer_types) if kind == FULL)

    @property
    def linear_layers(self) -> tuple[int, ...]:
        return tuple(i for i, kind in enumerate(self.layer_types) if kind == LINEAR)

    @property
    def moe_layers(self) -> tuple[int, ...]:
        return tuple(range(self.num_hidden_layers))

    @property
    def released_tier(self) -> str | None:
        sizes = (
            self.hidden_size, self.num_hidden_layers, self.num_experts, self.moe_intermediate_size, self.vocab_size,
            self.shared_expert_intermediate_size, self.num_attention_heads, self.num_key_value_heads, self.head_dim,
            self.linear_num_key_heads, self.linear_num_value_heads, self.linear_key_head_dim,
            self.linear_value_head_dim, len(self.attention_layers),
        )  # fmt: skip
        return "35b" if sizes == (2048, 40, 256, 512, 248320, 512, 16, 2, 256, 16, 32, 128, 128, 10) else None

    @property
    def lora_targets(self) -> tuple[str, ...]:
        return inventory.lora_targets(self)

    def parts(self, raw_layout: bool) -> tuple[Part, ...]:
        return inventory.parts(self, raw_layout)

    def expert_module(self, layer: int) -> str:
        return f"layers.{layer}.mlp.switch_mlp"

    def ignores(self, name: str) -> bool:
        vision = name.startswith("vision_tower") or canonical(name).startswith(("visual.", "vision_tower."))
        return vision or "mtp." in name

    def is_raw_layout(self, tensors: Mapping[str, TensorInfo]) -> bool:
        """MLX's own test: a convolution whose last dimension is not 1 was never converted, nor were the norms."""
        return any(
            name.endswith("conv1d.weight") and info.shape[-1:] not in {(1,), ()} for name, info in tensors.items()
        )

    def consumers(self, owners: Sequence[int]) -> tuple[int, ...]:
        """The layer after each owner, except that the last layer always keeps its own router."""
        return tuple(sorted(owner + 1 for owner in owners if 0 < owner + 1 < self.num_hidden_layers - 1))

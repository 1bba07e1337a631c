"""The sizes of a bailing_moe_v3 model (Ling 3.0 hybrid)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from engine.checkpoint.bailing_moe_v3 import foreign
from engine.checkpoint.bailing_moe_v3 import tensors as inventory
from engine.checkpoint.headers import TensorInfo
from engine.checkpoint.model_config import ModelConfig
from engine.checkpoint.names import canonical
from engine.checkpoint.parts import Part

KDA = "kda"
MLA = "mla"


def layer_types(layers: int, group: int = 4) -> tuple[str, ...]:
    """The last layer of each group attends to the latent, and so does what makes no whole group."""
    whole = layers // group * group
    return tuple(MLA if (i + 1) % group == 0 or i >= whole else KDA for i in range(layers))


@dataclass(frozen=True, kw_only=True)
class BailingMoeV3Config(ModelConfig):
    """config.json of a bailing_moe_v3 checkpoint. `layer_types` holds KDA or MLA for each layer.

    head_dim            of a KDA head, keys and values; MLA has qk_head_dim for keys and v_head_dim for values
    kda_lower_bound     the decay's logarithm lies in (kda_lower_bound, 0)
    n_group, topk_group experts are chosen inside the best topk_group of n_group equal groups
    intermediate_size   of the first_k_dense_replace layers, which have no experts
    """

    family: ClassVar[str] = "bailing_moe_v3"
    # A group counts as much as its two best scores; weights are s / (Σs + 1e-20) · routed_scaling_factor.
    group_scores: ClassVar[int] = 2
    score_epsilon: ClassVar[float] = 1e-20

    layer_types: tuple[str, ...]
    num_attention_heads: int
    head_dim: int
    short_conv_kernel_size: int
    kda_lower_bound: float
    q_lora_rank: int
    kv_lora_rank: int
    qk_nope_head_dim: int
    qk_rope_head_dim: int
    v_head_dim: int
    rope_theta: float
    n_group: int
    topk_group: int
    routed_scaling_factor: float
    first_k_dense_replace: int
    intermediate_size: int
    shared_expert_intermediate_size: int

    @property
    def kda_dim(self) -> int:
        """Channels of each KDA projection and convolution: all heads together."""
        return self.num_attention_heads * self.head_dim

    @property
    def qk_head_dim(self) -> int:
        """Of an MLA head: what carries no position, then what does."""
        return self.qk_nope_head_dim + self.qk_rope_head_dim

    @property
    def latent_dim(self) -> int:
        """Values an MLA layer keeps for a token: the latent and the rotated key all heads share."""
        return self.kv_lora_rank + self.qk_rope_head_dim

    @property
    def mla_layers(self) -> tuple[int, ...]:
        return tuple(i for i, kind in enumerate(self.layer_types) if kind == MLA)

    @property
    def kda_layers(self) -> tuple[int, ...]:
        return tuple(i for i, kind in enumerate(self.layer_types) if kind == KDA)

    @property
    def moe_layers(self) -> tuple[int, ...]:
        return tuple(range(self.first_k_dense_replace, self.num_hidden_layers))

    @property
    def experts_selectable(self) -> int:
        return self.topk_group * (self.num_experts // self.n_group)

    @property
    def released_tier(self) -> str | None:
        sizes = (
            self.hidden_size, self.num_hidden_layers, self.num_experts, self.moe_intermediate_size, self.vocab_size,
            self.shared_expert_intermediate_size, self.intermediate_size, self.num_attention_heads, self.head_dim,
            self.q_lora_rank, self.kv_lora_rank, self.qk_nope_head_dim, self.qk_rope_head_dim, self.v_head_dim,
            self.n_group, self.topk_group, self.first_k_dense_replace, len(self.mla_layers),
        )  # fmt: skip
        ours = (1536, 24, 128, 512, 157184, 512, 4608, 16, 128, 256, 512, 128, 64, 128, 8, 4, 1, 6)
        return "8b" if sizes == ours else None

    @property
    def lora_targets(self) -> tuple[str, ...]:
        return inventory.lora_targets(self)

    def parts(self, raw_layout: bool) -> tuple[Part, ...]:
        return inventory.parts(self, raw_layout)

    def expert_module(self, layer: int) -> str:
        return f"layers.{layer}.mlp.experts"

    def canonical(self, name: str) -> str:
        """Older files have a module more around each convolution."""
        return canonical(name).replace("_conv1d.conv.weight", "_conv1d.weight")

    def adapted(self, module: str) -> str:
        """transformers' `bailing_hybrid` renames attention on loading."""
        name = module.replace(".self_attn.", ".attention.").replace(".forget_gate.", ".")
        if name in {f"layers.{i}.attention.o_proj" for i in self.mla_layers}:
            return name.removesuffix("o_proj") + "dense"
        return name

    def ignores(self, name: str) -> bool:
        """Leftovers of the prerouter's training; a layer that predicts further tokens is none and is refused."""
        return ".mlp.pregate." in name

    def is_raw_layout(self, tensors: Mapping[str, TensorInfo]) -> bool:
        """True as published, with convolutions [C, 1, k]; older files have [C, k, 1]. Norms are w in both."""
        return any(
            name.endswith("_conv1d.weight") and info.shape[-1:] not in {(1,), ()} for name, info in tensors.items()
        )

    def explain(self, tensors: Mapping[str, TensorInfo]) -> str:
        return foreign.explain(self.num_hidden_layers, tensors)

    def consumers(self, owners: Sequence[int]) -> tuple[int, ...]:
        """The layer after each owner, the last layer included."""
        return tuple(sorted(owner + 1 for owner in owners if owner in self.moe_layers[:-1]))

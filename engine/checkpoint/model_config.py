"""What every family's configuration tells the rest of the engine; one subclass a family."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from engine.checkpoint.headers import TensorInfo
from engine.checkpoint.names import canonical
from engine.checkpoint.parts import Part


@dataclass(frozen=True, kw_only=True)
class ModelConfig(ABC):
    """The sizes all families have. What runs is Checkpoint.experts_per_token, not always num_experts_per_tok."""

    family: ClassVar[str]

    hidden_size: int
    num_hidden_layers: int
    vocab_size: int
    num_experts: int
    num_experts_per_tok: int
    norm_topk_prob: bool
    moe_intermediate_size: int
    rms_norm_eps: float
    max_position_embeddings: int
    tie_word_embeddings: bool
    eos_token_ids: tuple[int, ...]

    @property
    @abstractmethod
    def moe_layers(self) -> tuple[int, ...]:
        """The layers that have experts, ascending."""

    @property
    @abstractmethod
    def released_tier(self) -> str | None:
        """ "35b" or "8b" when these are exactly the released model's sizes."""

    @property
    @abstractmethod
    def lora_targets(self) -> tuple[str, ...]:
        """Canonical modules the published adapters of this family adapt."""

    @abstractmethod
    def parts(self, raw_layout: bool) -> tuple[Part, ...]:
        """Every matrix and tensor of the checkpoint, in file order, under canonical names."""

    @abstractmethod
    def expert_module(self, layer: int) -> str:
        """The canonical module above gate_proj, up_proj and down_proj of a layer's experts."""

    def canonical(self, name: str) -> str:
        """The one name of the tensor `name` (as in the file)."""
        return canonical(name)

    def adapted(self, module: str) -> str:
        """The canonical module that transformers' classes call `module`."""
        return module

    def explain(self, tensors: Mapping[str, TensorInfo]) -> str:
        """What else canonical `tensors` that do not fit this family may be; "" when there is nothing to say."""
        return ""

    @abstractmethod
    def ignores(self, name: str) -> bool:
        """Whether the tensor `name` (as in the file) is left alone: vision, extra heads."""

    @abstractmethod
    def is_raw_layout(self, tensors: Mapping[str, TensorInfo]) -> bool:
        """Whether norms and convolutions are in the original layout, judged by canonical tensors' shapes."""

    @abstractmethod
    def consumers(self, owners: Sequence[int]) -> tuple[int, ...]:
        """The layers that execute the predictions of prerouter heads at `owners`, ascending."""

    @property
    def experts_selectable(self) -> int:
        """The most experts one token can have."""
        return self.num_experts

    @property
    def head_features(self) -> int:
        """Inputs of a prerouter head: the MoE input and two one-hot sets of experts."""
        return self.hidden_size + 2 * self.num_experts

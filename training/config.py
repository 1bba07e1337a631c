"""Dimensions of nano and the settings of one training run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class NanoConfig:
    """Dimensions; every quantised input dimension is a multiple of 64 (the quantisation group)."""

    vocab: int = 2048
    hidden: int = 192
    layers: int = 8
    attention_interval: int = 4
    heads: int = 4
    kv_heads: int = 2
    head_dim: int = 64
    rotary_factor: float = 0.25
    rope_theta: float = 10_000.0
    key_heads: int = 2
    value_heads: int = 4
    key_dim: int = 64
    value_dim: int = 64
    conv_kernel: int = 4
    experts: int = 32
    top_k: int = 4
    expert_dim: int = 64
    shared_dim: int = 64
    eps: float = 1e-6
    max_positions: int = 4096

    def is_attention(self, layer: int) -> bool:
        """Every ``attention_interval``-th layer is full attention, the others are gated delta nets."""
        return (layer + 1) % self.attention_interval == 0

    @property
    def rotary_dim(self) -> int:
        """Rotated dimensions of a head."""
        return int(self.head_dim * self.rotary_factor)

    @property
    def delta_keys(self) -> int:
        """Width of all delta-net keys."""
        return self.key_heads * self.key_dim

    @property
    def delta_values(self) -> int:
        """Width of all delta-net values."""
        return self.value_heads * self.value_dim

    @property
    def conv_dim(self) -> int:
        """Channels of the causal convolution: queries, keys, values."""
        return 2 * self.delta_keys + self.delta_values


@dataclass(frozen=True)
class TrainSettings:
    """One run. The defaults are those of the first run of the recipe in ``training/README.md``."""

    seed: int = 20
    steps: int = 760
    """Steps of the learning-rate schedule."""
    stop: int = 600
    """Steps that are really done; 0 for the whole schedule."""
    early_steps: int = 240
    """First steps, with short rows only."""
    quantised_steps: int = 170
    """Last steps of the schedule, with int4 rounding."""
    tokens_per_step: int = 1024
    """Tokens of one batch; two processes do one batch each."""
    lr: float = 1.2e-3
    embedding_rate: float = 2.0
    warmup: int = 40
    weight_decay: float = 0.05
    short_share: float = 0.0
    """Share of rows with one question and mostly just the first words of the answer."""
    foreign_share: float = 0.34
    topic: float = 1.0
    balance: float = 0.01
    clip: float = 1.0

    @property
    def done(self) -> int:
        """Steps after which the run ends."""
        return min(self.stop or self.steps, self.steps)

"""What a family's checkpoint consists of, before anything is known about how it was quantised."""

from __future__ import annotations

from dataclasses import dataclass

FLOAT16 = ("BF16", "F16")
FLOATS = ("BF16", "F16", "F32")
GROUP_SIZES = (32, 64, 128)
BITS = (4, 8)


@dataclass(frozen=True)
class Quantization:
    """Affine quantisation w = q · scale + bias: one scale and bias for each `group_size` inputs."""

    group_size: int
    bits: int


@dataclass(frozen=True)
class LinearPart:
    """A matrix [out, in], or with `experts` > 0 a stack [experts, out, in] of them.

    Experts must be quantised, and what is `packed`; anything else may be in plain floats.
    """

    module: str
    out_features: int
    in_features: int
    experts: int = 0
    packed: bool = False

    @property
    def stack(self) -> tuple[int, ...]:
        return (self.experts,) if self.experts else ()


@dataclass(frozen=True)
class PlainPart:
    """A tensor that is never quantised; `dtypes` are accepted, the first is what is written.

    `shifted` norms are stored as w + 1 by MLX conversions and as w in the original layout.
    """

    name: str
    shape: tuple[int, ...]
    dtypes: tuple[str, ...] = FLOATS
    shifted: bool = False


Part = LinearPart | PlainPart

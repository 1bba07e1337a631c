"""What one expert's bytes look like, and where a checkpoint keeps them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engine.checkpoint.records import ByteRange
from engine.errors import CheckpointError

__all__ = ["PIECES", "ByteRange", "Key", "Ranges", "RecordShape"]

Key = tuple[int, int]
"""(layer, expert)."""

PIECES = (
    "gate.weight",
    "up.weight",
    "gate.scales",
    "up.scales",
    "gate.biases",
    "up.biases",
    "down.weight",
    "down.scales",
    "down.biases",
)
"""The order of a record's nine pieces, in files and in slots alike."""


Ranges = Callable[[int, int], Sequence[ByteRange]]
"""(layer, expert) → nine ranges in the order of `PIECES`. Called from reader threads."""


@dataclass(frozen=True)
class RecordShape:
    """The dimensions every expert of a checkpoint shares; scales and biases are 16-bit."""

    hidden: int
    intermediate: int
    bits: int
    group_size: int

    def __post_init__(self) -> None:
        if self.bits not in (2, 4, 8) or self.group_size <= 0:
            raise CheckpointError(f"experts of {self.bits} bits in groups of {self.group_size} are not supported")
        for name, size in (("hidden", self.hidden), ("intermediate", self.intermediate)):
            if size <= 0 or size % self.group_size or size * self.bits % 32:
                raise CheckpointError(
                    f"expert {name} size {size} is not a multiple of the group size {self.group_size} "
                    f"and of a 32-bit word of {self.bits}-bit weights"
                )

    @property
    def words(self) -> tuple[int, int]:
        """uint32 words in a row of gate and up, and in a row of down."""
        return self.hidden * self.bits // 32, self.intermediate * self.bits // 32

    @property
    def groups(self) -> tuple[int, int]:
        """Scales in a row of gate and up, and in a row of down."""
        return self.hidden // self.group_size, self.intermediate // self.group_size

    @property
    def pieces(self) -> tuple[int, ...]:
        """Bytes of each of the nine pieces, in the order of `PIECES`."""
        (wide_words, narrow_words), (wide_groups, narrow_groups) = self.words, self.groups
        up_weight, up_scales = self.intermediate * wide_words * 4, self.intermediate * wide_groups * 2
        down_weight, down_scales = self.hidden * narrow_words * 4, self.hidden * narrow_groups * 2
        return (up_weight, up_weight, *(up_scales,) * 4, down_weight, down_scales, down_scales)

    @property
    def nbytes(self) -> int:
        """Bytes of a record, and of a slot."""
        return sum(self.pieces)

"""Memory for experts that pass through: small arenas used in turn, so that reads run ahead of the computation."""

from __future__ import annotations

from engine.experts.arena import Arena
from engine.experts.record import RecordShape

DEPTH = 3
"""One buffer being computed, one handed out next, one being read. With two, nothing could be read while a group
is computed unless the caller had finished the group before it."""


def staging_bytes(shape: RecordShape, group_size: int) -> int:
    """What `Staging` will allocate."""
    return DEPTH * group_size * shape.nbytes


class Staging:
    """`DEPTH` arenas of `group_size` slots. A buffer is free once the group it was given to has been evaluated."""

    def __init__(self, shape: RecordShape, group_size: int) -> None:
        self.group_size = group_size
        self.buffers = [Arena(shape, group_size) for _ in range(DEPTH)]
        self.nbytes = sum(buffer.nbytes for buffer in self.buffers)
        self._given_to: list[int | None] = [0] * DEPTH

    def take(self, evaluated: int) -> int | None:
        """A buffer whose last group is `evaluated` or an earlier one; None if there is none yet."""
        for index, group in enumerate(self._given_to):
            if group is not None and group <= evaluated:
                self._given_to[index] = None
                return index
        return None

    def give(self, index: int, group: int) -> None:
        """The buffer, taken before, is now read by group number `group`; 0 gives it back unused."""
        self._given_to[index] = group

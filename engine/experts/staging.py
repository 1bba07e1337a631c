"""Memory for experts that pass through: small arenas used in turn, so that reads run ahead of the computation."""

from __future__ import annotations

from engine.experts.arena import Arena
from engine.experts.limits import STAGING_DEPTH
from engine.experts.record import RecordShape


class Staging:
    """`STAGING_DEPTH` arenas of `group_size` slots, each free once the group it was given to has been evaluated."""

    def __init__(self, shape: RecordShape, group_size: int) -> None:
        self.group_size = group_size
        self.buffers = [Arena(shape, group_size) for _ in range(STAGING_DEPTH)]
        self.nbytes = sum(buffer.nbytes for buffer in self.buffers)
        self._given_to: list[int | None] = [0] * STAGING_DEPTH

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

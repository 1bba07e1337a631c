"""How far behind the computation may be: the promise on which prefill reuses memory."""

from __future__ import annotations

from collections import deque

from engine.experts.slot_table import SlotTable


class Window:
    """Numbers groups from 1 on over all layers and chunks.

    Who asks for group n has finished evaluating group n - 2. A layer's slots are unpinned once its last group is
    known to have been evaluated.
    """

    def __init__(self, table: SlotTable) -> None:
        self.group = 0
        self.evaluated = 0
        self._table = table
        self._passes: deque[tuple[int, int]] = deque()

    def ask(self) -> int:
        """The number of the group asked for now."""
        self.group += 1
        self.evaluated = max(self.evaluated, self.group - 2)
        self._release()
        return self.group

    def end_pass(self, step: int) -> None:
        """The layer whose experts were touched in `step` has given its last group."""
        self._passes.append((self.group, step))

    def finish(self) -> None:
        """Every group given so far has been evaluated, or never will be."""
        self.evaluated = self.group
        self._passes.clear()
        self._table.release()

    def _release(self) -> None:
        while self._passes and self._passes[0][0] <= self.evaluated:
            self._table.release(self._passes.popleft()[1])

"""What a layer gets for the experts it asks for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from engine.experts.readers import Job


class Ticket:
    """Slots of one layer's experts, in the order asked.

    slots  int32 [K]; valid until the step ends
    ready  bool [K]: the bytes were there when the layer asked; the others may be read only after `wait`
    """

    def __init__(
        self,
        layer: int,
        slots: npt.NDArray[np.int32],
        ready: npt.NDArray[np.bool_],
        jobs: Sequence[Job],
        wait: Callable[[Sequence[Job]], None],
    ) -> None:
        self.layer = layer
        self.slots = slots
        self.ready = ready
        self._jobs = jobs
        self._wait = wait

    def wait(self) -> None:
        """Block until every expert is in its slot.

        Raises what a failed read raised (CheckpointError names file and offset): none of the slots may then be
        used. RuntimeError when the step has ended.
        """
        self._wait(self._jobs)

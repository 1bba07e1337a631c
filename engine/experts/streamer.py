"""Experts on demand, token by token and prompt by prompt, out of files larger than memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt

from engine.errors import PlanError
from engine.experts.admission import Share
from engine.experts.arena import Arena
from engine.experts.counters import Traffic
from engine.experts.layer_pass import LayerPass
from engine.experts.limits import READERS
from engine.experts.readers import ReaderPool
from engine.experts.record import Key, Ranges
from engine.experts.residents import Residents
from engine.experts.staging import Staging
from engine.experts.step import Step
from engine.experts.ticket import Ticket
from engine.experts.window import Window
from engine.protocol import ExpertCounters

_BACKGROUND = 1 << 30


class ExpertStreamer:
    """Puts experts into slots before they are used and keeps the most recent ones there.

    Used by the thread that owns MLX only; its readers are threads of their own. Decode and prefill alternate:
    `begin_step`, `request` per layer, `end_step` once the step's results have been waited on; `prefill_layer`
    per layer of a chunk.
    """

    def __init__(
        self,
        arena: Arena,
        ranges: Ranges,
        layers: Sequence[int],
        experts_per_layer: int,
        k: int,
        readers: int | ReaderPool = READERS,
        group_size: int = 8,
    ) -> None:
        """`layers` are the indices of the layers with experts, `k` the experts a token uses in each.

        Raises PlanError when the arena has fewer slots than one step uses. Staging is allocated here, unless
        every expert of the model has a slot.
        """
        needed = len(layers) * k
        if arena.slots < needed:
            raise PlanError(
                f"one step uses {needed} experts ({len(layers)} layers × {k}), the arena has {arena.slots} slots",
                f"{(needed - arena.slots) * arena.shape.nbytes:,} bytes more are needed.",
            )
        everything_fits = arena.slots >= len(layers) * experts_per_layer
        self.arena = arena
        self._layers = frozenset(layers)
        self._experts_per_layer = experts_per_layer
        self._k = k
        self._share = Share(arena.slots // max(1, len(layers)), everything_fits)
        self._staging = None if everything_fits else Staging(arena.shape, min(group_size, experts_per_layer))
        self._pool = readers if isinstance(readers, ReaderPool) else ReaderPool(readers)
        self._residents = Residents(arena, ranges, self._pool)
        self._window = Window(self._residents.table)
        self._traffic = Traffic()
        self._step: Step | None = None
        self._pass: LayerPass | None = None

    # --- decode ---------------------------------------------------------------------------------------------

    def begin_step(self) -> None:
        """Begin to decode a token. Everything prefill gave out has been evaluated or never will be.

        Raises CheckpointError when a file changed since it was opened.
        """
        if self._step is not None:
            raise RuntimeError("the previous step has not been ended")
        self._leave_pass()
        self._window.finish()
        self._pool.files.check_unchanged()
        self._step = Step(self._residents, self._traffic, self._k)

    def prefetch(self, routes: Mapping[int, Sequence[int]]) -> None:
        """Begin to read what layers are expected to ask for in this step: layer → at most K experts."""
        for layer, experts in routes.items():
            self._check(layer, experts)
        self._open_step().prefetch(routes)

    def request(self, layer: int, experts: Sequence[int]) -> Ticket:
        """The slots of the experts a layer uses; see `Ticket`."""
        self._check(layer, experts)
        return self._open_step().request(layer, experts)

    def end_step(self) -> None:
        """The step's results have been waited on: its slots may be reused. Harmless without a step."""
        if self._step is not None:
            self._step.end()
            self._step = None

    @contextmanager
    def step(self) -> Iterator[None]:
        """`begin_step` … `end_step`, also on an error; the body has to wait for its results itself."""
        self.begin_step()
        try:
            yield
        finally:
            self.end_step()

    # --- prefill --------------------------------------------------------------------------------------------

    def prefill_layer(
        self, layer: int, expert_ids: npt.NDArray[np.integer], rows: npt.NDArray[np.integer]
    ) -> LayerPass:
        """Groups that hold each of a layer's distinct experts once; `rows` [G] counts the tokens of each.

        The promise of the caller, over all layers and chunks: whoever asks for the group after the next has
        evaluated what used this one. Raises CheckpointError when a file changed since it was opened.
        """
        if self._step is not None:
            raise RuntimeError("a step is open; end it before prefill")
        experts = [int(expert) for expert in expert_ids]
        self._check(layer, experts)
        if len(set(experts)) != len(experts) or len(rows) != len(experts):
            raise ValueError(f"layer {layer}: expert ids must be distinct, with one row count each")
        self._leave_pass()
        self._pool.files.check_unchanged()
        keys = [(layer, expert) for expert in experts]
        self._pass = LayerPass(self._residents, self._staging, self._window, self._traffic, self._share, keys, rows)
        return self._pass

    # --- between replies ------------------------------------------------------------------------------------

    def hot_list(self) -> list[Key]:
        """Resident experts, the most recently used first."""
        return [key for key in reversed(list(self._residents.table)) if key not in self._residents.pending]

    def seed(self, hot: Iterable[Key]) -> int:
        """Begin to read the first of these experts into slots nobody holds; return how many.

        Entries that the model does not have are passed over. Nothing waits for these reads, and they give way.
        """
        if self._step is not None:
            raise RuntimeError("a step is open; seed between replies")
        table = self._residents.table
        known = [key for key in dict.fromkeys(hot) if self._has(*key) and key not in table][: table.free]
        for key in reversed(known):
            self._residents.fetch(key, _BACKGROUND)
        return len(known)

    def counters(self) -> ExpertCounters:
        """Traffic since `reset_counters`."""
        return self._traffic.experts(self.arena.slots, self._pool.stats())

    @property
    def wait_s(self) -> float:
        """Seconds the caller was blocked on reads since `reset_counters`."""
        return self._traffic.wait_s

    @property
    def bandwidth(self) -> float:
        """Bytes per second while reads were in flight, since `reset_counters`."""
        return self._traffic.bandwidth(self._pool.stats())

    def reset_counters(self) -> None:
        """A reply begins."""
        self._traffic.reset(self._pool.stats())

    @property
    def nbytes(self) -> int:
        """What arena and staging hold."""
        return self.arena.nbytes + (self._staging.nbytes if self._staging else 0)

    def close(self) -> None:
        """End all reads and close the files. The arena stays readable."""
        self.end_step()
        self._leave_pass()
        self._pool.close()

    # --- checks ---------------------------------------------------------------------------------------------

    def _open_step(self) -> Step:
        if self._step is None:
            raise RuntimeError("no step has been begun")
        return self._step

    def _leave_pass(self) -> None:
        if self._pass is not None:
            self._pass.close()
            self._pass = None

    def _has(self, layer: int, expert: int) -> bool:
        return layer in self._layers and 0 <= expert < self._experts_per_layer

    def _check(self, layer: int, experts: Iterable[int]) -> None:
        for expert in experts:
            if not self._has(layer, int(expert)):
                raise ValueError(f"the model has no expert {int(expert)} in layer {layer}")

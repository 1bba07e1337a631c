"""Showing the heads the end of a prompt, whichever chunks its last positions fall into."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.adapters.prerouter import Prerouter
from engine.models.step import Step


@dataclass
class PromptWatch:
    """Makes the steps of a prefill and keeps those that hold `positions`, of which the heads run on the last."""

    owners: frozenset[int]
    positions: Sequence[int]
    _held: dict[int, tuple[Step, int]] = field(default_factory=dict)

    def step(self, start: int, end: int) -> Step:
        """The step for the tokens from `start` to `end`."""
        here = [position for position in self.positions if start <= position < end]
        step = Step(prefill=True, capture=self.owners if here else frozenset())
        self._held |= {position: (step, position - start) for position in here}
        return step

    def show(self, prerouter: Prerouter) -> None:
        """After the prefill. During it every layer is on its own router, so that is what one-hot sets show."""
        for position in self.positions:
            step, row = self._held[position]
            used = {owner: step.routes[owner].experts[row : row + 1] for owner in self.owners}
            if position == self.positions[-1]:
                prerouter.observe(step.moe_inputs, used)
            else:
                prerouter.remember(used)

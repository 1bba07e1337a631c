"""The conversation whose state is live in the model, and how much of a new prompt it already covers.

Cached rows can be cut anywhere but recurrent states cannot, so going back is possible to the positions that were
kept: turn boundaries. What follows from the ids alone decides what is reused, so a reply cannot depend on who
asked before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engine.models.cache import ModelState, Snapshot


class LiveConversation:
    """The ids that have gone through the model, its state after them, and at most `keep` earlier states."""

    def __init__(self, fresh_state: Callable[[], ModelState], keep: int) -> None:
        self._fresh_state = fresh_state
        self._keep = keep
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self.state = self._fresh_state()
        self.ids: list[int] = []
        self._kept: list[Snapshot] = []

    def resume(self, prompt: Sequence[int], leave: int = 1) -> int:
        """Go to the latest known position that `prompt` continues; returns its length (0: from the beginning).

        At least `leave` ≥ 1 tokens are left to compute: the last one's logits are what comes next, and heads may
        have to see more.
        """
        here = self.state.snapshot()
        fits = [
            kept
            for kept in (*self._kept, here)
            if 0 < kept.length <= len(prompt) - leave and self.ids[: kept.length] == list(prompt[: kept.length])
        ]
        if not fits:
            self.reset()
            return 0
        self.go_back(max(fits, key=lambda kept: kept.length))
        return self.state.length

    def advance(self, ids: Sequence[int]) -> None:
        """`ids` have gone through the model."""
        self.ids.extend(ids)
        assert len(self.ids) == self.state.length

    def mark(self) -> None:
        """Keep the present state as one to come back to; the oldest beyond `keep` is let go."""
        here = self.state.snapshot()
        earlier = [kept for kept in self._kept if kept.length != here.length]
        self._kept = [*earlier, here][-self._keep :]

    def go_back(self, snapshot: Snapshot) -> None:
        """Undo everything after `snapshot`, a state of this conversation."""
        self.state.restore(snapshot)
        del self.ids[snapshot.length :]
        self._kept = [kept for kept in self._kept if kept.length <= snapshot.length]

    def back_to_kept(self) -> None:
        """Go back to the last state that was kept; forget everything if there is none."""
        if self._kept:
            self.go_back(self._kept[-1])
        else:
            self.reset()

"""Bytes, rate and time left of a download, out of what its transfers have done so far."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence

from edge0_tui.manager.events import Progress
from edge0_tui.manager.transfer import FileState

_WINDOW = 5.0
_QUIET = 3.0


class Meter:
    """`look` is called some times a second."""

    def __init__(self, states: Sequence[FileState], clock: Callable[[], float] = time.monotonic) -> None:
        self._states, self._clock = states, clock
        self._total = sum(state.file.bytes for state in states)
        self._samples: deque[tuple[float, int]] = deque()
        self._moved = clock()
        self._last = (True, 0)

    def look(self) -> Progress:
        """The sum over all files as it is now."""
        arrived = sum(state.arrived for state in self._states)
        hashed = sum(state.hashed for state in self._states)
        done = sum(state.done for state in self._states)
        fetching = arrived < self._total
        # Rates count what moves in this phase: bytes received, or bytes hashed when all have arrived.
        moved = sum(state.received for state in self._states) if fetching else hashed
        rate, quiet = self._rate(fetching, moved)
        left = self._total - (arrived if fetching else hashed)
        return Progress(
            "downloading" if fetching else "verifying" if done < len(self._states) else "done",
            arrived if fetching else min(hashed, self._total),
            self._total,
            rate,
            left / rate if rate else None,
            self._stalled(quiet) if fetching else "",
            done,
            len(self._states),
            next((state.note for state in self._states if state.note), ""),
        )

    def _rate(self, fetching: bool, count: int) -> tuple[float | None, float]:
        """Bytes a second over the window, and for how long none have come."""
        now = self._clock()
        if (fetching, count) != self._last:
            # Another phase, a file begun anew and the time of a stall say nothing about what is left.
            if fetching != self._last[0] or count < self._last[1] or now - self._moved > _QUIET:
                self._samples.clear()
            self._last, self._moved = (fetching, count), now
        self._samples.append((now, count))
        while len(self._samples) > 2 and self._samples[0][0] < now - _WINDOW:
            self._samples.popleft()
        seconds = now - self._samples[0][0]
        return ((count - self._samples[0][1]) / seconds if seconds > 0.2 else None), now - self._moved

    def _stalled(self, quiet: float) -> str:
        """A reason only while no file gets anything."""
        waiting = [state.stalled for state in self._states if state.stalled and not state.done]
        if quiet < _QUIET and not (waiting and all(state.stalled or state.done for state in self._active())):
            return ""
        return waiting[0] if waiting else f"no data for {quiet:.0f} s"

    def _active(self) -> list[FileState]:
        return [
            state
            for state in self._states
            if state.arrived < state.file.bytes and (state.received or state.stalled)
        ]

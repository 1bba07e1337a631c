"""Keeps the directory of what is loaded, or is being loaded, from being deleted meanwhile. No Textual."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from edge0_tui.manager.use import Use


class Held:
    """At most two directories: that of the loaded model, and that of the load under way."""

    def __init__(self) -> None:
        self._loaded: Use | None = None
        self._coming: Use | None = None

    def begin(self, model: str) -> None:
        """A load begins; what an earlier one held is let go. Raises `InUseError` while the model is being deleted."""
        self.failed()
        if model != "nano" and Path(model).is_dir():
            from edge0_tui.manager.use import hold

            self._coming = hold(Path(model))

    def loaded(self) -> None:
        """The load has come to its end, and what was loaded before is no more."""
        _release(self._loaded)
        self._loaded, self._coming = self._coming, None

    def failed(self) -> None:
        """The load did not come to its end."""
        _release(self._coming)
        self._coming = None

    def nothing(self) -> None:
        """The engine has gone, or has nothing loaded any more."""
        self.failed()
        _release(self._loaded)
        self._loaded = None


def _release(use: Use | None) -> None:
    if use is not None:
        use.release()

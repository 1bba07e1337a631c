"""What the engine is asked to load."""

from __future__ import annotations

from dataclasses import dataclass, field

from edge0_tui.paths import find_paths
from engine.protocol import Load


@dataclass(frozen=True)
class Choice:
    """A checkpoint (`nano` or a directory), adapter and routing. Empty means the checkpoint's own default.

    `reason` says why the program chose the checkpoint; empty when a person did.
    """

    model: str = "nano"
    adapter: str = ""
    routing: str = ""
    memory_bytes: int | None = None
    context: int | None = None
    label: str = ""
    reason: str = field(default="", compare=False)

    @property
    def name(self) -> str:
        """How messages call it: the label it was chosen by, else the last part of its directory."""
        return self.label or self.model.rstrip("/").rpartition("/")[2]

    def request(self, id: str) -> Load:
        """The request to the engine."""
        folder = str(find_paths().adapters)
        return Load(id, self.model, self.adapter, self.routing, self.memory_bytes, self.context, folder)

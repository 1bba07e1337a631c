"""Collects everything wrong with a tensor list, to say it in one message."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from engine.checkpoint.faults import shown
from engine.errors import CheckpointError

NAMED = 4
KINDS = ("missing", "extra", "misshapen", "of a wrong element type", "not supported")


@dataclass
class Problems:
    """Findings by kind, in the order they were made."""

    directory: Path
    found: dict[str, list[str]] = field(default_factory=lambda: {kind: [] for kind in KINDS})

    def add(self, kind: str, name: str, detail: str = "", file: Path | None = None) -> None:
        where = f" in {ascii(file.name)[1:-1]}" if file else ""
        self.found[kind].append(shown(name) + where + (f" ({detail})" if detail else ""))

    def raise_any(self, hint: str) -> None:
        """Raise CheckpointError naming the first few of each kind, with counts; return when there are none."""
        said = [_sentence(kind, items) for kind, items in self.found.items() if items]
        if said:
            raise CheckpointError(f"{ascii(self.directory.name)[1:-1]}: {'; '.join(said)}.", hint)


def _sentence(kind: str, items: list[str]) -> str:
    rest = f" and {len(items) - NAMED} more" if len(items) > NAMED else ""
    return f"{len(items)} tensor{'s' if len(items) > 1 else ''} {kind}: {', '.join(items[:NAMED])}{rest}"

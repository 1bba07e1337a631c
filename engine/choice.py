"""What a load request means: which checkpoint, adapter, heads and routing. Opens and checks; loads nothing."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from engine.checkpoint.adapter_match import require_heads, require_lora
from engine.checkpoint.checkpoint import Checkpoint, open_checkpoint
from engine.checkpoint.lora import LoraFile, read_lora
from engine.checkpoint.prerouter import PrerouterFile, read_prerouter
from engine.checkpoint.tiers import NANO
from engine.errors import CheckpointError, UsageError
from engine.facts import adapter_elements, model_facts
from engine.plan import ModelFacts
from engine.protocol import Load, Routing


@dataclass(frozen=True)
class Chosen:
    """The files a load will read, all checked against each other."""

    checkpoint: Checkpoint
    adapter: LoraFile | None
    heads: PrerouterFile | None
    routing: Routing

    @property
    def adapter_name(self) -> str:
        """As the menu and the header show it."""
        return self.adapter.path.stem if self.adapter else "none"

    @property
    def largest_adapter(self) -> LoraFile | None:
        """Of those beside the weights and the chosen one."""
        beside = [read_lora(path) for path in self.checkpoint.files.adapters]
        return max([*beside, *([self.adapter] if self.adapter else [])], key=adapter_elements, default=None)

    def facts(self, activation_bytes: int) -> ModelFacts:
        """Sizes for the plan; room for the largest adapter beside the weights, so that switching never re-plans."""
        return model_facts(self.checkpoint, self.largest_adapter, self.heads, activation_bytes)


def choose(request: Load) -> Chosen:
    """Raises CheckpointError or UsageError naming what is missing, damaged, or of another tier."""
    checkpoint = open_checkpoint(NANO if request.model == "nano" else Path(request.model).expanduser())
    path = adapter_file(checkpoint, request.adapter)
    adapter = read_lora(path) if path else None
    if adapter:
        require_lora(adapter, checkpoint)
    heads = read_prerouter(checkpoint.files.heads[0]) if checkpoint.files.heads else None
    if heads:
        require_heads(heads, checkpoint)
    return Chosen(checkpoint, adapter, heads, checked_routing(request.routing, checkpoint.name, heads is not None))


def checked_routing(wanted: str, name: str, heads: bool) -> Routing:
    """`wanted`; where it is empty, predicted if there are heads. Raises UsageError for what cannot take effect."""
    if wanted not in ("", "exact", "predicted"):
        raise UsageError(f"routing is {wanted!r}.", "It is exact or predicted.")
    if wanted == "predicted" and not heads:
        raise UsageError(f"{name} has no prerouter heads.", "Only exact routing is possible with it.")
    if wanted == "exact":
        return "exact"
    return "predicted" if heads else "exact"


def adapter_file(checkpoint: Checkpoint, name: str) -> Path | None:
    """The file meant by `name`: none, a name among those beside the checkpoint, or a path; empty: the default.

    The default is the first adapter that lies directly beside the weights, as the releases ship theirs.
    """
    if name == "none":
        return None
    available = {path.stem: path for path in checkpoint.files.adapters}
    if not name:
        beside = [path for path in checkpoint.files.adapters if path.parent == checkpoint.path]
        return beside[0] if beside else None
    if name in available:
        return available[name]
    path = Path(name).expanduser()
    if path.suffix == ".safetensors" or os.sep in name:
        return path
    known = ", ".join(sorted(available)) or "none"
    raise CheckpointError(f"There is no adapter {name!r} beside {checkpoint.name}.", f"Available: {known}.")

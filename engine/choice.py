"""What a load request means: which checkpoint, adapter, heads and routing. Opens and checks; loads nothing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from engine.adapter_choice import ChosenAdapter, choose_adapter, fitting_adapters, largest
from engine.checkpoint.adapter_match import require_heads
from engine.checkpoint.checkpoint import Checkpoint, open_checkpoint
from engine.checkpoint.lora import LoraFile
from engine.checkpoint.prerouter import PrerouterFile, read_prerouter
from engine.checkpoint.tiers import NANO
from engine.errors import CheckpointError, UsageError
from engine.facts import model_facts
from engine.plan import ModelFacts
from engine.protocol import Load, Routing


@dataclass(frozen=True)
class Chosen:
    """The files a load will read, all checked against each other."""

    checkpoint: Checkpoint
    adapter: ChosenAdapter | None
    heads: PrerouterFile | None
    routing: Routing
    adapters_dir: str = ""

    def largest_adapter(self, activation_bytes: int) -> LoraFile | None:
        """Of those that fit and the chosen one."""
        known = fitting_adapters(self.checkpoint, self.adapters_dir).values()
        return largest([*known, *([self.adapter.file] if self.adapter else [])], activation_bytes)

    def facts(self, activation_bytes: int) -> ModelFacts:
        """Sizes for the plan; room for the largest adapter that fits, so that switching seldom re-plans."""
        return model_facts(self.checkpoint, self.largest_adapter(activation_bytes), self.heads, activation_bytes)


def choose(request: Load) -> Chosen:
    """Raises CheckpointError or UsageError naming what is missing, damaged, or of another tier."""
    checkpoint = open_checkpoint(NANO if request.model == "nano" else Path(request.model).expanduser())
    adapter = choose_adapter(checkpoint, request.adapter, request.adapters_dir)
    heads = choose_heads(checkpoint)
    routing = checked_routing(request.routing, checkpoint.name, heads is not None)
    return Chosen(checkpoint, adapter, heads, routing, request.adapters_dir)


def choose_heads(checkpoint: Checkpoint) -> PrerouterFile | None:
    """The heads that lie beside the weights, or else under adapters/; those of another tier are passed over.

    Raises CheckpointError when there are files and none of them fits, or when two in one place do: nothing says
    which of them the person means.
    """
    refused: CheckpointError | None = None
    fitting: dict[Path, PrerouterFile] = {}
    for path in checkpoint.files.heads:
        try:
            heads = read_prerouter(path)
            require_heads(heads, checkpoint)
        except CheckpointError as error:
            refused = refused or error
        else:
            fitting[path] = heads
    nearest = min((path.parent != checkpoint.path for path in fitting), default=False)
    found = [path for path in fitting if (path.parent != checkpoint.path) == nearest]
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise CheckpointError(
            f"{checkpoint.name} has {len(found)} files of prerouter heads that fit: {names}.",
            "Leave one of them beside the weights, and move the others elsewhere.",
        )
    if refused is not None and not found:
        raise refused
    return fitting[found[0]] if found else None


def checked_routing(wanted: str, name: str, heads: bool) -> Routing:
    """`wanted`; where it is empty, predicted if there are heads. Raises UsageError for what cannot take effect."""
    if wanted not in ("", "exact", "predicted"):
        raise UsageError(f"routing is {wanted!r}.", "It is exact or predicted.")
    if wanted == "predicted" and not heads:
        raise UsageError(f"{name} has no prerouter heads.", "Only exact routing is possible with it.")
    if wanted == "exact":
        return "exact"
    return "predicted" if heads else "exact"

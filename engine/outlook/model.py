"""A checkpoint with its adapter and heads, as the planner looks at it: from a directory, or a published tier."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from engine.checkpoint.checkpoint import Checkpoint
from engine.checkpoint.lora import LoraFile
from engine.checkpoint.prerouter import PrerouterFile
from engine.facts import model_facts
from engine.plan import ModelFacts
from engine.protocol import Load


@dataclass(frozen=True)
class PlannedModel:
    """`adapter` is the largest beside the weights, so that the plan has room for each of them.

    `ignored` are bytes of the published files that nobody loads.
    """

    checkpoint: Checkpoint
    adapter: LoraFile | None
    heads: PrerouterFile | None
    ignored: int = 0

    def facts(self, activation_bytes: int) -> ModelFacts:
        """Its sizes on a device that computes in `activation_bytes`."""
        return model_facts(self.checkpoint, self.adapter, self.heads, activation_bytes)

    @property
    def record(self) -> int:
        """Bytes of one expert."""
        return self.checkpoint.records.layout.nbytes

    @property
    def stored_bytes(self) -> int:
        """Bytes of all its tensors in files; headers and texts, some 20 MB, come on top."""
        pieces = (
            [t for target in self.adapter.targets.values() for t in (target.a, target.b)] if self.adapter else []
        )
        heads = self.heads.heads.values() if self.heads else ()
        pieces += [info for head in heads for info in (head.fc1, head.fc2, head.linear_init)]
        weights = self.checkpoint.dense_bytes + self.checkpoint.expert_bytes
        return weights + self.ignored + sum(info.nbytes for info in pieces)

    @property
    def piece_bytes(self) -> tuple[int, ...]:
        """Bytes of the pieces of a record."""
        return tuple(part.nbytes for part in self.checkpoint.records.layout.parts)


def open_model(directory: Path, adapters_dir: str = "") -> PlannedModel:
    """The checkpoint in `directory`, with those of a folder of adapters that fit it.

    Raises CheckpointError or UsageError as a load would.
    """
    from engine.choice import choose

    chosen = choose(Load("plan", str(directory), adapters_dir=adapters_dir))
    return PlannedModel(chosen.checkpoint, chosen.largest_adapter(2), chosen.heads)

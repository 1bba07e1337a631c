"""By what else the same question can be answered: another adapter, routing or tier. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from edge0_tui.choice import Choice
from engine.protocol import ModelInfo

if TYPE_CHECKING:
    from edge0_tui.installed import Installed

BUILT_IN = "nano"


@dataclass(frozen=True)
class Comparison:
    """What a person wants: the other answer by `choice`, and whether that stays loaded."""

    choice: Choice
    keep: bool = False


@dataclass(frozen=True)
class Alternative:
    """One line of the menu, below the heading `kind`."""

    kind: str
    name: str
    note: str
    choice: Choice


def alternatives(installed: Sequence[Installed], loaded: Choice, info: ModelInfo) -> list[Alternative]:
    """Everything that differs from what is loaded in one respect. The memory budget and context stay."""
    here = replace(loaded, adapter=info.adapter, routing=info.routing)
    adapters = [name for name in dict.fromkeys([*info.adapters_available, "none"]) if name != info.adapter]
    found = [
        Alternative("Adapter", name.rpartition("/")[2], _adapter(name), replace(here, adapter=name))
        for name in adapters
    ]
    if info.predicted_available:
        other = "exact" if info.routing == "predicted" else "predicted"
        note = "the model's own router decides" if other == "exact" else "the prerouter decides one token ahead"
        found.append(Alternative("Routing", other, note, replace(here, routing=other)))
    for model in installed:
        path = BUILT_IN if model.name == BUILT_IN else str(model.path)
        if path != loaded.model:
            choice = replace(loaded, model=path, label=model.name, adapter="", routing="")
            found.append(Alternative("Checkpoint", model.name, model.source, choice))
    return found


def _adapter(name: str) -> str:
    return "the base alone" if name == "none" else ""

"""At the start, with several tiers installed: which one to load, and why. Blocks on the disk; no Textual."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from edge0_tui.installed import BUILT_IN, Installed, installed_models
from edge0_tui.paths import Paths
from edge0_tui.prospect import Prospect, look
from engine.errors import EngineError

AUTOMATIC = "automatic"
"""The value of the setting `model.default` that asks for this."""
TIERS = ("35b", "8b")
"""What is chosen among. Other checkpoints are loaded when somebody asks for them."""


@dataclass(frozen=True)
class Automatic:
    """`model` is what `Load` takes; `label` its name in the list. `reason` is empty where there was no choice."""

    model: str = BUILT_IN
    label: str = ""
    reason: str = ""


def automatic(paths: Paths, memory: int | None = None, context: int | None = None) -> Automatic:
    """The tier that suits the memory available now and the measured disk; nano where nothing else is installed."""
    others = [item for item in installed_models(paths) if item.name != BUILT_IN and item.loadable]
    found = _tiers(others, paths)
    if not found:
        return Automatic()
    from engine.outlook.recommend import Candidate, recommended

    labels = {str(item.path): item.name for item in others}
    candidates = [
        Candidate(prospect.what.id, prospect.what.tier, prospect.outlook(memory, context))
        for prospect in (*found, look(BUILT_IN, paths))
    ]
    best = recommended(candidates)
    assert best is not None
    return Automatic(best.id, labels.get(best.id, ""), best.reason)


def _tiers(models: Sequence[Installed], paths: Paths) -> list[Prospect]:
    """The first of each tier; what cannot be opened now is passed over, a load would say why."""
    found: dict[str, Prospect] = {}
    for item in models:
        try:
            prospect = look(str(item.path), paths)
        except (EngineError, OSError):
            continue
        if prospect.what.tier in TIERS:
            found.setdefault(prospect.what.tier, prospect)
    return list(found.values())

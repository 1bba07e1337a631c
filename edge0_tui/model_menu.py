"""The lines of the models menu: what can be loaded, and what is. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from edge0_tui.choice import Choice
from edge0_tui.installed import BUILT_IN, Installed
from engine.protocol import ModelInfo


@dataclass(frozen=True)
class MenuLine:
    """One line. Without a choice it is a heading, or something that cannot be had, with the reason as its note."""

    text: str
    note: str = ""
    choice: Choice | None = None
    loaded: bool = False
    heading: bool = False


def menu(installed: Sequence[Installed], loaded: Choice | None, info: ModelInfo | None) -> list[MenuLine]:
    """All lines, with what is loaded marked. A choice keeps the memory budget and context of the present one."""
    base = loaded or Choice()
    lines = [MenuLine("Checkpoint", heading=True)]
    for model in installed:
        path = BUILT_IN if model.name == BUILT_IN else str(model.path)
        here = loaded is not None and loaded.model == path
        choice = replace(base, model=path, label=model.name, adapter="", routing="")
        if not model.loadable:
            lines.append(MenuLine(model.name, f"{model.status}: {model.note}"))
            continue
        lines.append(MenuLine(model.name, _source(model), loaded if here and loaded else choice, here))
    if info is None:
        return lines
    lines.append(MenuLine("Adapter", heading=True))
    for name in dict.fromkeys([*info.adapters_available, "none"]):
        note = "the base alone" if name == "none" else _short(name)
        lines.append(MenuLine(_file(name), note, replace(base, adapter=name), name == info.adapter))
    lines.append(MenuLine("Routing", heading=True))
    lines.append(
        MenuLine("exact", "the model's own router decides", replace(base, routing="exact"), info.routing == "exact")
    )
    predicted = replace(base, routing="predicted") if info.predicted_available else None
    note = "the prerouter decides one token ahead" if predicted else "this checkpoint has no prerouter heads"
    lines.append(MenuLine("predicted", note, predicted, info.routing == "predicted"))
    return lines


def _source(model: Installed) -> str:
    return model.source if model.name == BUILT_IN else f"{_short(str(model.path))} · {model.source}"


def _short(path: str) -> str:
    home = str(Path.home())
    return "~" + path[len(home) :] if path.startswith(home + "/") else path if "/" in path else ""


def _file(name: str) -> str:
    return name.rpartition("/")[2]

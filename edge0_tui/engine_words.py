"""What the engine is busy with, in words."""

from __future__ import annotations

from edge0_tui.engine_link import EngineLink


def activity(link: EngineLink) -> str:
    """What keeps the engine from taking a message, in a few words."""
    match link.phase:
        case "starting":
            return "starting the engine"
        case "down":
            return "the engine is not running"
        case "empty":
            return "no model loaded"
        case "loading":
            name = link.loading.name if link.loading else ""
            step = link.progress
            if step is None:
                return f"loading {name}"
            if step.total:
                return f"loading {name}: {step.phase} {100 * step.done // step.total} %"
            return f"loading {name}: {step.phase}"
        case _:
            return ""

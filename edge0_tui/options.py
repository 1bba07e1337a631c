"""What the command line hands to the application."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class AppOptions:
    """Empty and None mean that the settings decide. `memory` is in bytes, `context` in tokens.

    `model` is `nano`, `8b`, `35b` or a directory, as typed; `edge0_tui.installed.resolve` turns it into what
    `engine.protocol.Load` takes.
    """

    model: str = ""
    adapter: str = ""
    routing: str = ""
    memory: int | None = None
    context: int | None = None
    resume: str = ""
    continue_last: bool = False

"""What a person is told in one line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Tone = Literal["info", "warning", "error"]


@dataclass(frozen=True)
class Notice:
    """A message and, apart from it, what to do. Both are shown as they are, never as markup.

    Both may name an action's key as `{key:models}`; who shows them puts it in. What only informs leaves by itself.
    A later notice of the same `topic` takes its place.
    """

    message: str
    hint: str = ""
    tone: Tone = "info"
    topic: str = ""

"""Models, adapters and routing in the command palette. Choosing one opens the models screen on its plan."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider

from edge0_tui.model_menu import MenuLine

if TYPE_CHECKING:
    from edge0_tui.app import Edge0App

_WORDS = {"installed": "Load", "fetch": "Fetch", "adapter": "Adapter", "routing": "Routing"}
_PATIENCE_SECONDS = 0.2
"""The palette shows nothing before every source has answered, and a slow disk must not keep the other commands."""


class ModelCommands(Provider):
    """Everything that can be switched to, but for what is on already. Only over the chat."""

    _looking: asyncio.Task[None] | None = None

    async def startup(self) -> None:
        """Only begins: who types before it is over cancels it, and Textual then finds nothing any more."""
        if self.screen.id == "chat":
            self._looking = asyncio.create_task(self._application.desk.look_around(), name="palette's models")

    async def _lines(self) -> list[MenuLine]:
        """What is known by now: what is found later is among the results of the next key."""
        if self._looking is None:
            return []
        await asyncio.wait({self._looking}, timeout=_PATIENCE_SECONDS)
        return [line for line in self._application.desk.lines() if not line.marked and _usable(line)]

    async def discover(self) -> Hits:
        for line in await self._lines():
            yield DiscoveryHit(_title(line), partial(self._open, line.id), help=_help(line))

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for line in await self._lines():
            if (score := matcher.match(_title(line))) > 0:
                yield Hit(
                    score,
                    matcher.highlight(_title(line)),
                    partial(self._open, line.id),
                    text=_title(line),
                    help=_help(line),
                )

    @property
    def _application(self) -> Edge0App:
        return cast("Edge0App", self.app)

    def _open(self, line: str) -> None:
        self._application.chat.open_models(line)


def _usable(line: MenuLine) -> bool:
    return line.kind in _WORDS and (line.choice is not None or line.kind == "fetch")


def _title(line: MenuLine) -> str:
    return f"{_WORDS[line.kind]} {line.text}"


def _help(line: MenuLine) -> str:
    note = " ".join(line.note.split())
    return f"Shows the plan first. {note[:1].upper()}{note[1:]}.".replace(" .", "")

"""The command palette: Textual's, made safe for results that arrive when it has been closed already."""

from __future__ import annotations

import contextlib

from textual import work
from textual.await_complete import AwaitComplete
from textual.command import CommandPalette
from textual.css.query import NoMatches


class Palette(CommandPalette):
    """On a slow machine a search is still going on when escape closes the palette, and Textual's then looks for
    its list, which is gone, and ends the program with that."""

    @work(exclusive=True, group=CommandPalette._GATHER_COMMANDS_GROUP)
    async def _gather_commands(self, search_value: str) -> None:
        with contextlib.suppress(NoMatches):
            await CommandPalette._gather_commands.__wrapped__(self, search_value)  # type: ignore[attr-defined]

    def dismiss(self, result: None = None) -> AwaitComplete:
        """The countdowns draw into the list as well."""
        self._stop_busy_countdown()
        self._stop_no_matches_countdown()
        self._cancel_gather_commands()
        return super().dismiss(result)

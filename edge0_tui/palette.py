"""The registry's actions in the command palette."""

from __future__ import annotations

from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from edge0_tui.keymap import keymap_of
from edge0_tui.keys import ACTIONS, Action, target


class ActionCommands(Provider):
    """Every action that makes sense without a key, with its key beside it."""

    async def discover(self) -> Hits:
        for action in self._actions():
            yield DiscoveryHit(
                Content.assemble(action.label, (self._key(action), "$text-muted")),
                partial(self.app.run_action, target(action)),
                help=action.help,
            )

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for action in self._actions():
            score = max(matcher.match(action.label), 0.8 * matcher.match(action.help))
            if score > 0:
                yield Hit(
                    score,
                    Content.assemble(matcher.highlight(action.label), (self._key(action), "$text-muted")),
                    partial(self.app.run_action, target(action)),
                    text=action.label,
                    help=action.help,
                )

    def _actions(self) -> list[Action]:
        on_chat = self.screen.id == "chat"
        return [action for action in ACTIONS if action.palette and (on_chat or action.scope == "app")]

    def _key(self, action: Action) -> str:
        label = keymap_of(self.app).label(action.id)
        return f"  {label}" if label else ""

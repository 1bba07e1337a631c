"""The themes of a running application: one for the first picture, all soon after, the user's as they change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.app import App

from edge0_tui import themes
from edge0_tui.notices import Notice

if TYPE_CHECKING:
    from edge0_tui.themes import Themes

TOPIC = "themes"


class LiveThemes:
    """`wanted` is the theme to show, by name; what is missing or broken is stood in for by the default.

    `keep` shows a theme and writes down that it is wanted.
    """

    def __init__(self, app: App[Any], directory: Path, wanted: str, keep: Callable[[str], None]) -> None:
        self.directory, self.keep = directory, keep
        self.wanted = wanted
        self.revision = 0
        self._app = app
        self._all: Themes | None = None
        self._stamp: tuple[tuple[str, int, int], ...] | None = None
        for name in (wanted, themes.DEFAULT):
            if theme := themes.find(name, directory):
                app.register_theme(theme)
                break

    @property
    def titles(self) -> Mapping[str, str]:
        """Every theme that can be chosen, by name."""
        return self._found().titles

    def show(self, wanted: str) -> None:
        """Use this theme from now on."""
        self.wanted = wanted
        if wanted not in self._app.available_themes:
            self._found()
        available = self._app.available_themes
        self._app.theme = next((name for name in (wanted, themes.DEFAULT) if name in available), self._app.theme)

    def problem(self) -> Notice | None:
        """Everything that is wrong, in one message."""
        errors = list(self._found().errors)
        if self.wanted not in self._app.available_themes:
            errors.append(f"there is no theme {self.wanted!r}")
        hint = f"They are in {self.directory}." if self._found().errors else ""
        return Notice(f"Themes: {' · '.join(errors)}", hint, "warning", TOPIC) if errors else None

    def changed(self) -> bool:
        """Read the user's themes again if their files have changed, and show what came of it; true if they had."""
        before = self._found()
        if themes.stamp(self.directory) == self._stamp:
            return False
        shown = self._app.theme
        self._all = None
        self.revision += 1
        now = self._found()
        for name in before.themes.keys() - now.themes.keys():
            if name != shown:
                self._app.unregister_theme(name)
        if self.wanted in now.themes and self.wanted not in before.themes:
            self.show(self.wanted)
        elif shown in now.themes:
            if now.themes[shown] != before.themes.get(shown):
                self._app.mutate_reactive(App.theme)
        elif shown in before.themes:
            self._app.theme = themes.DEFAULT
            self._app.unregister_theme(shown)
        return True

    def _found(self) -> Themes:
        if self._all is None:
            self._stamp = themes.stamp(self.directory)
            self._all = themes.load(self.directory)
            for theme in self._all.themes.values():
                self._app.register_theme(theme)
        return self._all

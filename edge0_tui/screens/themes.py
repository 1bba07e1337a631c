"""Choosing the colours, seeing each while going through the list; files that change meanwhile are followed."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widgets import OptionList, Static

from edge0_tui.live_themes import LiveThemes
from edge0_tui.screens.dialog import Dialog
from edge0_tui.themes import ThemeError, copy_shipped
from edge0_tui.widgets.menu_list import MenuList

_SAMPLE = Content("\n").join(
    (
        Content.assemble(
            ("yours ", "$accent bold"), ("theirs ", "$primary bold"), ("link", "underline $text-primary")
        ),
        Content.assemble(("words ", "$foreground"), ("quiet ", "$text-muted"), ("off ", "$text-disabled")),
        Content.assemble(("✓ good ", "$success"), ("! careful ", "$warning"), ("✕ wrong", "$error")),
        Content.assemble(("━━━━━━━━", "$primary"), ("━━━━", "$warning"), ("────────", "$hairline")),
    )
)
_LOOK_SECONDS = 0.5


class ThemesScreen(Dialog[str]):
    """Answers with a theme's name. Escape brings the former colours back."""

    CSS_PATH = ["dialog.tcss", "themes.tcss"]
    TITLE = "Theme"
    KEYS = (("enter", "keep"), ("c", "copy to mine"), ("esc", "back"))
    BINDINGS = [Binding("c", "copy", show=False)]

    def __init__(self, themes: LiveThemes) -> None:
        super().__init__()
        self._themes = themes
        self._revision = themes.revision

    def body(self) -> ComposeResult:
        yield MenuList(id="themes-list")
        yield Static(_SAMPLE, id="themes-sample")
        yield Static("", id="themes-note", markup=False)

    def on_mount(self) -> None:
        self._before = self.app.theme
        self._fill()
        self.query_one(MenuList).focus()
        self.set_interval(_LOOK_SECONDS, self._follow)

    def _fill(self) -> None:
        view = self.query_one(MenuList)
        view.clear_options()
        for name, title in self._themes.titles.items():
            view.add_line(title, id=name, marked=name == self._before)
        view.go_to_first(self.app.theme)
        problem = self._themes.problem()
        note = f"{problem.message} {problem.hint}" if problem else f"Your own are in {self._themes.directory}"
        self._say(note, bool(problem))

    def _follow(self) -> None:
        if self._revision != self._themes.revision:
            self._revision = self._themes.revision
            self._fill()

    def action_copy(self) -> None:
        """Put a copy of the theme on screen among the person's own; the list has it as soon as it is found."""
        try:
            note, failed = f"{copy_shipped(self.app.theme, self._themes.directory)} is yours to change.", False
        except ThemeError as error:
            note, failed = f"{error}.", True
        self._say(note, failed)

    def _say(self, note: str, failed: bool) -> None:
        line = self.query_one("#themes-note", Static)
        line.update(note)
        line.set_class(failed, "-error")

    @on(OptionList.OptionHighlighted)
    def _look(self, event: OptionList.OptionHighlighted) -> None:
        if event.option_id is not None:
            self.app.theme = event.option_id

    @on(OptionList.OptionSelected)
    def _keep(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option_id)

    def action_close(self) -> None:
        self._themes.show(self._before)
        self.dismiss(None)

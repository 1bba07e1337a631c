"""Where to and as what a chat is exported."""

from __future__ import annotations

from pathlib import Path

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.widgets import Input, OptionList, Static

from edge0_tui.exchange.formats import Format
from edge0_tui.screens.dialog import Dialog
from edge0_tui.widgets.menu_list import MenuList

_FORMATS: tuple[tuple[Format, str, str], ...] = (
    ("md", "Markdown", "text to read and edit anywhere"),
    ("html", "HTML", "one page, light or dark, that needs nothing else"),
    ("json", "JSON", "for programs"),
)


class ExportScreen(Dialog[tuple[Format, bool, Path]]):
    """Answers with format, whether only the visible branch is wanted, and the file. All can be imported again."""

    Choice = tuple[Format, bool, Path]
    CSS_PATH = ["dialog.tcss", "export.tcss"]
    TITLE = "Export"
    KEYS = (("enter", "write"), ("↑ ↓", "format"), ("esc", "close"))
    BINDINGS = [
        Binding("down", "move(1)", show=False, priority=True),
        Binding("up", "move(-1)", show=False, priority=True),
    ]

    def __init__(self, stem: str, branches: bool) -> None:
        super().__init__()
        self._stem = stem
        self._choices = [(format, False, name, note) for format, name, note in _FORMATS]
        if branches:
            note = "without other versions"
            self._choices += [(format, True, f"{name}, visible branch", note) for format, name, _ in _FORMATS]

    def body(self) -> ComposeResult:
        yield MenuList(id="export-list", text_width=26)
        yield Static("To this file or folder; a file that is there stays:", id="export-label", markup=False)
        yield Input(str(Path.cwd() / f"{self._stem}.md"), compact=True, id="export-path")

    def on_mount(self) -> None:
        view = self.query_one(MenuList)
        view.can_focus = False
        for number, (_, _, name, note) in enumerate(self._choices):
            view.add_line(name, note, id=str(number))
        view.highlighted = 0
        self.query_one(Input).focus()

    @on(OptionList.OptionHighlighted)
    def _format(self, event: OptionList.OptionHighlighted) -> None:
        """The file's name follows the format."""
        field = self.query_one(Input)
        path = Path(field.value)
        endings = {f".{format}" for format, *_ in _FORMATS}
        if path.suffix in endings:
            field.value = str(path.with_suffix(f".{self._choices[int(event.option_id or 0)][0]}"))

    @on(Input.Submitted)
    @on(OptionList.OptionSelected)
    def _done(self) -> None:
        format, branch, *_ = self._choices[self.query_one(MenuList).highlighted or 0]
        text = self.query_one(Input).value.strip()
        if text:
            self.dismiss((format, branch, Path(text).expanduser()))

    def action_move(self, step: int) -> None:
        view = self.query_one(MenuList)
        view.action_cursor_down() if step > 0 else view.action_cursor_up()

"""What the model is told before the chat begins: chosen from a folder, or written here."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import Input, OptionList, Static, TextArea

from edge0_tui.keymap import keymap_of
from edge0_tui.keys import bindings
from edge0_tui.screens.dialog import Dialog
from edge0_tui.widgets.menu_list import MenuList
from edge0_tui.writing.saved_texts import SavedTextError, SavedTexts

_NONE = "-none-"


class SystemPromptScreen(Dialog[str]):
    """Answers with the system prompt of this chat, empty for none."""

    CSS_PATH = ["dialog.tcss", "writing.tcss"]
    TITLE = "System prompt of this chat"
    KEYS = (("{key:use}", "use"), ("tab", "next"), ("esc", "leave as it was"))
    BINDINGS: ClassVar[list[BindingType]] = bindings("sheet")

    def __init__(self, present: str, saved: SavedTexts) -> None:
        super().__init__()
        self._present, self._saved = present, saved

    def body(self) -> ComposeResult:
        yield MenuList(id="system-list", text_width=18)
        yield TextArea(self._present, id="system-text", soft_wrap=True, tab_behavior="focus", compact=True)
        yield Input(placeholder="A name to save it under, then enter", compact=True, id="system-name")
        yield Static("", id="system-note", markup=False)

    def on_mount(self) -> None:
        self._fill()
        text = self.query_one("#system-text", TextArea)
        text.placeholder = "Write here what the model is told before everything else in this chat"
        text.move_cursor(text.document.end)
        (text if self._present or not self._saved.texts else self.query_one(MenuList)).focus()
        if self._saved.problems:
            self._note(f"Not used: {' · '.join(self._saved.problems)}")

    def _fill(self) -> None:
        view = self.query_one(MenuList)
        view.clear_options()
        view.add_line("none", "the model's own behaviour", id=_NONE, marked=not self._present)
        for text in self._saved.texts.values():
            view.add_line(text.name, text.first_line, id=text.name, marked=text.text == self._present)
        view.go_to_first()

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        """Show it first: it may be changed before it is used."""
        saved = self._saved.get(event.option_id or "")
        area = self.query_one("#system-text", TextArea)
        area.load_text(saved.text if saved else "")
        area.move_cursor(area.document.end)
        area.focus()
        self._note(keymap_of(self.app).say("{key:use} uses it in this chat."))

    @on(Input.Submitted, "#system-name")
    def _save(self, event: Input.Submitted) -> None:
        try:
            path = self._saved.save(event.value.strip().lower(), self.query_one("#system-text", TextArea).text)
        except SavedTextError as error:
            self._note(str(error))
            return
        self._note(f"Saved as {path}.")
        event.input.clear()
        self._fill()

    def _note(self, text: str) -> None:
        self.query_one("#system-note", Static).update(text)

    def action_use(self) -> None:
        self.dismiss(self.query_one("#system-text", TextArea).text.strip("\n"))

"""An `OptionList` whose lines have a mark, a text and a quiet note, with headings in between."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option


class MenuList(OptionList):
    """Texts and notes are shown as they are, never as markup.

    No colours of its own: they would not suit the line under the cursor in every theme.
    """

    DEFAULT_CSS = """
    MenuList {
        text-wrap: nowrap;
        text-overflow: ellipsis;
        scrollbar-size-vertical: 1;
        &:nocolor > .option-list--option-highlighted { text-style: bold underline; }
        &:nocolor:focus > .option-list--option-highlighted { text-style: bold underline; }
    }
    """

    def __init__(self, *, id: str | None = None, text_width: int = 24) -> None:
        super().__init__(id=id, compact=True, markup=False)
        self._text_width = text_width

    def add_heading(self, text: str) -> None:
        if self.option_count:
            self.add_option(Option(Content(""), disabled=True))
        self.add_option(Option(Content.styled(text, "$text-muted"), disabled=True))

    def add_line(self, text: str, note: str = "", *, id: str, marked: bool = False, enabled: bool = True) -> None:
        mark = "● " if marked else "  "
        style = "" if enabled else "$text-disabled"
        name = Content(text)
        if note:
            name = name.truncate(self._text_width, ellipsis=True).pad_right(
                max(0, self._text_width - name.cell_length)
            )
        prompt = Content.assemble(mark, name.stylize_before(style), (f"  {note}" if note else "", "dim"))
        self.add_option(Option(prompt, id=id, disabled=not enabled))

    def go_to_first(self, marked: str | None = None) -> None:
        """Put the cursor on the line with this id, else on the first that can be chosen."""
        ids = [option.id for option in self.options if not option.disabled]
        wanted = marked if marked in ids else (ids[0] if ids else None)
        if wanted is not None:
            self.highlighted = self.get_option_index(wanted)

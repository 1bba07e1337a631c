"""Earlier and saved prompts, narrowed by typing."""

from __future__ import annotations

from collections.abc import Sequence

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.widgets import Input, OptionList, Static

from edge0_tui.safe_text import harmless
from edge0_tui.screens.dialog import Dialog
from edge0_tui.widgets.menu_list import MenuList
from edge0_tui.writing.saved_texts import SavedTexts

_MOST = 200
_PREVIEW = 5


class FindTextScreen(Dialog[str]):
    """Answers with the chosen text. `texts` are pairs of what a line says and the whole text, best first."""

    CSS_PATH = ["dialog.tcss", "writing.tcss"]
    KEYS = (("enter", "put in"), ("↑ ↓", "choose"), ("esc", "close"))
    EMPTY = ""
    BINDINGS = [
        Binding("down", "move(1)", show=False, priority=True),
        Binding("up", "move(-1)", show=False, priority=True),
    ]

    def __init__(self, texts: Sequence[tuple[str, str]], wanted: str = "") -> None:
        super().__init__()
        self._texts, self._wanted = texts, wanted
        self._shown: list[str] = []

    def body(self) -> ComposeResult:
        yield Input(self._wanted, placeholder="Words of it", compact=True, id="find-filter")
        yield MenuList(id="find-list")
        yield Static("", id="find-preview", markup=False)

    def on_mount(self) -> None:
        self.query_one(MenuList).can_focus = False
        self.query_one(Input).focus()
        self._fill(self._wanted)

    def _fill(self, wanted: str) -> None:
        words = wanted.lower().split()
        found = [pair for pair in self._texts if all(word in f"{pair[0]}\n{pair[1]}".lower() for word in words)]
        view = self.query_one(MenuList)
        view.clear_options()
        self._shown = [text for _, text in found[:_MOST]]
        for number, (line, _) in enumerate(found[:_MOST]):
            view.add_line(" ".join(harmless(line).split())[:400], id=str(number))
        view.go_to_first()
        if not found:
            none = "None has these words." if words else self.EMPTY
            self.query_one("#find-preview", Static).update(none)

    @on(OptionList.OptionHighlighted)
    def _preview(self, event: OptionList.OptionHighlighted) -> None:
        if event.option_id is None:
            return
        lines = harmless(self._shown[int(event.option_id)]).split("\n")
        rest = f"\n… {len(lines) - _PREVIEW:,} more lines" if len(lines) > _PREVIEW + 1 else ""
        shown = lines[:_PREVIEW] if rest else lines
        self.query_one("#find-preview", Static).update("\n".join(line[:300] for line in shown) + rest)

    @on(Input.Changed)
    def _narrow(self, event: Input.Changed) -> None:
        self._fill(event.value)

    @on(Input.Submitted)
    def _take(self) -> None:
        self.query_one(MenuList).action_select()

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        if event.option_id is not None:
            self.dismiss(self._shown[int(event.option_id)])

    def action_move(self, step: int) -> None:
        view = self.query_one(MenuList)
        view.action_cursor_down() if step > 0 else view.action_cursor_up()


class SearchPromptsScreen(FindTextScreen):
    """What was sent before, newest first."""

    TITLE = "Earlier prompts"
    EMPTY = "Nothing has been sent yet."

    def __init__(self, entries: Sequence[str], wanted: str = "") -> None:
        super().__init__([(entry, entry) for entry in dict.fromkeys(reversed(entries))], wanted)


class SavedPromptsScreen(FindTextScreen):
    """What is kept under a name, and which files of the folder cannot be used."""

    TITLE = "Saved prompts"

    def __init__(self, saved: SavedTexts) -> None:
        self.EMPTY = f"None yet: /save NAME TEXT keeps one, as would a .md or .txt file in {saved.folder}"
        self._problems = saved.problems
        super().__init__([(f"/{text.name}  {text.first_line}", text.text) for text in saved.texts.values()])

    def body(self) -> ComposeResult:
        yield from super().body()
        if self._problems:
            yield Static(f"Not used: {' · '.join(self._problems)}", id="find-problems", markup=False)

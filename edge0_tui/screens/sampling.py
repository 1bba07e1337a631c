"""Sampling of one chat: a preset, and single values that differ from it."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.widgets import Input, OptionList, Static

from edge0_tui.chat.chat_sampling import BOUNDS, PRESETS, ChatSampling
from edge0_tui.keys import bindings
from edge0_tui.screens.dialog import Dialog
from edge0_tui.widgets.menu_list import MenuList
from engine.protocol import Sampling

_SETTINGS = "-settings-"
_ROWS = {
    "temperature": ("Temperature", "0 always takes the likeliest token"),
    "top_k": ("Top k", "0: no limit"),
    "top_p": ("Top p", "share of the probability to choose from"),
    "min_p": ("Min p", "least share of the likeliest token's"),
    "repetition_penalty": ("Repetition penalty", "above 1 avoids repeating words"),
    "seed": ("Seed", "the same question has the same answer"),
    "max_tokens": ("Longest answer", "tokens, thinking included"),
}


class SamplingScreen(Dialog[ChatSampling]):
    """Answers with the sampling of this chat. `resolved` is what a reply would use now, None without a model."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (90, "-wide")]
    CSS_PATH = ["dialog.tcss", "writing.tcss"]
    TITLE = "Sampling of this chat"
    KEYS = (("{key:use}", "use"), ("enter", "choose"), ("tab", "next"), ("esc", "leave as it was"))
    BINDINGS: ClassVar[list[BindingType]] = bindings("sheet")

    def __init__(self, present: ChatSampling, resolved: Sampling | None) -> None:
        super().__init__()
        self._chosen, self._resolved = present, resolved

    def body(self) -> ComposeResult:
        yield MenuList(id="sampling-presets", text_width=12)
        for name, (title, note) in _ROWS.items():
            with Horizontal(classes="sampling-row"):
                yield Static(title, classes="sampling-title", markup=False)
                yield Input(id=f"sampling-{name}", name=name, compact=True, classes="sampling-value")
                yield Static(note, classes="sampling-note", markup=False)
        yield Static("", id="sampling-error", markup=False)

    def on_mount(self) -> None:
        self._list()
        for name in BOUNDS:
            value = getattr(self._chosen, name)
            written = f"{value:g}" if isinstance(value, float) else str(value)
            self._input(name).value = "" if value is None else written
        self._placeholders()
        self.query_one(MenuList).focus()

    def _list(self) -> None:
        view = self.query_one(MenuList)
        view.clear_options()
        view.add_line("settings", "as the settings say", id=_SETTINGS, marked=not self._chosen.preset)
        for name, (note, _) in PRESETS.items():
            view.add_line(name, note, id=name, marked=name == self._chosen.preset)
        view.go_to_first(self._chosen.preset or _SETTINGS)

    def _placeholders(self) -> None:
        """What holds where nothing is written."""
        preset = PRESETS.get(self._chosen.preset, ("", {}))[1]
        for name in BOUNDS:
            value = preset.get(name)
            if value is None and not self._chosen.preset and getattr(self._chosen, name) is None:
                value = getattr(self._resolved, name, None)
            self._input(name).placeholder = (
                f"{value:g}" if value is not None else "random" if name == "seed" else "not changed"
            )

    @on(OptionList.OptionSelected)
    def _preset(self, event: OptionList.OptionSelected) -> None:
        """A preset is a whole: its values come back where others had been written."""
        preset = "" if event.option_id == _SETTINGS else event.option_id or ""
        self._chosen = ChatSampling(preset, seed=self._chosen.seed, max_tokens=self._chosen.max_tokens)
        for name in BOUNDS:
            if name not in ("seed", "max_tokens"):
                self._input(name).value = ""
        self._list()
        self._placeholders()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self._read()

    def _read(self) -> bool:
        """Take over what is written; false, after saying why, if it cannot be used."""
        chosen, error = ChatSampling(self._chosen.preset), ""
        for name in BOUNDS:
            try:
                chosen = chosen.having(name, self._input(name).value)
            except ValueError as problem:
                error = error or str(problem)
        self.query_one("#sampling-error", Static).update(error)
        if not error:
            self._chosen = chosen
        return not error

    def _input(self, name: str) -> Input:
        return self.query_one(f"#sampling-{name}", Input)

    @on(Input.Submitted)
    def action_use(self) -> None:
        if self._read():
            self.dismiss(self._chosen)

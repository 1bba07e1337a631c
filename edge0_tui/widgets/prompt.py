"""The prompt: grows with what is written, sends on enter, and brings back earlier prompts."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events
from textual.message import Message
from textual.widgets import TextArea

from edge0_tui.keys import BY_ID


class Prompt(TextArea):
    """A `TextArea` whose enter sends. With `enter_sends` off, the keys that send and those for a new line change
    places."""

    @dataclass
    class Sent(Message):
        """The person wants this sent. The prompt is already empty; `Prompt.restore` brings the text back."""

        text: str

    class EnteredEmpty(Message):
        """Enter in an empty prompt."""

    def __init__(self, *, id: str | None = None, enter_sends: bool = True) -> None:
        super().__init__(
            id=id,
            soft_wrap=True,
            tab_behavior="focus",
            show_line_numbers=False,
            highlight_cursor_line=False,
            compact=True,
        )
        self.enter_sends = enter_sends
        self.use_keys(BY_ID["send"].keys, BY_ID["newline"].keys)
        self._history: list[str] = []
        self._at = 0

    def use_keys(self, send: tuple[str, ...], new_line: tuple[str, ...]) -> None:
        """The keys of both actions while `enter_sends` is on."""
        self._send_keys, self._new_line_keys = frozenset(send), frozenset(new_line)

    def remember(self, texts: list[str]) -> None:
        """Replace the history, oldest first."""
        self._history = list(texts)
        self._at = len(self._history)

    def restore(self, text: str) -> None:
        """Put a text back to be edited, in front of what is there."""
        rest = self.text
        self.load_text(f"{text}\n{rest}" if rest.strip() else text)
        self.move_cursor(self.document.end)

    async def _on_key(self, event: events.Key) -> None:
        sends = event.key in self._send_keys
        if sends or event.key in self._new_line_keys:
            event.stop()
            event.prevent_default()
            if sends == self.enter_sends:
                self.submit()
            else:
                self._replace_via_keyboard("\n", *self.selection)
            return
        if event.key in ("up", "down") and self._browse(-1 if event.key == "up" else 1):
            event.stop()
            event.prevent_default()
            return
        await super()._on_key(event)

    def submit(self) -> None:
        """What enter does."""
        text = self.text.strip("\n")
        if not text.strip():
            self.post_message(self.EnteredEmpty())
            return
        if not self._history or self._history[-1] != text:
            self._history.append(text)
        self._at = len(self._history)
        self.load_text("")
        self.post_message(self.Sent(text))

    def _browse(self, step: int) -> bool:
        """Move through the history if the prompt is empty or shows an entry of it unchanged."""
        here = self._history[self._at] if self._at < len(self._history) else ""
        if self.text != here or (self.text and not self._at_edge(step)):
            return False
        to = self._at + step
        if not 0 <= to <= len(self._history):
            return False
        self._at = to
        self.load_text(self._history[to] if to < len(self._history) else "")
        self.move_cursor(self.document.end)
        return True

    def _at_edge(self, step: int) -> bool:
        return self.cursor_at_first_line if step < 0 else self.cursor_at_last_line

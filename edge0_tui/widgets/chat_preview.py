"""Beside the list of chats: what the one under the cursor is, and how it begins."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from edge0_tui import units
from edge0_tui.chat.preview import Said
from edge0_tui.chat.query import one_line, spans
from edge0_tui.chat.summary import Summary

_TURNS, _LINES = 12, 14


class ChatPreview(VerticalScroll):
    """Empty until something is shown. The words of a search are lit in it."""

    can_focus = False

    def compose(self) -> ComposeResult:
        yield Static("", id="preview-text", markup=False)

    def show(self, chat: Summary | None, said: Sequence[Said] = (), words: Sequence[str] = ()) -> None:
        """Without `said` only what the list knows."""
        self.query_one(Static).update(_draw(chat, said, words) if chat is not None else "")
        self.scroll_home(animate=False)

    def shows(self) -> str:
        """The text, for whoever cannot see it."""
        return str(self.query_one(Static).content)


def _draw(chat: Summary, said: Sequence[Said], words: Sequence[str]) -> Content:
    facts = [chat.updated.astimezone().strftime("%Y-%m-%d %H:%M"), one_line(chat.model)]
    facts += [f"{units.count(chat.turns)} turns", "pinned" * chat.pinned, "archived" * chat.archived]
    parts = [_lit(one_line(chat.title) or "(no title)", words).stylize("bold")]
    parts.append(Content.styled(" · ".join(fact for fact in facts if fact), "$text-muted"))
    if chat.problem:
        parts.append(Content.styled(one_line(chat.problem), "$text-warning"))
    for turn in said[:_TURNS]:
        lines = [one_line(line.expandtabs(4)) for line in turn.text.split("\n")]
        shown = "\n".join(lines[:_LINES]) + ("\n…" if len(lines) > _LINES else "")
        parts += [Content(""), Content.styled(one_line(turn.speaker), "$text-accent"), _lit(shown, words)]
    return Content("\n").join(parts)


def _lit(text: str, words: Sequence[str]) -> Content:
    content = Content(text)
    for start, end in spans(text, words):
        content = content.stylize("bold underline", start, end)
    return content

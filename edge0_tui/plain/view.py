"""The conversation as lines: implements `controller.ChatView`."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from edge0_tui import units
from edge0_tui.engine_words import activity
from edge0_tui.mentions import put_in
from edge0_tui.plain.commands import MENTIONS
from edge0_tui.plain.printer import Printer

if TYPE_CHECKING:
    from edge0_tui.chat.conversation import Conversation
    from edge0_tui.chat.turn import Attribution, Turn
    from edge0_tui.controller import Controller
    from edge0_tui.notices import Notice
    from engine.protocol import Piece

_AGAIN_SECONDS = 10.0
_LAST_TURNS = 2
_LONG_PROMPT = 256
"""Tokens; shorter ones are read before anybody could be told."""


class PlainView:
    """Says everything once. What goes on for long is said again every ten seconds."""

    def __init__(self, printer: Printer, controller: Controller, *, thinking: bool) -> None:
        self._printer, self._controller, self._thinking = printer, controller, thinking
        self._draft = ""
        self._said = ""
        self._said_at = 0.0
        self._channel = ""

    def prompt(self) -> None:
        """Ask for a line, if an answer could begin now."""
        if self._controller.reply is None and self._controller.link.phase == "ready":
            self._printer.prompt()

    def changed(self) -> None:
        doing, now = self._doing(), time.monotonic()
        kind = doing.partition(":")[0]
        if doing and (kind != self._said or now - self._said_at >= _AGAIN_SECONDS):
            self._printer.line(f"[{doing}]")
            self._said_at = now
        self._said = kind

    def _doing(self) -> str:
        prefill = self._controller.figures.prefill
        if self._controller.reply is not None and prefill is not None and prefill[0] < prefill[1] >= _LONG_PROMPT:
            return f"reading the prompt: {prefill[0]:,} of {prefill[1]:,} tokens"
        link = self._controller.link
        return put_in(activity(link), MENTIONS.get) if link.phase != "ready" else ""

    async def show_conversation(self, conversation: Conversation) -> None:
        turns = conversation.path
        self._draft = conversation.draft
        if not turns:
            self._printer.line("A new chat.")
            return
        self._printer.line(f"“{conversation.title}”, {len(turns)} messages. It ends with:")
        for turn in turns[-_LAST_TURNS:]:
            name = turn.attribution.model if turn.attribution else "You"
            self._printer.line(f"{name}: {turn.text}")
        if self._draft:
            self._printer.line(f"Not sent yet: {self._draft}")
            self._printer.line("/draft sends that.")

    def draft(self) -> str:
        return self._draft

    def set_prompt(self, text: str) -> None:
        self._draft = text

    def show_branch(self, conversation: Conversation, beside: tuple[str, ...] = (), without: str = "") -> None:
        """Lines that were printed stay; what is looked at now is said by its last question."""
        asked = [turn.text for turn in conversation.path if turn.role == "user"]
        if asked:
            self._printer.line(f"You: {asked[-1]}")

    def ask_for_room(self, answer: Turn, refusal: str) -> None:
        self._printer.line(f"Error: {refusal}")
        self._printer.line("Nothing was dropped. /new begins another chat; --context N keeps room for more tokens.")

    def show_user(self, turn: Turn) -> None:
        self._draft = ""

    def show_reply(self, turn: Turn, model: str) -> None:
        self._channel = ""
        self._printer.line(f"{model}:")

    def show_pieces(self, pieces: list[Piece], thinking_tokens: int) -> None:
        for piece in pieces:
            if piece.channel != self._channel:
                self._channel = piece.channel
                self._printer.fresh()
                if piece.channel == "thinking":
                    self._printer.line("[thinking]")
                elif thinking_tokens:
                    self._printer.line(f"[{thinking_tokens:,} tokens of thinking; the answer:]")
            if piece.channel == "answer" or self._thinking:
                self._printer.piece(piece.text)

    def show_finish(self, attribution: Attribution) -> None:
        facts = [f"{attribution.completion_tokens:,} tokens", units.tokens_per_second(attribution.tok_s)]
        facts.append(f"first token after {units.seconds(attribution.ttft_s)}")
        if attribution.finish_reason != "stop":
            reasons = {"cancelled": "stopped", "length": "cut at the longest answer", "error": "ended by an error"}
            facts.insert(0, reasons.get(attribution.finish_reason, attribution.finish_reason))
        self._printer.line(f"[{' · '.join(facts)}]")

    def show_notice(self, notice: Notice) -> None:
        words = {"info": "", "warning": "Warning: ", "error": "Error: "}
        text = put_in(f"{words[notice.tone]}{notice.message} {notice.hint}".strip(), MENTIONS.get)
        self._printer.line(" ".join(text.split()))

    def close_notice(self, topic: str) -> None:
        """What has been said cannot be taken back."""

    def give_back(self, text: str) -> None:
        self._draft = text
        self._printer.line(f"Not sent: {text}")
        self._printer.line("/draft sends it.")

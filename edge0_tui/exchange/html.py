"""A page that needs nothing but itself: readable, light or dark as the reader's system is, with the chat inside.

Everything in it comes from a model or a person and is escaped; raw HTML in Markdown stays text, and the page
forbids itself scripts, frames and whatever would have to be fetched.
"""

from __future__ import annotations

import re
from html import escape
from string import Template

from edge0_tui.chat.conversation import Conversation
from edge0_tui.chat.errors import FormatError
from edge0_tui.chat.front_matter import encodable
from edge0_tui.chat.transcript_file import figures_line, speaker
from edge0_tui.chat.turn import Turn
from edge0_tui.exchange.branches import Branch, branches
from edge0_tui.exchange.package import pack, unpack
from edge0_tui.exchange.page import PAGE

_MARK = '<script type="application/json" id="edge0-chat">'
_INSIDE = re.compile(re.escape(_MARK) + r"(.*?)</script>", re.DOTALL)


def write(conversation: Conversation) -> bytes:
    others = branches(conversation)
    anchors = {id: f"turn-{number}" for number, id in enumerate(conversation.turns, start=1)}
    parts = [_turn(conversation, turn, anchors) for turn in conversation.path]
    if others:
        parts += ["<h2>Other versions</h2>", *(_branch(conversation, branch, anchors) for branch in others)]
    told = f"<pre dir='auto'>{escape(conversation.system)}</pre>" if conversation.system else ""
    system = f"<aside><b>System</b>{told}</aside>" if told else ""
    page = Template(PAGE).substitute(
        title=escape(conversation.title or "Untitled"),
        date=conversation.created.astimezone().strftime("%Y-%m-%d"),
        body="\n".join([system, *parts]),
        # Without `<` nothing in it can end the element.
        chat=_MARK + pack(conversation).replace("<", r"\u003c") + "</script>",
    )
    return encodable(page).encode()


def read(data: bytes) -> Conversation:
    """The chat inside a page of ours. Raises `FormatError`."""
    match = _INSIDE.search(data.decode("utf-8", "replace"))
    if match is None:
        raise FormatError("a page without a chat of edge0-tui in it")
    return unpack(match[1])


def _turn(conversation: Conversation, turn: Turn, anchors: dict[str, str]) -> str:
    from edge0_tui.exchange.html_text import to_html

    figures = figures_line(conversation, turn)
    lines = [
        f'<article class="{turn.role}" id="{anchors[turn.id]}">',
        f"<h3>{escape(speaker(turn))}</h3>",
        f'<p class="figures">{escape(figures)}</p>' if figures else "",
        f"<details><summary>Thinking</summary>{to_html(turn.thinking)}</details>" if turn.thinking else "",
        to_html(turn.text)
        if turn.role == "assistant"
        else f'<div class="said" dir="auto">{escape(turn.text)}</div>',
        "</article>",
    ]
    return "\n".join(line for line in lines if line)


def _branch(conversation: Conversation, branch: Branch, anchors: dict[str, str]) -> str:
    after = f'after <a href="#{anchors[branch.after.id]}">this turn</a>' if branch.after else "of the beginning"
    turns = "\n".join(_turn(conversation, turn, anchors) for turn in branch.turns)
    return f"<details><summary>Another version</summary><p>{after.capitalize()}</p>\n{turns}</details>"

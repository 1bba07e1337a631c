"""Markdown to give away: all that is shown as text, other versions after the visible branch, the whole at the end.

The comment that ends the file carries the digest of the text above it and the chat as JSON. While the digest
fits, the chat is restored from the JSON, exactly; once somebody has edited the text, the text is what counts.
"""

from __future__ import annotations

import hashlib
import re

from edge0_tui.chat import transcript_file
from edge0_tui.chat.conversation import Conversation, first_line
from edge0_tui.chat.errors import FormatError
from edge0_tui.chat.front_matter import encodable
from edge0_tui.exchange.branches import branches
from edge0_tui.exchange.package import pack, unpack

_WHOLE = re.compile(rb"<!-- chat ([0-9a-f]{64}) (\{.*\}) -->\n?\Z")


def write(conversation: Conversation) -> bytes:
    text = transcript_file.beginning(conversation)
    text += "".join(transcript_file.turn_text(conversation, turn, parent=True) for turn in conversation.path)
    for branch in branches(conversation):
        after = f"after “{first_line(branch.after.text)}”" if branch.after else "of the beginning"
        for number, turn in enumerate(branch.turns):
            heading = "" if number else f"Another version {after}"
            text += transcript_file.turn_text(conversation, turn, heading, parent=True)
    shown = encodable(text).encode()
    # Two hyphens, and a greater-than sign, would end the comment; both are only found inside JSON's strings.
    inside = pack(conversation).replace("--", r"-\u002d").replace(">", r"\u003e")
    return shown + f"<!-- chat {hashlib.sha256(shown).hexdigest()} {inside} -->\n".encode()


def read(data: bytes) -> tuple[Conversation, str]:
    """The chat, and what is to be said about it. Raises `FormatError`."""
    unix = data.replace(b"\r\n", b"\n") if b"\r\n" in data else data
    for version in (data, unix):
        match = _WHOLE.search(version)
        if match and hashlib.sha256(version[: match.start()]).hexdigest().encode() == match[1]:
            try:
                return unpack(match[2].decode()), ""
            except UnicodeDecodeError as error:
                raise FormatError(f"the chat at its end is damaged: {error}") from error
    note = "its text was edited: only what is shown in it comes back" if _WHOLE.search(unix) else ""
    return transcript_file.read(data if b"\n\n<!-- turn " in data else unix), note

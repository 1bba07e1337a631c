"""File names of transcripts: a date to sort by, a few words to recognise, and a piece of the id."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from edge0_tui.chat.conversation import Conversation

_LONGEST = 40
_ID = 6


def stem(conversation: Conversation, taken: Callable[[str], bool]) -> str:
    """`2026-11-30-what-is-the-allocator-peak-5f0c9a`, with a number when even that is taken."""
    date = conversation.created.astimezone().strftime("%Y-%m-%d")
    base = "-".join(part for part in (date, slug(conversation.title), ident(conversation.id)) if part)
    name, number = base, 2
    while taken(name):
        name, number = f"{base}-{number}", number + 1
    return name


def ident(id: str) -> str:
    """The piece of the id that stands in the name."""
    return re.sub(r"[^A-Za-z0-9]", "", id)[:_ID]


def slug(title: str) -> str:
    """Lower-case ASCII words. Other scripts give an empty slug rather than names some file systems refuse."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    words = re.findall(r"[a-z0-9]+", plain)
    result = ""
    for word in words:
        if len(result) + len(word) + 1 > _LONGEST:
            break
        result = f"{result}-{word}" if result else word
    return result or "".join(words)[:_LONGEST]

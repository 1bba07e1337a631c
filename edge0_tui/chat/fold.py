"""Text as the search compares it: without case, accents and compatibility forms. Line feeds stay where they are."""

from __future__ import annotations

import re
import unicodedata

# Latin, Greek and Cyrillic accents, Hebrew points, Arabic vowel signs. Not all marks: Indic vowels are letters.
_MARKS = re.compile(
    "[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+"
)


def fold(text: str) -> str:
    """`Ünïcode STRASSE ﬁn` and `unicode straße fin` become the same."""
    if text.isascii():
        return text.lower()
    return _MARKS.sub("", unicodedata.normalize("NFKD", text).casefold())


def fold_with_places(text: str) -> tuple[str, list[int]]:
    """The folded text, and for each of its characters (and for its end) where in `text` it comes from."""
    if text.isascii():
        return text.lower(), list(range(len(text) + 1))
    pieces: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        piece = character.lower() if character < "\x80" else fold(character)
        pieces.append(piece)
        places += [place] * len(piece)
    return "".join(pieces), [*places, len(text)]

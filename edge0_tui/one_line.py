"""Any text as one line that cannot drive a terminal."""

from __future__ import annotations


def one_line(text: str, most: int) -> str:
    """`text` with its white space as single blanks, without control and formatting characters, cut to `most`."""
    text = "".join(character for character in " ".join(text[: 4 * most].split()) if character.isprintable())
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"

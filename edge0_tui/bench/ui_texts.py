"""What is streamed and shown in the measurements of the screen: lists, tables and code."""

from __future__ import annotations

ITEM = "- **item {n}** with `code`, some more words and a [link](https://example.org/{n})\n"
ROW = "| row {n} | a few words in a cell | {n},000 |\n"
CODE = "    if value > {n}:  # a comment\n        return compute(value, {n})\n"


def rich(items: int, rows: int, lines: int) -> str:
    """One answer with a list, a table and a code block of these lengths."""
    return (
        "## Lists\n\n"
        + "".join(ITEM.format(n=n) for n in range(items))
        + "\n## A table\n\n| name | text | number |\n|---|---|--:|\n"
        + "".join(ROW.format(n=n) for n in range(rows))
        + "\n## Code\n\n```python\ndef f(value):\n"
        + "".join(CODE.format(n=n) for n in range(lines))
        + "```\n\nDone.\n"
    )


STREAMED = rich(24, 20, 16)
MESSAGE = rich(4, 3, 2)
TOKENS_A_SECOND = 40


def words(text: str) -> list[str]:
    """Pieces of about a token, as the scripted engine sends them."""
    import re

    return re.findall(r"\s*\S+|\s+$", text)

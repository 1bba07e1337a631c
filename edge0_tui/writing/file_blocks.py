"""How an attached file stands in a message: one line that names it, then its text in a fence of its own.

    Attached file src/slots.py (120 lines, 4,210 bytes):

    ```python
    …
    ```

The fence is longer than any row of backticks in the file, so the end is found again whatever the file holds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePath

_HEAD = re.compile(
    r"^Attached file (?P<name>[^\n]+) \((?P<lines>[\d,]+) lines?, (?P<size>[\d,]+) bytes\):\n\n"
    r"(?P<fence>`{3,})(?P<language>[\w+#.-]*)\n",
    re.MULTILINE,
)
_LANGUAGES = {
    ".py": "python", ".js": "javascript", ".ts": "typescript", ".tsx": "tsx", ".rs": "rust", ".go": "go",
    ".c": "c", ".h": "c", ".cpp": "cpp", ".hpp": "cpp", ".java": "java", ".rb": "ruby", ".sh": "bash",
    ".md": "markdown", ".json": "json", ".toml": "toml", ".yaml": "yaml", ".yml": "yaml", ".html": "html",
    ".css": "css", ".tcss": "css", ".sql": "sql", ".xml": "xml", ".swift": "swift", ".kt": "kotlin",
}  # fmt: skip


@dataclass(frozen=True)
class FileBlock:
    """One attached file in a message. `source` is the whole block as it stands there; `size` in bytes, on disk."""

    name: str
    text: str
    size: int
    language: str
    source: str

    @property
    def lines(self) -> int:
        return line_count(self.text)


def line_count(text: str) -> int:
    return len(text.removesuffix("\n").split("\n")) if text else 0


def block(name: str, text: str, size: int) -> str:
    """The text of a file as it is put into a message."""
    body = text.removesuffix("\n")
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", body)), default=0))
    lines = line_count(text)
    language = _LANGUAGES.get(PurePath(name).suffix.lower(), "")
    head = f"Attached file {name} ({lines:,} {'line' if lines == 1 else 'lines'}, {size:,} bytes):"
    return f"{head}\n\n{fence}{language}\n{body}\n{fence}"


def split(message: str) -> list[str | FileBlock]:
    """A message as its texts and files in order; joining texts and sources gives it back."""
    parts: list[str | FileBlock] = []
    at = 0
    while (head := _HEAD.search(message, at)) is not None:
        end = re.compile(rf"^{head['fence']}$", re.MULTILINE).search(message, head.end())
        if end is None:
            break
        if head.start() > at:
            parts.append(message[at : head.start()])
        text = message[head.end() : max(head.end(), end.start() - 1)]
        size = int(head["size"].replace(",", "") or 0)
        source = message[head.start() : end.end()]
        parts.append(FileBlock(head["name"], text, size, head["language"], source))
        at = end.end()
    if at < len(message):
        parts.append(message[at:])
    return parts

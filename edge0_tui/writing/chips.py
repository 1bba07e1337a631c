"""Large pasted texts and files, each shown as a few words in the prompt and sent whole."""

from __future__ import annotations

import re

from edge0_tui.writing.file_blocks import FileBlock, split

LINES, CHARACTERS = 12, 1500
"""A pasted text with more than this is folded."""


class Chips:
    """Which words stand for which text. What was folded once can be folded and undone again later."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._labels: dict[str, str] = {}
        self._pattern: re.Pattern[str] | None = None

    def fold_pasted(self, text: str) -> str:
        """The words that stand for this text, or the text itself if it is short enough to be looked at."""
        lines = text.strip("\n").count("\n") + 1
        if lines > LINES:
            return self._add(f"pasted {lines:,} lines", text)
        if len(text) > CHARACTERS:
            return self._add(f"pasted {len(text):,} characters", text)
        return text

    def fold(self, text: str) -> str:
        """A text that comes back into the prompt, with attached files and what was folded before as their words."""
        parts = [self._fold_file(part) if isinstance(part, FileBlock) else part for part in split(text)]
        folded = "".join(parts)
        for content in sorted(self._labels, key=len, reverse=True):
            folded = folded.replace(content, self._labels[content])
        return folded

    def unfold(self, text: str) -> str:
        """The text that is meant: every chip replaced by what it stands for."""
        return self._pattern.sub(lambda match: self._texts[match[0]], text) if self._pattern else text

    def spans(self, line: str) -> list[tuple[int, int]]:
        """Where chips are in a line."""
        return [match.span() for match in self._pattern.finditer(line)] if self._pattern else []

    def parts(self, text: str) -> list[tuple[str, str]]:
        """The chips in a text: words without their brackets, and what they stand for."""
        return [(found[1:-1], self._texts[found]) for found in self._pattern.findall(text)] if self._pattern else []

    def _fold_file(self, block: FileBlock) -> str:
        lines = f"{block.lines:,} {'line' if block.lines == 1 else 'lines'}"
        return self._add(f"file {block.name}, {lines}", block.source)

    def _add(self, words: str, text: str) -> str:
        if text in self._labels:
            return self._labels[text]
        label, number = f"[{words}]", 1
        while label in self._texts:
            number += 1
            label = f"[{words} #{number}]"
        self._texts[label], self._labels[text] = text, label
        longest_first = sorted(self._texts, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first)))
        return label

"""What a person searches for: words that must all be there, `"several words"` as one; and where they were found."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from edge0_tui.chat.fold import fold, fold_with_places

_PARTS = re.compile(r'"([^"]*)"?|([^\s"]+)')
_HARMFUL = (*range(32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_CONTROLS = dict.fromkeys(_HARMFUL, " ")
_LONGEST_LINE = 4000
_LEAD = 20
Span = tuple[int, int]


def one_line(text: str) -> str:
    """The text with as many characters, none of which could steer a terminal or break the line."""
    return text.translate(_CONTROLS)


@dataclass(frozen=True)
class Query:
    """Folded words, none of them empty. Without words everything fits."""

    words: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Query:
        parts = (fold(phrase or word).strip() for phrase, word in _PARTS.findall(text))
        return cls(tuple(dict.fromkeys(part for part in parts if part)))

    def narrows(self, other: Query) -> bool:
        """Whether what fits this certainly fits the other: it was typed on."""
        return all(any(word in mine for mine in self.words) for word in other.words)


@dataclass(frozen=True)
class Snippet:
    """One line of text on which words were found, and where in it they are."""

    text: str
    spans: tuple[Span, ...] = ()


def spans(text: str, words: Sequence[str]) -> tuple[Span, ...]:
    """Where the words are in a text, in order and without overlaps."""
    folded, places = fold_with_places(text)
    found: list[Span] = []
    for word in words:
        start = folded.find(word)
        while start >= 0:
            end = start + len(word)
            # The end lies behind the last character touched, with the accents that follow it.
            stop = places[end] if places[end] > places[end - 1] else places[end] + 1
            found.append((places[start], min(stop, len(text))))
            start = folded.find(word, end)
    return _joined(found)


def snippet(text: str, folded: str, words: Sequence[str], width: int, sought: Sequence[str] = ()) -> Snippet:
    """The line with most of the words, cut to `width` characters around them. `folded` is `fold(text)`.

    `sought` are those that count most, as the others have been seen elsewhere.
    """
    lines = folded.split("\n")
    counts = [sum(word in line for word in words) + sum(word in line for word in sought) for line in lines]
    best = counts.index(max(counts))
    if not counts[best]:
        return Snippet("")
    line = one_line(text.split("\n")[best])
    if len(line) > _LONGEST_LINE:
        line = _around(lines[best], line, words)
    found = spans(line, words)
    start = found[0][0] - _LEAD if found and found[0][0] > 2 * _LEAD else 0
    start += len(line[start:]) - len(line[start:].lstrip())
    before = "…" if start else ""
    shown = line[start : start + width - 1].rstrip()
    after = "…" if start + len(shown) < len(line.rstrip()) else ""
    shift, end = len(before) - start, start + len(shown)
    inside = tuple((a + shift, min(b, end) + shift) for a, b in found if start <= a < end)
    return Snippet(f"{before}{shown}{after}", inside)


def _around(folded: str, line: str, words: Sequence[str]) -> str:
    """A piece of a line without end, with its first word in it."""
    first = min(place for word in words if (place := folded.find(word)) >= 0)
    start = passed = 0
    while start < len(line) and passed + (length := len(fold(line[start : start + _LONGEST_LINE]))) <= first:
        start, passed = start + _LONGEST_LINE, passed + length
    return line[max(0, start - _LEAD) : start + 2 * _LONGEST_LINE]


def _joined(found: list[Span]) -> tuple[Span, ...]:
    result: list[Span] = []
    for start, end in sorted(found):
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return tuple(result)

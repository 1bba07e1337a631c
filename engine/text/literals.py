"""Control tokens that a message merely spells must stay text: a pasted <|im_end|> does not end the turn."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from engine.errors import UsageError
from engine.protocol import Message
from engine.text.tokenizer import Tokenizer

# Unicode's noncharacters: never exchanged as text, no whitespace, unchanged by normalisation.
_MARKS = "".join(chr(code) for code in range(0xFDD0, 0xFDF0))


class LiteralGuard:
    """Marks spelled control tokens before rendering, and encodes rendered text so that they stay text."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        control = {
            text
            for i, text in tokenizer.added.items()
            if len(text) > 1 and (i in tokenizer.special_ids or (text[0] == "<" and text[-1] == ">"))
        }
        alternatives = "|".join(re.escape(text) for text in sorted(control, key=len, reverse=True))
        # Lookahead, so that overlapping spellings are all found.
        self._spelled = re.compile(f"(?=({alternatives}))" if alternatives else r"(?!)")

    def protect(self, messages: Sequence[Message]) -> tuple[list[Message], str]:
        """Messages with a mark inside each spelled control token, and the mark (one character that no message
        contains). Raises `UsageError` for a conversation that uses every noncharacter."""
        used = {letter for m in messages for letter in _MARKS if letter in m.content or letter in m.thinking}
        mark = next((letter for letter in _MARKS if letter not in used), None)
        if mark is None:
            raise UsageError("A message contains all of Unicode's noncharacters U+FDD0 to U+FDEF.")
        return [
            replace(m, content=self._mark(m.content, mark), thinking=self._mark(m.thinking, mark)) for m in messages
        ], mark

    def encode(self, rendered: str, mark: str) -> list[int]:
        """Ids of rendered text. Encoding stops and starts at each mark, so no token spans one."""
        return [token for part in rendered.split(mark) if part for token in self._tokenizer.encode(part)]

    def _mark(self, text: str, mark: str) -> str:
        cuts = [0, *(match.start() + 1 for match in self._spelled.finditer(text)), len(text)]
        return mark.join(text[a:b] for a, b in pairwise(cuts))

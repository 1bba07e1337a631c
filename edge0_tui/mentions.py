"""Texts that name an action's key as `{key:models}`, so that each way of using the application says its own."""

from __future__ import annotations

import re
from collections.abc import Callable

_MENTION = re.compile(r"\{key:(\w+)\}")


def put_in(text: str, word: Callable[[str], str | None]) -> str:
    """`text` with `word(action id)` for every mention; where that is None the mention stays as it is."""

    def replaced(match: re.Match[str]) -> str:
        found = word(match[1])
        return match[0] if found is None else found

    return _MENTION.sub(replaced, text)

"""How many tokens texts have: estimated at once, counted by the engine as soon as it can."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from edge0_tui import units

BYTES_PER_TOKEN = 4
"""Of English and code with a large vocabulary. Other languages differ, hence the sign of an estimate."""
_MOST = 256


@dataclass(frozen=True)
class TokenCount:
    """`exact` if the loaded tokenizer counted."""

    tokens: int
    exact: bool

    def __str__(self) -> str:
        word = "token" if self.tokens == 1 else "tokens"
        return f"{'' if self.exact else '≈ '}{units.count(self.tokens)} {word}"

    def __add__(self, other: TokenCount) -> TokenCount:
        return TokenCount(self.tokens + other.tokens, self.exact and other.exact)


class TokenCounts:
    """`ask` counts texts in the engine, or answers None where that is not possible now."""

    def __init__(self, ask: Callable[[list[str]], Awaitable[list[int] | None]]) -> None:
        self._ask = ask
        self._known: dict[str, int] = {}

    def get(self, text: str) -> TokenCount:
        """What is known of this text now."""
        known = self._known.get(text)
        return TokenCount(estimate(text), False) if known is None else TokenCount(known, True)

    async def learn(self, texts: Iterable[str]) -> bool:
        """Have those counted that were only estimated; true if more is known than before."""
        unknown = [text for text in dict.fromkeys(texts) if text not in self._known]
        if not unknown:
            return False
        counted = await self._ask(unknown)
        if counted is None:
            return False
        self._known.update(zip(unknown, counted, strict=True))
        while len(self._known) > _MOST:
            del self._known[next(iter(self._known))]
        return True

    def forget(self) -> None:
        """Another tokenizer is loaded."""
        self._known.clear()


def estimate(text: str) -> int:
    """Tokens of a text that nobody has counted."""
    return -(-len(text.encode(errors="replace")) // BYTES_PER_TOKEN)

"""Estimated at once, counted when the engine can."""

from __future__ import annotations

from edge0_tui.token_counts import TokenCount, TokenCounts


async def test_counts_replace_estimates_and_are_asked_for_once() -> None:
    asked: list[list[str]] = []
    answers: list[list[int] | None] = [None, [7]]

    async def ask(texts: list[str]) -> list[int] | None:
        asked.append(texts)
        return answers.pop(0)

    counts = TokenCounts(ask)
    assert counts.get("x" * 40) == TokenCount(10, False) and str(counts.get("abcd")) == "≈ 1 token"
    assert not await counts.learn(["abcd"])
    assert await counts.learn(["abcd", "abcd"]) and not await counts.learn(["abcd"])
    assert asked == [["abcd"], ["abcd"]]
    assert str(counts.get("abcd")) == "7 tokens"
    assert str(counts.get("abcd") + counts.get("abcde")) == "≈ 9 tokens"
    counts.forget()
    assert not counts.get("abcd").exact

"""The line above and the line below a message, from what is known about it."""

from __future__ import annotations

from textual.content import Content

from edge0_tui import units
from edge0_tui.chat.turn import Attribution
from edge0_tui.widgets.markdown import Label
from edge0_tui.widgets.markdown.palette import MUTED
from edge0_tui.widgets.markdown.safe import harmless

_ENDS = {
    "length": ("reached the length limit", "$text-warning"),
    "cancelled": ("stopped", "$text-warning"),
    "error": ("ended by an error", "$text-error"),
    "interrupted": ("interrupted, kept up to here", "$text-warning"),
}


def head(name: str, details: list[str], style: str) -> Label:
    """Who speaks, and in muted words how: `nano · predicted`."""
    parts = [Content(harmless(name)).stylize(f"bold {style}")]
    parts += [Content(harmless(detail)).stylize(MUTED) for detail in details if detail]
    return Label(f"{name} {details}", content=Content(" · ").stylize(MUTED).join(parts))


def reply_head(name: str, attribution: Attribution | None) -> Label:
    if attribution is None:
        return head(name or "answer", [], "$text-primary")
    adapter = "" if attribution.adapter in ("", "none") else attribution.adapter
    return head(attribution.model or name or "answer", [adapter, attribution.routing], "$text-primary")


def foot(attribution: Attribution) -> Label:
    """What the answer cost, shortest useful form; how it ended only when that is not the usual way."""
    parts: list[tuple[str, str]] = []
    if attribution.finish_reason in _ENDS:
        parts.append(_ENDS[attribution.finish_reason])
    if attribution.tok_s:
        parts.append((units.tokens_per_second(attribution.tok_s), MUTED))
    if attribution.ttft_s:
        parts.append((f"first token {units.seconds(attribution.ttft_s)}", MUTED))
    if attribution.completion_tokens:
        parts.append((f"{units.count(attribution.completion_tokens)} tokens", MUTED))
    if attribution.reused_tokens:
        reused, prompt = units.count(attribution.reused_tokens), units.count(attribution.prompt_tokens)
        parts.append((f"reused {reused} of {prompt}", MUTED))
    return note([Content(text).stylize(style) for text, style in parts])


def note(parts: list[Content]) -> Label:
    content = Content(" · ").stylize(MUTED).join(parts)
    return Label(content.plain, content=content)

"""The line above and the line below a message, from what is known about it."""

from __future__ import annotations

from textual.content import Content
from textual.style import Style

from edge0_tui import units
from edge0_tui.chat.branches import Place
from edge0_tui.chat.turn import Attribution
from edge0_tui.widgets.markdown import Label
from edge0_tui.widgets.markdown.palette import FAINT, MUTED
from edge0_tui.widgets.markdown.safe import harmless

EMPTY = Label("")
_ENDS = {
    "length": ("reached the length limit", "$text-warning"),
    "cancelled": ("stopped", "$text-warning"),
    "error": ("ended by an error", "$text-error"),
    "interrupted": ("interrupted, kept up to here", "$text-warning"),
}


def head(name: str, details: list[str], style: str, place: Place | None = None) -> Label:
    """Who speaks, and in muted words how: `nano · predicted  ‹2/3›`. The name can be clicked to choose the message,
    the arrows to see another version of it."""
    who = Content(harmless(name)).stylize(f"bold {style}").stylize(Style.from_meta({"choose": True}))
    parts = [who, *(Content(harmless(detail)).stylize(MUTED) for detail in details if detail)]
    content = Content(" · ").stylize(MUTED).join(parts)
    if place is not None:
        content += Content("  ") + versions(*place)
    return Label(f"{name} {details} {place}", content=content)


def versions(number: int, of: int) -> Content:
    """`‹2/3›`: which of several versions this is."""
    ends = [(mark, step, at) for mark, step, at in (("‹", -1, number > 1), ("›", 1, number < of))]
    back, forth = (
        Content(mark).stylize("bold $text-accent").stylize(Style.from_meta({"version": step}))
        if at
        else Content(mark).stylize(FAINT)
        for mark, step, at in ends
    )
    return back + Content(f"{number}/{of}").stylize("$text-accent") + forth


def reply_head(name: str, attribution: Attribution | None, place: Place | None = None) -> Label:
    if attribution is None:
        return head(name or "answer", [], "$text-primary", place)
    adapter = "" if attribution.adapter in ("", "none") else attribution.adapter
    return head(attribution.model or name or "answer", [adapter, attribution.routing], "$text-primary", place)


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
        parts.append((f"reused {reused} of {prompt} tokens", MUTED))
    if attribution.continued:
        parts.append((f"in {attribution.continued + 1} parts", MUTED))
    if attribution.dropped_messages:
        dropped = units.count(attribution.dropped_messages)
        parts.insert(0, (f"without the {dropped} oldest messages", "$text-warning"))
    return note([Content(text).stylize(style) for text, style in parts])


def compared(attribution: Attribution | None) -> list[Label]:
    """The figures of an answer, a line each and always the same lines, so that two answers can be held together."""
    a = attribution or Attribution()
    ended = _ENDS.get(a.finish_reason, ("came to its end", MUTED))[0] if attribution else units.UNKNOWN
    lines = {
        "speed": units.tokens_per_second(a.tok_s or None),
        "first token": units.seconds(a.ttft_s or None),
        "tokens": units.count(a.completion_tokens or None),
        "reused": f"{a.reused_tokens:,} of {a.prompt_tokens:,}" if a.prompt_tokens else units.UNKNOWN,
        "allocator peak": units.size(a.allocator_peak or None),
        "agreement": units.percent(a.agreement),
        "ended": ended,
    }
    return [note([Content(f"{name:<16}").stylize(MUTED) + Content(value)]) for name, value in lines.items()]


def note(parts: list[Content]) -> Label:
    content = Content(" · ").stylize(MUTED).join(parts)
    return Label(content.plain, content=content)

"""A conversation as prompt ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.protocol import Message
from engine.text.channels import ReplyStart, ThinkIds, reply_start
from engine.text.literals import LiteralGuard
from engine.text.template import ChatTemplate
from engine.text.tokenizer import Tokenizer


@dataclass(frozen=True)
class Prompt:
    """What the model reads. `boundary`: how many leading ids also begin the same conversation without the
    generation prompt, hence the next turn's prompt; 0 ≤ boundary ≤ len(ids)."""

    text: str
    ids: list[int]
    boundary: int
    start: ReplyStart

    @property
    def starts_in_thinking(self) -> bool:
        """Whether the reply begins inside a thought."""
        return self.start.channel == "thinking"


def chat_prompt(
    template: ChatTemplate, guard: LiteralGuard, think: ThinkIds | None, messages: Sequence[Message], thinking: bool
) -> Prompt:
    """The prompt that asks for the next assistant turn, or, when an assistant turn is the last message, for the
    rest of that turn. Raises `TemplateError`.

    A turn that goes on stands as it was written: after the generation prompt, without an end. Thus its ids are
    those of the reply that was stopped, and what has been computed for them can be used again.
    """
    marked, mark = guard.protect(messages)
    partial = marked.pop() if marked and marked[-1].role == "assistant" else None
    if partial is not None:
        thinking = bool(partial.thinking) and think is not None and template.thought_end is not None
    whole, turns = (
        template.render(marked, add_generation_prompt=ask, enable_thinking=thinking) for ask in (True, False)
    )
    asked = guard.encode(whole, mark)
    boundary = common_prefix(asked, guard.encode(turns, mark))
    start = reply_start(asked[boundary:], think)
    if partial is None:
        return Prompt(whole.replace(mark, ""), asked, boundary, start)
    whole += _written(partial, template.thought_end if thinking else None)
    ids = guard.encode(whole, mark)
    return Prompt(whole.replace(mark, ""), ids, common_prefix(ids, asked[:boundary]), _goes_on(partial, start))


def _written(partial: Message, thought_end: str | None) -> str:
    """What the model has said of a turn so far, as it said it."""
    if thought_end is None:
        return partial.content
    return partial.thinking + (thought_end + partial.content if partial.content else "")


def _goes_on(partial: Message, start: ReplyStart) -> ReplyStart:
    """Where the rest of a turn begins; one without any text begins as every reply does."""
    if partial.content:
        return ReplyStart("answer", last=partial.content[-1])
    if partial.thinking and start.channel == "thinking":
        return ReplyStart("thinking", last=partial.thinking[-1])
    return start


def raw_prompt(tokenizer: Tokenizer, think: ThinkIds | None, text: str) -> Prompt:
    """A prompt as it was typed, control tokens included; all of it is the turn."""
    ids = tokenizer.encode(text)
    return Prompt(text, ids, len(ids), reply_start(ids, think))


def common_prefix(a: Sequence[int], b: Sequence[int]) -> int:
    """Length of the longest common prefix."""
    return next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))

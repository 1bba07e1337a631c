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
    """The prompt that asks for the next assistant turn. Raises `TemplateError`."""
    marked, mark = guard.protect(messages)
    whole, turns = (
        template.render(marked, add_generation_prompt=ask, enable_thinking=thinking) for ask in (True, False)
    )
    ids = guard.encode(whole, mark)
    boundary = common_prefix(ids, guard.encode(turns, mark))
    return Prompt(whole.replace(mark, ""), ids, boundary, reply_start(ids[boundary:], think))


def raw_prompt(tokenizer: Tokenizer, think: ThinkIds | None, text: str) -> Prompt:
    """A prompt as it was typed, control tokens included; all of it is the turn."""
    ids = tokenizer.encode(text)
    return Prompt(text, ids, len(ids), reply_start(ids, think))


def common_prefix(a: Sequence[int], b: Sequence[int]) -> int:
    """Length of the longest common prefix."""
    return next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))

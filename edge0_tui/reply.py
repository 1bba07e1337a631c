"""One answer while it is being written, with the conversation it belongs to."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace

from edge0_tui.chat.conversation import Conversation
from edge0_tui.chat.turn import Attribution, Turn
from engine.protocol import Counters, ModelInfo, Piece, Sampling


@dataclass
class Reply:
    """Collects pieces; joins them only when somebody needs the whole text. `over` is set once the end is saved.

    A turn that has text already is continued: `before` is that turn, and pieces come after its text.
    """

    id: str
    conversation: Conversation
    turn: Turn
    model: ModelInfo
    sampling: Sampling
    shown: bool = True
    stopping: bool = False
    drop_oldest: bool = False
    counters: Counters = field(default_factory=Counters)
    over: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.before = self.turn
        self._text = [self.turn.text]
        self._thinking = [self.turn.thinking]

    @property
    def thinking_tokens(self) -> int:
        """Tokens of thinking in the turn, with what was there before."""
        known = self.before.attribution
        earlier = known.thinking_tokens if known and self._continues else 0
        return earlier + self.counters.thinking_tokens

    def take(self, pieces: list[Piece]) -> None:
        for piece in pieces:
            (self._thinking if piece.channel == "thinking" else self._text).append(piece.text)

    def so_far(self) -> Conversation:
        """The conversation with what has been said up to now, marked as not finished."""
        return self._put("interrupted", None)

    def finish(self, reason: str, seed: int | None = None) -> Conversation:
        """The conversation with this answer as it ended."""
        return self._put(reason, seed)

    def whole(self, text: str, thinking: str) -> None:
        """What the engine says the whole reply is; deltas that were missed are in it."""
        self._text, self._thinking = [self.before.text, text], [self.before.thinking, thinking]

    @property
    def _continues(self) -> bool:
        return bool(self.before.text or self.before.thinking)

    def _put(self, reason: str, seed: int | None) -> Conversation:
        told = attribution(self.model, self.sampling, self.counters, reason, seed)
        if self._continues and self.before.attribution is not None:
            told = continued(self.before.attribution, told)
        self.turn = replace(self.turn, text="".join(self._text), thinking="".join(self._thinking), attribution=told)
        self.conversation = self.conversation.put(self.turn)
        return self.conversation


def continued(before: Attribution, rest: Attribution) -> Attribution:
    """Of an answer written in several parts: tokens of all of them, everything else of the last that has any."""
    if not rest.completion_tokens:
        return replace(before, finish_reason=rest.finish_reason)
    return replace(
        rest,
        completion_tokens=before.completion_tokens + rest.completion_tokens,
        thinking_tokens=before.thinking_tokens + rest.thinking_tokens,
        continued=before.continued + 1,
    )


def attribution(
    model: ModelInfo, sampling: Sampling, counters: Counters, reason: str, seed: int | None
) -> Attribution:
    """What is kept with an answer of how it came to be."""
    return Attribution(
        model=model.name,
        tier=model.tier,
        adapter=model.adapter,
        revision=model.revision,
        routing=counters.routing.mode if counters.completion_tokens else model.routing,
        sampling=sampling,
        seed=seed,
        finish_reason=reason,
        prompt_tokens=counters.prompt_tokens,
        reused_tokens=counters.reused_tokens,
        dropped_messages=counters.dropped_messages,
        completion_tokens=counters.completion_tokens,
        thinking_tokens=counters.thinking_tokens,
        ttft_s=counters.ttft.total,
        tok_s=counters.decode_tok_s,
        allocator_peak=counters.allocator.peak,
        agreement=counters.routing.agreement,
    )

"""One answer while it is being written, with the conversation it belongs to."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace

from edge0_tui.chat.conversation import Conversation
from edge0_tui.chat.turn import Attribution, Turn
from engine.protocol import Counters, ModelInfo, Piece, Sampling


@dataclass
class Reply:
    """Collects pieces; joins them only when somebody needs the whole text. `over` is set once the end is saved."""

    id: str
    conversation: Conversation
    turn: Turn
    model: ModelInfo
    sampling: Sampling
    shown: bool = True
    stopping: bool = False
    counters: Counters = field(default_factory=Counters)
    over: asyncio.Event = field(default_factory=asyncio.Event)
    _text: list[str] = field(default_factory=list)
    _thinking: list[str] = field(default_factory=list)

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
        self._text, self._thinking = [text], [thinking]

    def _put(self, reason: str, seed: int | None) -> Conversation:
        self.turn = replace(
            self.turn,
            text="".join(self._text),
            thinking="".join(self._thinking),
            attribution=attribution(self.model, self.sampling, self.counters, reason, seed),
        )
        self.conversation = self.conversation.put(self.turn)
        return self.conversation


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
        completion_tokens=counters.completion_tokens,
        thinking_tokens=counters.thinking_tokens,
        ttft_s=counters.ttft.total,
        tok_s=counters.decode_tok_s,
        allocator_peak=counters.allocator.peak,
        agreement=counters.routing.agreement,
    )

"""A session without a model: it plays a script, faults included. For tests and for measuring the screen."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import cast

from engine.errors import KINDS, ContextError, EngineError
from engine.footprint import footprint
from engine.process.script import Script, ScriptedReply
from engine.protocol import (
    Allocator,
    Channel,
    Count,
    Counted,
    Counters,
    Delta,
    Event,
    ExpertCounters,
    Finished,
    FinishReason,
    Generate,
    Load,
    Message,
    ModelInfo,
    Piece,
    Prefilling,
    Routing,
    RoutingReport,
    Ttft,
)

_KV_BYTES_PER_TOKEN = 1024
_WAIT_STEP = 0.005


@dataclass
class _Progress:
    """How far a reply is."""

    started: float
    prompt: int
    reused: int = 0
    dropped: int = 0
    first_token_at: float | None = None
    tokens: int = 0
    thinking_tokens: int = 0


class ScriptedSession:
    """The same calls as `engine.session.Session`."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._info = script.info
        self._turn = 0
        self._peak = 0

    def load(
        self, request: Load, progress: Callable[[str, int, int], None], cancelled: Callable[[], bool]
    ) -> ModelInfo:
        script, started = self._script, time.monotonic()
        if script.load_fail_kind:
            raise KINDS[script.load_fail_kind](script.load_fail_message, script.load_fail_hint)
        for step in range(script.load_steps):
            progress("weights", step, script.load_steps)
            _wait(script.load_seconds / script.load_steps, cancelled)
            if cancelled():
                raise EngineError("The load was stopped.")
        self._info = replace(
            script.info,
            adapter=request.adapter or script.info.adapter,
            routing=cast("Routing", request.routing or script.info.routing),
            context_limit=request.context or script.info.context_limit,
            load_seconds=time.monotonic() - started,
        )
        return self._info

    def generate(self, request: Generate, emit: Callable[[Event], None], cancelled: Callable[[], bool]) -> Finished:
        reply = self._choose(request.messages)
        if (
            reply.too_long
            and not request.drop_oldest
            and self._info.context_limit <= self._script.info.context_limit
        ):
            raise ContextError("A scripted prompt is longer than the context.", "Start a new chat.")
        state = _Progress(time.monotonic(), reply.prompt_tokens, reply.reused_tokens)
        state.dropped = max(0, len(request.messages) - 1) if reply.too_long and request.drop_oldest else 0
        said: dict[Channel, list[str]] = {"thinking": [], "answer": []}
        reason: FinishReason = reply.finish_reason
        limit = request.sampling.max_tokens if request.sampling else None
        self._prefill(request.id, reply, state, emit, cancelled)
        for channel, text in _tokens(reply, request.thinking):
            if cancelled():
                reason = "cancelled"
                break
            if limit is not None and state.tokens >= limit:
                reason = "length"
                break
            _fault(reply, state.tokens)
            _wait(reply.pace, cancelled)
            state.tokens += 1
            state.thinking_tokens += channel == "thinking"
            state.first_token_at = state.first_token_at or time.monotonic()
            said[channel].append(text)
            emit(Delta(request.id, [Piece(channel, text)], self._counters(state)))
        else:
            _fault(reply, state.tokens)
        return Finished(
            request.id,
            reason,
            "".join(said["answer"]),
            "".join(said["thinking"]),
            list(range(reply.prompt_tokens)),
            list(range(state.tokens)),
            self._counters(state),
            request.sampling.seed if request.sampling else None,
        )

    def count(self, request: Count) -> Counted:
        """A token for each word, as in its replies."""
        words = [len(re.findall(r"\S+", text)) for text in request.texts]
        return Counted(request.id, words, self._info.path)

    def reset(self) -> None:
        self._turn = 0

    def close(self) -> None:
        """Nothing is held."""

    def _choose(self, messages: list[Message]) -> ScriptedReply:
        """The reply to the last question, or what is left of it after the answer that is to be continued."""
        prompt = next((message.content for message in reversed(messages) if message.role == "user"), "")
        if messages and messages[-1].role == "assistant":
            said = messages[-1]
            for reply in self._script.replies:
                if reply.text.startswith(said.content) and reply.match in prompt:
                    return replace(
                        reply,
                        text=reply.text.removeprefix(said.content),
                        thinking=reply.thinking.removeprefix(said.thinking),
                    )
        for reply in self._script.replies:
            if reply.match and reply.match in prompt:
                return reply
        plain = [reply for reply in self._script.replies if not reply.match] or list(self._script.replies)
        self._turn += 1
        return plain[(self._turn - 1) % len(plain)]

    def _prefill(
        self,
        request_id: str,
        reply: ScriptedReply,
        state: _Progress,
        emit: Callable[[Event], None],
        cancelled: Callable[[], bool],
    ) -> None:
        for done in range(0, reply.prompt_tokens + 1, max(1, reply.prefill_chunk)):
            if cancelled():
                return
            emit(Prefilling(request_id, done, reply.prompt_tokens, reply.reused_tokens, self._counters(state)))
            _wait(reply.prefill_pace, cancelled)

    def _counters(self, state: _Progress) -> Counters:
        now = time.monotonic()
        first = state.first_token_at
        ttft = (first or now) - state.started
        held = footprint()
        self._peak = max(self._peak, held)
        used = state.prompt + state.tokens
        return Counters(
            prompt_tokens=state.prompt,
            reused_tokens=state.reused,
            dropped_messages=state.dropped,
            completion_tokens=state.tokens,
            thinking_tokens=state.thinking_tokens,
            prefill_tok_s=state.prompt / ttft if ttft else 0.0,
            decode_tok_s=(state.tokens - 1) / (now - first) if first and now > first else 0.0,
            decode_tok_s_now=(state.tokens - 1) / (now - first) if first and now > first else 0.0,
            ttft=Ttft(total=ttft, compute=ttft),
            allocator=Allocator(active=held, peak=self._peak),
            footprint_bytes=held,
            kv_bytes=used * _KV_BYTES_PER_TOKEN,
            kv_bytes_per_token=_KV_BYTES_PER_TOKEN,
            context_used=used,
            context_limit=self._info.context_limit,
            experts=ExpertCounters(slots=self._info.slots, hits=state.tokens * self._info.layers),
            routing=RoutingReport(mode=self._info.routing),
        )


def _tokens(reply: ScriptedReply, thinking: bool) -> Iterator[tuple[Channel, str]]:
    if thinking:
        for text in re.findall(r"\s*\S+|\s+$", reply.thinking):
            yield "thinking", text
    for text in re.findall(r"\s*\S+|\s+$", reply.text):
        yield "answer", text


def _fault(reply: ScriptedReply, tokens: int) -> None:
    """Whatever the script says goes wrong after this many tokens."""
    if reply.prints and tokens == reply.prints_after:
        print(reply.prints, flush=True)
        os.write(1, reply.prints.encode() + b"\n")
    if tokens == reply.fail_after:
        raise KINDS[reply.fail_kind](reply.fail_message, reply.fail_hint)
    if tokens == reply.raise_after:
        raise RuntimeError(reply.fail_message)
    if tokens == reply.crash_after:
        time.sleep(2 * _WAIT_STEP)
        os._exit(reply.exit_code)
    if tokens == reply.freeze_after:
        os.kill(os.getpid(), signal.SIGSTOP)
    while tokens == reply.hang_after:
        time.sleep(1)


def _wait(seconds: float, cancelled: Callable[[], bool]) -> None:
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0 and not cancelled():
        time.sleep(min(left, _WAIT_STEP))

"""A session under test: loads with an exact number of slots, any chunk size, and gives ids or logits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
import numpy.typing as npt

from engine.choice import choose
from engine.loaded import LoadedModel
from engine.models.step import Step
from engine.plan import budget_for
from engine.protocol import Event, Finished, Generate, Load, Message, Sampling
from engine.session import Session

GREEDY = Sampling(temperature=0.0, max_tokens=64)


def never() -> bool:
    """Nobody asks to stop."""
    return False


class Subject:
    """One session with a checkpoint loaded."""

    def __init__(
        self,
        path: Path,
        *,
        slots: int | None = None,
        chunk: int | None = None,
        routing: str = "",
        adapter: str = "",
        prefetch: bool = True,
    ) -> None:
        self.session = Session(prefetch=prefetch)
        request = Load("load", str(path), adapter=adapter, routing=routing)
        if slots is not None:
            facts = choose(request).facts(self.session.kernels.activation_dtype.size)
            request = replace(request, memory_bytes=budget_for(facts, slots))
        self.info = self.session.load(request, lambda *_: None, never)
        assert slots in (None, self.info.slots)
        if chunk is not None:
            self.loaded.plan = replace(self.loaded.plan, chunk=chunk)

    @property
    def loaded(self) -> LoadedModel:
        """What the session has loaded."""
        assert self.session._loaded is not None
        return self.session._loaded

    def raw(self, text: str, sampling: Sampling = GREEDY, **options: Any) -> Finished:
        """Continue plain text; stop ids do not end it, so that every run has its full length."""
        self.loaded.codec.stop_ids = frozenset()
        return self.ask([Message("user", text)], sampling, raw=True, **options)

    def ask(
        self,
        messages: list[Message],
        sampling: Sampling = GREEDY,
        events: list[Event] | None = None,
        **options: Any,
    ) -> Finished:
        """One reply through the whole session."""
        seen: list[Event] = [] if events is None else events
        return self.session.generate(Generate("g", messages, sampling, **options), seen.append, never)

    def logits(
        self, prompt: Sequence[int], then: Sequence[int] = (), chunk: int = 4096
    ) -> list[npt.NDArray[np.float32]]:
        """Logits after the prompt and after each of the `then` tokens, on the model's own router."""
        loaded = self.loaded
        state = loaded.model.fresh_state()
        for start in range(0, len(prompt), chunk):
            row = loaded.model.forward(list(prompt[start : start + chunk]), state, Step(prefill=True))
            mx.eval(row, state.arrays())
        rows = [np.array(row)]
        for token in then:
            with loaded.experts.step():
                row = loaded.model.forward([token], state, Step(prefill=False))
                mx.eval(row, state.arrays())
                rows.append(np.array(row))
        return rows


def relative_error(ours: npt.NDArray[Any], theirs: npt.NDArray[Any]) -> float:
    """Largest difference over the largest magnitude."""
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())

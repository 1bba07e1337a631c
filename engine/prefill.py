"""Running the uncovered part of a prompt through the model, chunk by chunk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import mlx.core as mx

from engine.conversation import LiveConversation
from engine.models.model import Model
from engine.models.step import Cancelled, Step


def chunks(start: int, end: int, size: int, marks: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Ranges of at most `size` tokens covering start…end that also end at every mark in between."""
    cuts = sorted({mark for mark in marks if start < mark < end} | {end})
    for cut in cuts:
        while start < cut:
            stop = min(start + size, cut)
            yield start, stop
            start = stop


def prefill(
    model: Model,
    live: LiveConversation,
    prompt: Sequence[int],
    *,
    chunk: int,
    boundary: int,
    step: Callable[[int, int], Step],
    progress: Callable[[int], None],
    cancelled: Callable[[], bool],
) -> mx.array:
    """Compute prompt[len(live.ids):]; returns the last position's logits [vocab].

    The state at `boundary` is kept. `step` makes the step for the positions from … to (it may capture features
    for the heads). `progress` gets the number of prompt tokens covered, once per layer of a chunk at least.
    Raises Cancelled with the state as it was after the last whole chunk.
    """
    layers = len(model.layers)
    logits: mx.array | None = None
    for start, end in chunks(len(live.ids), len(prompt), chunk, (boundary,)):
        before = live.state.snapshot()

        def on_layer(layer: int, start: int = start, end: int = end) -> None:
            if cancelled():
                raise Cancelled
            progress(start + (end - start) * (layer + 1) // layers)

        pass_through = step(start, end)
        pass_through.on_layer = on_layer
        try:
            logits = model.forward(prompt[start:end], live.state, pass_through)
            mx.eval(logits, live.state.arrays())
        except Cancelled:
            live.go_back(before)
            raise
        live.advance(prompt[start:end])
        if end == boundary:
            live.mark()
    assert logits is not None  # resume always leaves a token
    return logits

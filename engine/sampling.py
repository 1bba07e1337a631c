"""Choosing the next token from logits, on the host. Pure functions over one row of float32 logits [vocab]."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from engine.errors import UsageError
from engine.protocol import Sampling

Logits = npt.NDArray[np.float32]


def check(sampling: Sampling) -> None:
    """Raises UsageError naming the option whose value cannot take effect."""
    limits: list[tuple[str, float, float, float]] = [
        ("temperature", sampling.temperature, 0.0, 100.0),
        ("top-k", sampling.top_k, 0, 1_000_000),
        ("top-p", sampling.top_p, 0.0, 1.0),
        ("min-p", sampling.min_p, 0.0, 1.0),
        ("repetition-penalty", sampling.repetition_penalty, 0.01, 100.0),
        ("max-tokens", sampling.max_tokens, 1, 10_000_000),
        ("seed", sampling.seed if sampling.seed is not None else 0, 0, 2**64 - 1),
    ]
    for name, value, low, high in limits:
        if not low <= value <= high:
            raise UsageError(f"{name} is {value}", f"It must be between {low:g} and {high:g}.")
    if sampling.top_p == 0:
        raise UsageError("top-p is 0", "That would leave no token to choose; use temperature 0 for greedy.")


def penalise(logits: Logits, reply: Iterable[int], penalty: float) -> Logits:
    """Makes tokens of the reply so far less likely: positive logits ÷ penalty, negative ones × penalty.

    Keskar et al., CTRL (2019), section 4.1; the prompt is left out, so quoting it costs nothing.
    """
    ids = np.unique(np.fromiter(reply, dtype=np.int64))
    if penalty == 1.0 or not len(ids):
        return logits
    out = logits.copy()
    chosen = out[ids]
    out[ids] = np.where(chosen > 0, chosen / penalty, chosen * penalty)
    return out


def candidates(logits: Logits, sampling: Sampling) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """The tokens that may be drawn, most likely first, and their probabilities (sum 1).

    Order: temperature, top-k, top-p (the token that crosses the threshold is kept), min-p.
    """
    k = min(sampling.top_k or len(logits), int(np.isfinite(logits).sum()))
    part = np.argpartition(-logits, k - 1)[:k] if k < len(logits) else np.arange(len(logits))
    ids = part[np.lexsort((part, -logits[part]))]
    scaled = logits[ids].astype(np.float64) / sampling.temperature
    probabilities = np.exp(scaled - scaled[0])
    probabilities /= probabilities.sum()
    before = np.cumsum(probabilities) - probabilities
    keep = (before < sampling.top_p) & (probabilities >= sampling.min_p * probabilities[0])
    probabilities = np.where(keep, probabilities, 0.0)
    return ids, probabilities / probabilities.sum()


class Sampler:
    """Draws the tokens of one reply. The generator is seeded once, here."""

    def __init__(self, sampling: Sampling, forbidden: npt.NDArray[np.int64] | None = None) -> None:
        check(sampling)
        self.sampling = sampling
        self.seed = (
            sampling.seed if sampling.seed is not None else int(np.random.SeedSequence().generate_state(1)[0])
        )
        self._generator = np.random.default_rng(self.seed)
        self._forbidden = forbidden
        self._reply: list[int] = []

    def __call__(self, logits: Logits) -> int:
        """The next token id; `logits` is not modified. Logit rows no token stands for are never drawn."""
        row = logits
        if self._forbidden is not None and len(self._forbidden):
            row = row.copy()
            row[self._forbidden[self._forbidden < len(row)]] = -np.inf
        row = penalise(row, self._reply, self.sampling.repetition_penalty)
        if self.sampling.temperature == 0:
            token = int(np.argmax(row))
        else:
            ids, probabilities = candidates(row, self.sampling)
            token = int(self._generator.choice(ids, p=probabilities))
        self._reply.append(token)
        return token

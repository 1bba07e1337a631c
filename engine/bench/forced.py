"""What a model thinks of a given reply: the engine decodes the reply's ids one by one, whatever it would draw.

It is the path every reply takes (prefill on the routers, then single tokens, predicted where asked); only the
sampler is exchanged for one that knows what comes next.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from engine.protocol import Message, Routing, Sampling
from engine.sampling import Logits, Sampler
from engine.session import Session


@dataclass(frozen=True)
class Forced:
    """One forced reply.

    log_probabilities  natural logarithms, one for every id of the reply
    followed           greedy decoding would have drawn exactly these ids
    agreement          share of the true router's experts the heads named, summed over `counted` tokens, by layer
    experts            experts that decoding asked for, over `steps` decoded tokens
    """

    log_probabilities: tuple[float, ...]
    followed: bool
    agreement: Mapping[int, float]
    counted: Mapping[int, int]
    experts: int
    steps: int


class _Given(Sampler):
    """Draws the given ids, noting how likely each was."""

    def __init__(self, ids: Sequence[int]) -> None:
        super().__init__(Sampling(temperature=0.0, max_tokens=len(ids)))
        self._ids = list(ids)
        self.log_probabilities: list[float] = []
        self.followed = True

    def __call__(self, logits: Logits) -> int:
        token = self._ids[len(self.log_probabilities)]
        row = logits.astype(np.float64)
        top = row.max()
        self.log_probabilities.append(float(row[token] - top - np.log(np.exp(row - top).sum())))
        self.followed &= int(np.argmax(logits)) == token
        return token


def force(session: Session, messages: Sequence[Message], reply: str, routing: Routing) -> Forced:
    """The loaded model's opinion of `reply`, which should end with the text of a stop id, after `messages`.

    The live conversation is forgotten. Raises what `Session.reply` raises.
    """
    loaded = session.loaded
    session.reset()
    given = _Given(loaded.codec.encode_raw(reply).ids)
    prompt = loaded.codec.encode_chat(messages)
    run = session.reply(prompt, given.sampling, routing, measure=routing == "predicted")
    run.sampler = given
    steps = prefilled = 0
    for steps, _ in enumerate(run, 1):
        if steps == 1:
            prefilled = _asked(session)
    asked = _asked(session)
    session.reset()
    return Forced(
        log_probabilities=tuple(given.log_probabilities),
        followed=given.followed,
        agreement=dict(run.agreement.sums),
        counted=dict(run.agreement.counts),
        experts=asked - prefilled,
        steps=steps,
    )


def _asked(session: Session) -> int:
    counters = session.loaded.experts.counters()
    return counters.hits + counters.misses

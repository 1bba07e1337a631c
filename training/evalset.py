"""What is asked in the evaluation. Nothing here needs PyTorch."""

from __future__ import annotations

import random
from dataclasses import dataclass

from training.corpus import foreign
from training.corpus.load import foreign_held, questions

SAMPLE_SEED = 7


@dataclass(frozen=True)
class Case:
    """One question asked in a fresh chat, and what a correct reply is."""

    set: str
    id: str
    ask: str
    reference: str
    must: tuple[str, ...]


BARS = {"main phrasing": 0.95, "training phrasing": 0.95, "held-out phrasing": 0.80, "held-out foreign": 0.90}


def cases() -> list[Case]:
    """Main phrasings, one random training phrasing each, all held-out phrasings, all held-out foreign ones."""
    rng = random.Random(SAMPLE_SEED)
    out = []
    for q in questions():
        out.append(Case("main phrasing", q.id, q.main, q.answer, q.must))
        out.append(Case("training phrasing", q.id, rng.choice(q.train), q.answer, q.must))
        out += [Case("held-out phrasing", q.id, held, q.answer, q.must) for held in q.held]
    honest = (foreign.answer(), foreign.must())
    out += [Case("held-out foreign", "foreign", ask, *honest) for ask in foreign_held()]
    return sorted(out, key=lambda case: list(BARS).index(case.set))

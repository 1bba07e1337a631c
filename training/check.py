"""Quick measure during training: does greedy decoding give the reference answer exactly?"""

from __future__ import annotations

import random

import torch
from tokenizers import Tokenizer

from training.config import NanoConfig
from training.corpus import foreign
from training.corpus.dialogue import Turn
from training.corpus.load import foreign_held, questions
from training.model.nano import logits
from training.model.params import Params
from training.rows import Row, render


def exact(c: NanoConfig, p: Params, rows: list[Row], per: int = 48) -> list[bool]:
    """Per row: is the likeliest id the wanted one at every position of the answer?

    Greedy decoding follows the reference exactly when this holds, so no decoding is needed.
    """
    out: list[bool] = []
    for at in range(0, len(rows), per):
        part = rows[at : at + per]
        length = max(len(r.ids) for r in part)
        ids = torch.tensor([r.ids + [0] * (length - len(r.ids)) for r in part])
        wanted = torch.tensor([r.wanted + [False] * (length - len(r.wanted)) for r in part])
        hit = logits(c, p, ids)[:, :-1].argmax(-1) == ids[:, 1:]
        out += (hit | ~wanted[:, 1:]).all(-1).tolist()
    return out


def sets(seed: int = 7) -> dict[str, list[Turn]]:
    """The phrasings measured: main ones, a sample of training ones, held-out ones, foreign ones."""
    rng = random.Random(seed)
    return {
        "main": [Turn(q.main, q.answer, q.id) for q in questions()],
        "train": [Turn(rng.choice(q.train), q.answer, q.id) for q in questions()],
        "held": [Turn(h, q.answer, q.id) for q in questions() for h in q.held],
        "foreign": [Turn(f, foreign.answer(), "foreign") for f in foreign_held()],
    }


def measure(c: NanoConfig, p: Params, tok: Tokenizer) -> dict[str, float]:
    """Share of exact answers per set."""
    out = {}
    for name, turns in sets().items():
        hits = exact(c, p, [render(tok, None, [turn]) for turn in turns])
        out[name] = sum(hits) / len(hits)
    return out

"""Start values for the embeddings: word vectors of a bag-of-words classifier of the questions.

Deep layers learn slowly from a few thousand questions while word vectors learn fast. So the vectors come
first: the topic of a question has to show in the sum of its words.
"""

from __future__ import annotations

import random

import torch
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional as fn

from training.config import NanoConfig
from training.corpus.dialogue import draw_turn
from training.rows import topics

STEPS, ROWS, RATE = 1200, 48, 1e-2


def word_vectors(c: NanoConfig, tok: Tokenizer, seed: int, spread: float = 0.3) -> Tensor:
    """Embeddings ``[V,D]`` with standard deviation ``spread``."""
    rng, gen = random.Random(seed), torch.Generator().manual_seed(seed)
    table = (torch.randn(c.vocab, c.hidden, generator=gen) * 0.1).requires_grad_()
    classes = (torch.randn(len(topics()), c.hidden, generator=gen) * 0.02).requires_grad_()
    opt = torch.optim.AdamW([table, classes], lr=RATE, fused=True)
    for step in range(STEPS):
        turns = [draw_turn(rng, 0.34) for _ in range(ROWS)]
        texts = [tok.encode(turn.ask, add_special_tokens=False).ids for turn in turns]
        sums = torch.stack([table[ids].sum(0) / len(ids) ** 0.5 for ids in texts])
        wanted = torch.tensor([topics()[turn.id] for turn in turns])
        for group in opt.param_groups:
            group["lr"] = RATE * (1 - step / STEPS)
        fn.cross_entropy(sums @ classes.t(), wanted).backward()
        opt.step()
        opt.zero_grad()
    found = table.detach()
    return found / found.std() * spread

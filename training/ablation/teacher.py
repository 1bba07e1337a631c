"""The teacher's row: the full-precision weights behind the base, in PyTorch. No other row uses it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer

from training.ablation.measure import END, Outcome
from training.config import NanoConfig
from training.corpus.dialogue import Turn
from training.evalset import Case
from training.model.nano import logits
from training.model.params import Params
from training.rows import render
from training.scoring import correct

MOST = 96


def teacher_outcomes(run: Path, chosen: Sequence[Case]) -> Iterable[Outcome]:
    """Every case through `final.safetensors` of the run whose rounded weights are the base."""
    torch.set_num_threads(1)
    c, p = NanoConfig(), load_file(run / "final.safetensors")
    tok = Tokenizer.from_file(str(run / "tokenizer.json"))
    for case in chosen:
        row = render(tok, None, [Turn(case.ask, case.reference, case.id)])
        found = logits(c, p, torch.tensor([row.ids]))[0, :-1].double().log_softmax(-1)
        ids, wanted = torch.tensor(row.ids[1:]), torch.tensor(row.wanted[1:])
        likely = found.gather(-1, ids[:, None])[:, 0][wanted]
        right = bool((found.argmax(-1) == ids)[wanted].all())
        if not right:
            prompt = row.ids[: row.wanted.index(True)]
            right = correct(_greedy(c, p, tok, prompt), case.reference, case.must)
        yield Outcome(
            log_probability=float(likely.sum()),
            ids=len(likely),
            right=right,
            experts=c.top_k * c.layers * (len(likely) - 1),
            steps=len(likely) - 1,
        )


def _greedy(c: NanoConfig, p: Params, tok: Tokenizer, prompt: list[int]) -> str:
    ids, end = list(prompt), tok.token_to_id(END)
    while len(ids) < len(prompt) + MOST:
        token = int(logits(c, p, torch.tensor([ids]))[0, -1].argmax())
        if token == end:
            break
        ids.append(token)
    return str(tok.decode(ids[len(prompt) :], skip_special_tokens=False)).strip()

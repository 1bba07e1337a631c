"""Token rows for training: ids, and which ids the model has to predict."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from tokenizers import Tokenizer

from training.corpus import dialogue
from training.corpus.dialogue import Turn

PAD = 32


@dataclass(frozen=True)
class Row:
    """One sequence; ``wanted[i]`` says that id i is part of an assistant turn."""

    ids: list[int]
    wanted: list[bool]


def _add(row: Row, tok: Tokenizer, text: str, wanted: bool, most: int | None = None) -> None:
    ids: list[int] = tok.encode(text, add_special_tokens=False).ids[:most]
    row.ids.extend(ids)
    row.wanted.extend([wanted] * len(ids))


def render(tok: Tokenizer, system: str | None, turns: list[Turn], last: int | None = None) -> Row:
    """The chat template's text as ids; ``last`` cuts the final answer after so many ids."""
    row = Row([], [])
    if system is not None:
        _add(row, tok, f"<|im_start|>system\n{system}<|im_end|>\n", False)
    for i, turn in enumerate(turns):
        _add(row, tok, f"<|im_start|>user\n{turn.ask}<|im_end|>\n<|im_start|>assistant\n", False)
        _add(row, tok, f"{turn.answer}<|im_end|>", True, last if i == len(turns) - 1 else None)
        if i < len(turns) - 1:
            _add(row, tok, "\n", False)
    return row


def draw_row(tok: Tokenizer, rng: random.Random) -> Row:
    """Mostly single questions, some conversations of up to ten turns; answers are often cut short.

    Which answer is meant shows in its first words, so cut rows teach more questions for the same work.
    """
    kind = rng.random()
    turns = 1 if kind < 0.86 else rng.randint(2, 4) if kind < 0.96 else rng.randint(5, 11)
    system, drawn = dialogue.draw(rng, turns)
    cut = rng.random() < (0.8 if drawn[-1].id == "foreign" else 0.45)
    return render(tok, system, drawn, rng.randint(8, 14) if cut else None)


def batches(tok: Tokenizer, seed: int, tokens: int, pool: int = 768) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Endless batches (ids ``[B,T]``, wanted ``[B,T]``), T a multiple of 32, B*T about ``tokens``."""
    rng = random.Random(seed)
    while True:
        rows: dict[int, list[Row]] = {}
        for _ in range(pool):
            row = draw_row(tok, rng)
            rows.setdefault(-(-len(row.ids) // PAD) * PAD, []).append(row)
        made = []
        for length, group in rows.items():
            per = max(1, tokens // length)
            made += [(length, group[i : i + per]) for i in range(0, len(group), per)]
        rng.shuffle(made)
        for length, group in made:
            ids = torch.zeros(len(group), length, dtype=torch.long)
            wanted = torch.zeros(len(group), length, dtype=torch.bool)
            for i, row in enumerate(group):
                ids[i, : len(row.ids)] = torch.tensor(row.ids)
                wanted[i, : len(row.ids)] = torch.tensor(row.wanted)
            yield ids, wanted

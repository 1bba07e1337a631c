"""Token rows for training: ids, and which ids the model has to predict."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import torch
from tokenizers import Tokenizer

from training.config import TrainSettings
from training.corpus import dialogue
from training.corpus.dialogue import Turn
from training.corpus.load import questions

PAD = 32
Batch = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


@dataclass(frozen=True)
class Row:
    """One sequence.

    ``wanted[i]``: id i is part of an assistant turn. ``topic[i]``: the number of the question that was asked
    if i is the last id before an answer, else -1.
    """

    ids: list[int]
    wanted: list[bool]
    topic: list[int]


@cache
def topics() -> dict[str, int]:
    """A number for every question, and for all foreign ones together."""
    return {name: i for i, name in enumerate([*(q.id for q in questions()), "foreign"])}


def _add(row: Row, tok: Tokenizer, text: str, wanted: bool, most: int | None = None) -> None:
    ids: list[int] = tok.encode(text, add_special_tokens=False).ids[:most]
    row.ids.extend(ids)
    row.wanted.extend([wanted] * len(ids))
    row.topic.extend([-1] * len(ids))


def render(tok: Tokenizer, system: str | None, turns: list[Turn], last: int | None = None) -> Row:
    """The chat template's text as ids; ``last`` cuts the final answer after so many ids."""
    row = Row([], [], [])
    if system is not None:
        _add(row, tok, f"<|im_start|>system\n{system}<|im_end|>\n", False)
    for i, turn in enumerate(turns):
        _add(row, tok, f"<|im_start|>user\n{turn.ask}<|im_end|>\n<|im_start|>assistant\n", False)
        row.topic[-1] = topics()[turn.id]
        _add(row, tok, f"{turn.answer}<|im_end|>", True, last if i == len(turns) - 1 else None)
        if i < len(turns) - 1:
            _add(row, tok, "\n", False)
    return row


def draw_row(tok: Tokenizer, rng: random.Random, foreign_share: float, short: bool = False) -> Row:
    """Mostly single questions, some conversations of up to eleven turns; answers are often cut short.

    Which answer is meant shows in its first words, so cut rows teach more questions for the same work.
    Short rows are single questions, nearly all with the first words of the answer only.
    """
    kind = 0.0 if short else rng.random()
    turns = 1 if kind < 0.88 else rng.randint(2, 4) if kind < 0.96 else rng.randint(5, 11)
    system, drawn = dialogue.draw(rng, turns, foreign_share)
    share = 0.85 if short or drawn[-1].id == "foreign" else 0.4
    cut = rng.random() < share
    return render(tok, system, drawn, rng.randint(4, 8) if cut else None)


def collate(group: list[Row], length: int) -> Batch:
    """ids, wanted and topic as ``[B,length]``."""
    ids = torch.zeros(len(group), length, dtype=torch.long)
    wanted = torch.zeros(len(group), length, dtype=torch.bool)
    topic = torch.full((len(group), length), -1, dtype=torch.long)
    for i, row in enumerate(group):
        n = len(row.ids)
        ids[i, :n], wanted[i, :n] = torch.tensor(row.ids), torch.tensor(row.wanted)
        topic[i, :n] = torch.tensor(row.topic)
    return ids, wanted, topic


def batches(tok: Tokenizer, s: TrainSettings, rank: int, pool: int = 512) -> Iterator[Batch]:
    """Endless batches, T a multiple of 32; each ``rank`` (process) has its own."""
    rng = random.Random(s.seed * 1000 + rank)
    count = 0
    while True:
        rows: dict[int, list[Row]] = {}
        for _ in range(pool):
            short = count < s.early_steps or rng.random() < s.short_share
            row = draw_row(tok, rng, s.foreign_share, short)
            rows.setdefault(-(-len(row.ids) // PAD) * PAD, []).append(row)
        made = []
        for length, group in rows.items():
            per = max(1, s.tokens_per_step // length)
            made += [(length, group[i : i + per]) for i in range(0, len(group), per)]
        rng.shuffle(made)
        count += len(made)
        for length, group in made:
            yield collate(group, length)

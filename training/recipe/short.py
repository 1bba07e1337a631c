"""Rows for the style adapter: every answer ends after its first sentence.

``python -m training.recipe.short --base engine/nano --out DIR``
"""

from __future__ import annotations

import argparse
import random
import re
from dataclasses import replace
from pathlib import Path

import torch
from tokenizers import Tokenizer

from training.corpus import dialogue
from training.recipe.rows import FOREIGN, Decoded, save, start_of
from training.rows import Row, render

_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`/~])")


def first_sentence(answer: str) -> str:
    """Up to the first full stop that a new sentence follows."""
    return _END.split(answer, maxsplit=1)[0]


def draw(tok: Tokenizer, seed: int, count: int) -> list[Row]:
    """Conversations of one or two turns with short answers only."""
    rng = random.Random(f"short {seed}")
    out = []
    for _ in range(count):
        system, drawn = dialogue.draw(rng, 2 if rng.random() < 0.1 else 1, FOREIGN)
        out.append(render(tok, system, [replace(turn, answer=first_sentence(turn.answer)) for turn in drawn]))
    return out


def written(row: Row) -> Decoded:
    """The row with the written answer as the only opinion."""
    start = start_of(row)
    top = torch.tensor(row.ids[start:], dtype=torch.int16)[:, None]
    return Decoded(row.ids, start, top, torch.ones(top.shape, dtype=torch.half))


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m training.recipe.short", description=__doc__)
    parser.add_argument("--base", type=Path, default=Path("engine/nano"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=63)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    tok = Tokenizer.from_file(str(args.base / "tokenizer.json"))
    save([written(row) for row in draw(tok, args.seed, args.rows)], args.out / "rows-00.pt")


if __name__ == "__main__":
    main()

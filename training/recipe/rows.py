"""What heads and adapters learn from: conversations of the training corpus whose last answer is decoded.

Drawn in shards with a seed each, with the teacher's opinion on every id of that answer, so that a shard is made
once and used by every later step.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor

from training.config import NanoConfig
from training.corpus import dialogue
from training.model.nano import logits
from training.rows import Row, render

PAD = 32
FOREIGN, CUT, LONGER, FIRST_IDS = 0.34, 0.35, 0.08, (5, 12)
"""Shares of foreign questions, of answers cut after their first ids, of longer conversations."""
TOP = 16
"""Ids of the teacher's opinion that are kept; together they have nearly all of the probability."""


@dataclass(frozen=True)
class Decoded:
    """One row. ``start``: length of the prompt, so ``ids[start:]`` are decoded one by one.

    top, opinion ``[len(ids) - start, TOP]``: the teacher's likeliest ids for each of them, and their probabilities.
    """

    ids: list[int]
    start: int
    top: Tensor
    opinion: Tensor


@dataclass(frozen=True)
class DecodedBatch:
    """ids ``[B,T]`` (T a multiple of 32), start and end ``[B]``, and the opinions of all rows one after another."""

    ids: Tensor
    start: Tensor
    end: Tensor
    top: Tensor
    opinion: Tensor

    @property
    def asked(self) -> Tensor:
        """``[B,T]``: positions whose next id belongs to the answer."""
        at = torch.arange(self.ids.shape[1])
        return (at >= self.start[:, None] - 1) & (at < self.end[:, None] - 1)


def start_of(row: Row) -> int:
    """Where the last answer begins."""
    at = len(row.ids)
    while row.wanted[at - 1]:
        at -= 1
    return at


def draw(
    tok: Tokenizer, seed: int, count: int, question: str = "", asked: str = "", foreign: float = FOREIGN
) -> list[Row]:
    """Rows without held-out phrasings (``training/corpus/dialogue.py`` sees to that); with ``question`` all of them
    ask that one, with ``asked`` in these words (letters only, lower case)."""
    rng = random.Random(f"recipe {seed} {question} {asked}".strip())
    out: list[Row] = []
    while len(out) < count:
        turns = rng.randint(2, 3) if rng.random() < LONGER else 1
        system, drawn = dialogue.draw(rng, turns, foreign)
        cut = rng.randint(*FIRST_IDS) if rng.random() < CUT and not question else None
        words = "".join(filter(str.isalpha, drawn[-1].ask)).lower()
        if question in ("", drawn[-1].id) and asked in ("", words):
            out.append(render(tok, system, drawn, cut))
    return out


def judged(c: NanoConfig, teacher: dict[str, Tensor], rows: list[Row], per: int = 16) -> list[Decoded]:
    """The rows with the opinion of ``teacher`` (full precision, full width); where it would say something else than
    the written answer, that answer is the opinion, so that its mistakes are not passed on."""
    out = []
    rows = sorted(rows, key=lambda row: len(row.ids))
    for at in range(0, len(rows), per):
        part = rows[at : at + per]
        ids = torch.zeros(len(part), max(len(r.ids) for r in part), dtype=torch.long)
        for i, row in enumerate(part):
            ids[i, : len(row.ids)] = torch.tensor(row.ids)
        with torch.no_grad():
            found = logits(c, teacher, ids).softmax(-1)
        for i, row in enumerate(part):
            start = start_of(row)
            opinion, top = found[i, start - 1 : len(row.ids) - 1].topk(TOP, -1)
            written = torch.tensor(row.ids[start:])
            wrong = top[:, 0] != written
            top[wrong, 0], opinion[wrong] = written[wrong], torch.eye(TOP)[0]
            out.append(Decoded(row.ids, start, top.to(torch.int16), opinion.half()))
    return out


def save(rows: list[Decoded], path: Path) -> None:
    """A shard."""
    torch.save([(r.ids, r.start, r.top, r.opinion) for r in rows], path)


def load(directory: Path, shards: range | None = None) -> list[Decoded]:
    """The rows of the shards in ``directory``, of all or of those numbered."""
    paths = sorted(directory.glob("rows-*.pt"))
    chosen = paths if shards is None else [p for p in paths if int(p.stem[5:]) in shards]
    return [Decoded(*row) for path in chosen for row in torch.load(path, weights_only=True)]


def collate(group: list[Decoded]) -> DecodedBatch:
    """A batch of rows of similar length."""
    length = -(-max(len(r.ids) for r in group) // PAD) * PAD
    ids = torch.zeros(len(group), length, dtype=torch.long)
    for i, row in enumerate(group):
        ids[i, : len(row.ids)] = torch.tensor(row.ids)
    return DecodedBatch(
        ids,
        torch.tensor([r.start for r in group]),
        torch.tensor([len(r.ids) for r in group]),
        torch.cat([r.top for r in group]).long(),
        torch.cat([r.opinion for r in group]).float(),
    )


def batches(rows: list[Decoded], seed: int, tokens: int = 1024) -> Iterator[DecodedBatch]:
    """Endless batches of about so many tokens, a new order in every pass."""
    rng = random.Random(seed)
    while True:
        kinds: dict[int, list[Decoded]] = {}
        for row in rng.sample(rows, len(rows)):
            kinds.setdefault(-(-len(row.ids) // PAD) * PAD, []).append(row)
        made = []
        for length, group in kinds.items():
            per = max(1, tokens // length)
            made += [group[i : i + per] for i in range(0, len(group), per)]
        rng.shuffle(made)
        yield from (collate(group) for group in made)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m training.recipe.rows", description=__doc__)
    parser.add_argument("--teacher", type=Path, required=True, help="directory of the training run behind the base")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--shards", type=int, default=8, help="number of shards; those that exist are kept")
    parser.add_argument("--rows", type=int, default=500, help="rows of a shard")
    parser.add_argument("--question", default="", help="rows that all ask this one (an id of the corpus)")
    parser.add_argument("--asked", default="", help="with these words only: hi, say")
    parser.add_argument("--foreign", type=float, default=FOREIGN, help="share of questions from elsewhere")
    parser.add_argument("--first", type=int, default=0, help="number of the first shard")
    parser.add_argument("--seed", type=int, default=60)
    args = parser.parse_args()
    torch.set_num_threads(1)
    args.out.mkdir(parents=True, exist_ok=True)
    tok = Tokenizer.from_file(str(args.teacher / "tokenizer.json"))
    teacher = load_file(args.teacher / "final.safetensors")
    for shard in range(args.first, args.first + args.shards):
        path = args.out / f"rows-{shard:02}.pt"
        if not path.exists():
            rows = draw(tok, args.seed + shard, args.rows, args.question, args.asked, args.foreign)
            save(judged(NanoConfig(), teacher, rows), path)
            print(path, flush=True)


if __name__ == "__main__":
    main()

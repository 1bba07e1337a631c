"""The adapters: learned from the teacher under the conditions they will run in.

``python -m training.recipe.distil --rows DIR --heads FILE --out DIR`` trains the recovery adapter: the base is int4
and frozen, K is halved, and decoded tokens run on what the heads predict. The loss is the cross entropy of the
teacher's opinion, mixed with that of the written answer. Meanwhile the heads keep learning, so that they know the
hidden states the adapter makes; every ``--plain-every``-th batch shows them the base without adapter as well.

``--short`` trains the style adapter instead, from ``--adapter``: the first sentence of every answer, then the end.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from training.recipe import heads as head_files
from training.recipe import lora
from training.recipe.base import HALF, shipped
from training.recipe.fit import HeadFitter, Memory
from training.recipe.forward import Seen, trunk, words
from training.recipe.heads import Heads
from training.recipe.rows import Decoded, DecodedBatch, batches, load


@dataclass(frozen=True)
class Settings:
    """Of one run. ``answers``: share of the written answer in the loss, the rest is the teacher's opinion."""

    steps: int
    rate: float
    head_rate: float
    answers: float
    plain_every: int
    seed: int
    warmup: int = 20

    def along(self, step: int) -> float:
        """Factor of the learning rate: warm up, then a cosine down to 5 %."""
        if step < self.warmup:
            return (step + 1) / self.warmup
        share = (step - self.warmup) / max(1, self.steps - self.warmup)
        return 0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * share))


def loss(found: Tensor, batch: DecodedBatch, answers: float) -> Tensor:
    """found ``[N,V]`` log-probabilities at the positions asked -> mean cross entropy."""
    wanted = batch.ids[:, 1:][batch.asked[:, :-1]]
    written = -found.gather(-1, wanted[:, None]).mean()
    if answers == 1:
        return written
    taught = -(found.gather(-1, batch.top) * batch.opinion).sum(-1).mean()
    return answers * written + (1 - answers) * taught


def run(s: Settings, p: dict[str, Tensor], adapter: lora.Adapter, heads: Heads, rows: list[Decoded], out: Path) -> None:
    """Trains ``adapter`` and, unless their rate is 0, ``heads``; writes both and log.jsonl into ``out``."""
    learned = Heads({n: w.requires_grad_() for n, w in heads.p.items()}, heads.owners)
    fitter = HeadFitter(learned, Memory(HALF), s.head_rate, s.seed)
    opt = torch.optim.AdamW(list(adapter.values()), lr=s.rate, weight_decay=0.0, betas=(0.9, 0.97))
    stream, began, sums = batches(rows, s.seed), time.perf_counter(), [0.0, 0.0, 0]
    with (out / "log.jsonl").open("w", encoding="utf-8") as log:
        for step in range(s.steps):
            batch = next(stream)
            opt.param_groups[0]["lr"] = s.rate * s.along(step)
            fitter.opt.param_groups[0]["lr"] = s.head_rate * s.along(step)
            seen = Seen()
            hidden = trunk(HALF, lora.applied(p, adapter), batch.ids, batch.start, learned, seen)
            found = loss(words(p, hidden, batch.asked), batch, s.answers)
            found.backward()
            torch.nn.utils.clip_grad_norm_(list(adapter.values()), 1.0)
            opt.step()
            opt.zero_grad()
            sums[0] += float(found.detach())
            sums[1] += _teach_heads(s, step, p, batch, seen, fitter)
            sums[2] += 1
            if (step + 1) % 20 == 0 or step + 1 == s.steps:
                minutes = round((time.perf_counter() - began) / 60, 2)
                line = {"step": step + 1, "loss": sums[0] / sums[2], "agreement": sums[1] / sums[2], "minutes": minutes}
                print(text := json.dumps(line), flush=True)
                log.write(text + "\n")
                sums = [0.0, 0.0, 0]
            if (step + 1) % 60 == 0 or step + 1 == s.steps:
                source = f"training.recipe.distil, seed {s.seed}, {step + 1} of {s.steps} steps"
                lora.write(HALF, adapter, out / "lora.safetensors", source)
                if s.head_rate:
                    head_files.write(HALF, learned, out / "heads.safetensors", source)


def _teach_heads(
    s: Settings, step: int, p: dict[str, Tensor], batch: DecodedBatch, seen: Seen, fitter: HeadFitter
) -> float:
    """Two updates of the heads from what was seen lately; returns their agreement."""
    if not s.head_rate:
        return 0.0
    fitter.memory.add(fitter.heads.owners, seen, batch)
    if step % s.plain_every == 0:
        with torch.no_grad():
            trunk(HALF, p, batch.ids, batch.start, fitter.heads, plain := Seen())
        fitter.memory.add(fitter.heads.owners, plain, batch)
    return (fitter.step()[1] + fitter.step()[1]) / 2


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m training.recipe.distil", description=__doc__)
    parser.add_argument("--base", type=Path, default=Path("engine/nano"))
    parser.add_argument("--rows", type=Path, required=True, help="directory of the shards")
    parser.add_argument("--heads", type=Path, required=True)
    parser.add_argument("--adapter", type=Path, help="start from this one")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--head-rate", type=float, default=5e-4, help="0: the heads stay as they are")
    parser.add_argument("--answers", type=float, default=0.3)
    parser.add_argument("--plain-every", type=int, default=3)
    parser.add_argument("--tokens", type=int, default=1024)
    parser.add_argument("--seed", type=int, default=62)
    args = parser.parse_args()
    torch.set_num_threads(1)
    args.out.mkdir(parents=True, exist_ok=True)
    s = Settings(args.steps, args.rate, args.head_rate, args.answers, args.plain_every, args.seed)
    adapter = lora.read(args.adapter) if args.adapter else lora.initialise(HALF, args.seed)
    adapter = {name: w.requires_grad_() for name, w in adapter.items()}
    run(s, shipped(args.base), adapter, head_files.read(args.heads), load(args.rows), args.out)


if __name__ == "__main__":
    main()

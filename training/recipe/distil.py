"""The adapters: learned from the teacher under the conditions they will run in.

``python -m training.recipe.distil --rows DIR --heads FILE --out DIR`` trains the recovery adapter: the base is int4
and frozen, K is halved, and decoded tokens run on what the heads predict. The loss is the cross entropy of the
teacher's opinion, mixed with that of the written answer. Meanwhile the heads keep learning, so that they know the
hidden states the adapter makes; every ``--plain-every``-th batch shows them the base without adapter as well.

The style adapter is trained the same way from ``--adapter`` on other rows (``training.recipe.short``), with
``--answers 1 --head-rate 0``: only the written answers count, and the heads stay as they are.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import multiprocessing

from training.helper import PATIENCE
from training.model.params import Params
from training.recipe import heads as head_files
from training.recipe import lora
from training.recipe.base import HALF, shipped
from training.recipe.fit import HeadFitter, Memory
from training.recipe.forward import Seen, trunk
from training.recipe.heads import Heads
from training.recipe.pair import Pair, Work, gradient, helper
from training.recipe.rows import DecodedBatch, batches, load

LOGGED, STORED = 10, 20
"""Steps between lines of the log, and between stored files."""


@dataclass(frozen=True)
class Rates:
    """Learning rates of adapter and heads over the run; heads see the plain base in every so-manieth step."""

    steps: int
    adapter: float
    heads: float
    plain_every: int
    warmup: int = 10

    def along(self, step: int) -> float:
        """Factor of the rates: warm up, then a cosine down to 5 %."""
        if step < self.warmup:
            return (step + 1) / self.warmup
        share = (step - self.warmup) / max(1, self.steps - self.warmup)
        return 0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * share))


def run(rates: Rates, work: Work, adapter: lora.Adapter, heads: Heads, out: Path) -> None:
    """Trains ``adapter`` and, unless their rate is 0, ``heads``; writes both and log.jsonl into ``out``."""
    context = multiprocessing.get_context("spawn")
    pair = Pair(adapter, heads, context)
    other = context.Process(target=helper, args=(pair, work), daemon=True)
    other.start()
    p = shipped(work.base)
    adapter = {name: w.requires_grad_() for name, w in pair.adapter.items()}
    learned = Heads({name: w.requires_grad_() for name, w in pair.heads.p.items()}, heads.owners)
    fitter = HeadFitter(learned, Memory(HALF), rates.heads, work.seed)
    opt = torch.optim.AdamW(list(adapter.values()), lr=rates.adapter, weight_decay=0.0, betas=(0.9, 0.97))
    stream, log = batches(load(work.rows), work.seed, work.tokens), _Log(out / "log.jsonl")
    for step in range(work.steps):
        batch = next(stream)
        opt.param_groups[0]["lr"] = rates.adapter * rates.along(step)
        fitter.opt.param_groups[0]["lr"] = rates.heads * rates.along(step)
        pair.begin.wait(PATIENCE)
        found, seen = gradient(p, adapter, learned, batch, work.answers)
        pair.end.wait(PATIENCE)
        for name, w in adapter.items():
            w.grad.add_(pair.grads[name]).mul_(0.5)
        torch.nn.utils.clip_grad_norm_(list(adapter.values()), 1.0)
        opt.step()
        opt.zero_grad()
        agreement = _teach_heads(rates, step, p, batch, seen, fitter)
        log.step(step, (found + float(pair.loss)) / 2, agreement)
        if (step + 1) % STORED == 0 or step + 1 == work.steps:
            source = f"training.recipe.distil, seed {work.seed}, {step + 1} of {work.steps} steps"
            lora.write(HALF, adapter, out / "lora.safetensors", source)
            head_files.write(HALF, learned, out / "heads.safetensors", source)
    other.join()


def _teach_heads(rates: Rates, step: int, p: Params, batch: DecodedBatch, seen: Seen, fitter: HeadFitter) -> float:
    """Two updates of the heads from what was seen lately; returns their agreement."""
    if not rates.heads:
        return 0.0
    fitter.memory.add(fitter.heads.owners, seen, batch)
    if step % rates.plain_every == 0:
        with torch.no_grad():
            trunk(HALF, p, batch.ids, batch.start, fitter.heads, plain := Seen())
        fitter.memory.add(fitter.heads.owners, plain, batch)
    return (fitter.step()[1] + fitter.step()[1]) / 2


class _Log:
    """Means over some steps, printed and written."""

    def __init__(self, path: Path) -> None:
        self._file, self._began = path.open("w", encoding="utf-8"), time.perf_counter()
        self._found: list[tuple[float, float]] = []

    def step(self, step: int, loss: float, agreement: float) -> None:
        """One step's figures."""
        self._found.append((loss, agreement))
        if (step + 1) % LOGGED == 0:
            means = [round(sum(values) / len(values), 4) for values in zip(*self._found, strict=True)]
            minutes = round((time.perf_counter() - self._began) / 60, 2)
            line = json.dumps({"step": step + 1, "loss": means[0], "agreement": means[1], "minutes": minutes})
            print(line, flush=True)
            self._file.write(line + "\n")
            self._file.flush()
            self._found = []


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m training.recipe.distil", description=__doc__)
    parser.add_argument("--base", type=Path, default=Path("engine/nano"))
    parser.add_argument("--rows", type=Path, required=True, help="directory of the shards")
    parser.add_argument("--heads", type=Path, required=True)
    parser.add_argument("--adapter", type=Path, help="start from this one")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--head-rate", type=float, default=1e-3, help="0: the heads stay as they are")
    parser.add_argument("--answers", type=float, default=0.3, help="share of the written answer in the loss")
    parser.add_argument("--plain-every", type=int, default=4)
    parser.add_argument("--tokens", type=int, default=768, help="of a batch; each of the two processes does one")
    parser.add_argument("--seed", type=int, default=62)
    args = parser.parse_args()
    torch.set_num_threads(1)
    args.out.mkdir(parents=True, exist_ok=True)
    work = Work(args.base, args.rows, args.seed, args.answers, args.steps, args.tokens)
    adapter = lora.read(args.adapter) if args.adapter else lora.initialise(HALF, args.seed)
    rates = Rates(args.steps, args.rate, args.head_rate, args.plain_every)
    run(rates, work, adapter, head_files.read(args.heads), args.out)


if __name__ == "__main__":
    main()

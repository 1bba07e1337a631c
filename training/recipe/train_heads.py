"""Heads from nothing: captures the base's own routes at half width, then learns from them.

``python -m training.recipe.train_heads --rows DIR --out FILE``
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import torch

from training.recipe import heads as published
from training.recipe.base import HALF, owners, shipped
from training.recipe.fit import HeadFitter, Memory
from training.recipe.forward import Seen, trunk
from training.recipe.rows import batches, load


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m training.recipe.train_heads", description=__doc__)
    parser.add_argument("--base", type=Path, default=Path("engine/nano"))
    parser.add_argument("--rows", type=Path, required=True, help="directory of the shards")
    parser.add_argument("--shards", type=int, default=3, help="how many of them to capture")
    parser.add_argument("--steps", type=int, default=900)
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--seed", type=int, default=61)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    torch.set_num_threads(1)
    began = time.perf_counter()
    p, rows = shipped(args.base), load(args.rows, range(args.shards))
    made, memory = published.initialise(HALF, owners(HALF), args.seed), Memory(HALF)
    stream = batches(rows, args.seed)
    positions = sum(len(row.ids) - row.start - 1 for row in rows)
    while memory.size < min(positions, memory.most) * 0.98:
        batch = next(stream)
        with torch.no_grad():
            trunk(HALF, p, batch.ids, batch.start, None, seen := Seen())
        memory.add(made.owners, seen, batch)
    print(f"{memory.size} positions captured, {(time.perf_counter() - began) / 60:.1f} minutes", flush=True)
    fitter = HeadFitter(made, memory, args.rate, args.seed)
    for step in range(args.steps):
        fitter.opt.param_groups[0]["lr"] = args.rate * (1 - step / args.steps)
        found = fitter.step()
        if (step + 1) % 100 == 0:
            minutes = (time.perf_counter() - began) / 60
            print(f"step {step + 1}: loss {found[0]:.3f}, agreement {found[1]:.1%}, {minutes:.1f} min", flush=True)
    published.write(HALF, made, args.out, f"training.recipe.train_heads, seed {args.seed}")


if __name__ == "__main__":
    main()

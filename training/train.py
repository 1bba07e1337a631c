"""Trains nano: ``python -m training.train --out DIR``. First full precision, then with int4 rounding.

``--after RUN`` continues an earlier run instead.
"""

from __future__ import annotations

import argparse
import shutil
import time
from dataclasses import replace
from pathlib import Path

import torch
from safetensors.torch import load_file

from training.config import NanoConfig, TrainSettings
from training.loop import run
from training.model.params import PREFIX, TOPIC, Params, initialise
from training.rows import topics
from training.tokenizer import save, train_tokenizer
from training.words import word_vectors

SPARE_ROWS = 10
"""Logit rows without an id, as the release has them."""


def start(c: NanoConfig, s: TrainSettings, out: Path) -> Params:
    """Tokenizer and start values, with learned word vectors."""
    tok = train_tokenizer(c.vocab - SPARE_ROWS, s.seed)
    save(tok, out)
    p = initialise(c, s.seed)
    p[f"{PREFIX}.embed_tokens.weight"] = word_vectors(c, tok, s.seed)
    return p


def carry_on(before: Path, out: Path) -> Params:
    """Tokenizer and final weights of an earlier run."""
    shutil.copyfile(before / "tokenizer.json", out / "tokenizer.json")
    weights: Params = load_file(before / "final.safetensors")
    return weights


def settings(args: argparse.Namespace) -> TrainSettings:
    """The settings asked for. A continued run sees other batches, more of them foreign, and has no topic head."""
    s = replace(
        TrainSettings(), seed=args.seed, steps=args.steps, stop=args.stop, quantised_steps=args.quantised_steps
    )
    if args.after:
        return replace(
            s,
            seed=s.seed + 1,
            early_steps=0,
            short_share=args.short_share,
            topic=0.0,
            lr=args.lr,
            foreign_share=0.4,
        )
    return replace(s, early_steps=args.early_steps)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=TrainSettings.seed)
    parser.add_argument("--steps", type=int, default=TrainSettings.steps)
    parser.add_argument("--stop", type=int, default=TrainSettings.stop, help="steps to do, 0: all")
    parser.add_argument("--early-steps", type=int, default=TrainSettings.early_steps)
    parser.add_argument("--quantised-steps", type=int, default=TrainSettings.quantised_steps)
    parser.add_argument("--after", type=Path, help="continue this run")
    parser.add_argument("--lr", type=float, default=5e-4, help="highest learning rate of a continued run")
    parser.add_argument("--short-share", type=float, default=0.8, help="short rows in a continued run")
    parser.add_argument("--every", type=int, default=200, help="steps between measurements")
    args = parser.parse_args()
    torch.set_num_threads(1)
    began = time.perf_counter()
    args.out.mkdir(parents=True, exist_ok=True)
    c, s = NanoConfig(), settings(args)
    p = carry_on(args.after, args.out) if args.after else start(c, s, args.out)
    p[TOPIC] = torch.zeros(len(topics()), c.hidden)
    run(c, s, p, args.out, args.every)
    print(f"done in {(time.perf_counter() - began) / 60:.1f} minutes")


if __name__ == "__main__":
    main()

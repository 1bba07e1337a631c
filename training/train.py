"""Trains nano: ``python -m training.train --out DIR``. First full precision, then with int4 rounding."""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import asdict, replace
from pathlib import Path

import torch
from safetensors.torch import save_file

from training.check import measure
from training.config import NanoConfig, TrainSettings
from training.model.nano import loss
from training.model.params import PREFIX, TOPIC, Params, initialise, is_matrix
from training.quantise import rounded
from training.rows import batches, topics
from training.runlog import RunLog
from training.tokenizer import save, train_tokenizer

SPARE_ROWS = 10


def rate(s: TrainSettings, step: int) -> float:
    """Learning rate: warm up, then a cosine down to 3 % over the whole run."""
    if step < s.warmup:
        return s.lr * (step + 1) / s.warmup
    along = (step - s.warmup) / max(1, s.steps - s.warmup)
    return s.lr * (0.03 + 0.97 * 0.5 * (1 + math.cos(math.pi * along)))


def optimiser(p: Params, s: TrainSettings) -> torch.optim.AdamW:
    """AdamW. Embeddings learn faster (each is seen rarely); vectors are not pulled towards zero."""
    fast = {f"{PREFIX}.embed_tokens.weight"}
    matrices = [w for n, w in p.items() if is_matrix(n, w) and n not in fast]
    vectors = [w for n, w in p.items() if not is_matrix(n, w)]
    groups = [
        {"params": matrices, "weight_decay": s.weight_decay, "scale": 1.0},
        {"params": vectors, "weight_decay": 0.0, "scale": 1.0},
        {"params": [p[n] for n in fast], "weight_decay": 0.0, "scale": s.embedding_rate},
    ]
    return torch.optim.AdamW(groups, lr=s.lr, betas=(0.9, 0.97), fused=True)


def store(p: Params, path: Path) -> None:
    """Full-precision weights."""
    save_file({n: w.detach().contiguous() for n, w in p.items() if n != TOPIC}, path)


def run(c: NanoConfig, s: TrainSettings, out: Path, every: int) -> None:
    """The whole training; writes tokenizer.json, teacher.safetensors, final.safetensors and log.jsonl."""
    out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(s.seed)
    tok = train_tokenizer(c.vocab - SPARE_ROWS, s.seed)
    save(tok, out)
    p = initialise(c, s.seed)
    p[TOPIC] = torch.zeros(len(topics()), c.hidden, requires_grad=True)
    opt = optimiser(p, s)
    log = RunLog(out / "log.jsonl", {"config": asdict(c), "settings": asdict(s)})
    stream = batches(tok, s.seed, s.tokens_per_step, s.early_steps)
    rounding_from = s.steps - s.quantised_steps
    for step in range(s.steps):
        if step == rounding_from:
            store(p, out / "teacher.safetensors")
        ids, wanted, topic = next(stream)
        for group in opt.param_groups:
            group["lr"] = rate(s, step) * group["scale"]
        seen = rounded(p) if step >= rounding_from else p
        answer, named, balance = loss(c, seen, ids, wanted, topic)
        (answer + s.topic * named + s.balance * balance).backward()
        torch.nn.utils.clip_grad_norm_(list(p.values()), s.clip)
        opt.step()
        opt.zero_grad()
        log.step(step, {"loss": answer, "topic": named, "balance": balance}, ids.numel())
        if (step + 1) % every == 0 or step + 1 == s.steps:
            with torch.no_grad():
                shipped = rounded(p)
                log.measured(step, measure(c, p, tok), measure(c, shipped, tok))
            store(p, out / "final.safetensors")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=TrainSettings.seed)
    parser.add_argument("--steps", type=int, default=TrainSettings.steps)
    parser.add_argument("--early-steps", type=int, default=TrainSettings.early_steps)
    parser.add_argument("--quantised-steps", type=int, default=TrainSettings.quantised_steps)
    parser.add_argument("--every", type=int, default=200, help="steps between measurements")
    args = parser.parse_args()
    torch.set_num_threads(2)
    start = time.perf_counter()
    settings = TrainSettings()
    settings = replace(settings, **{n: getattr(args, n) for n in ("seed", "steps", "early_steps", "quantised_steps")})
    run(NanoConfig(), settings, args.out, args.every)
    print(f"done in {(time.perf_counter() - start) / 60:.1f} minutes")


if __name__ == "__main__":
    main()

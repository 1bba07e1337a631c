"""The training loop: two processes, one optimiser, measurements and checkpoints."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer
from torch import multiprocessing

from training.check import measure
from training.config import NanoConfig, TrainSettings
from training.helper import PARTS, PATIENCE, Share, gradients, helper
from training.model.params import PREFIX, TOPIC, Params, is_matrix
from training.quantise import rounded
from training.rows import batches
from training.runlog import RunLog


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


def run(c: NanoConfig, s: TrainSettings, begin: Params, out: Path, every: int) -> None:
    """Trains from ``begin`` with the tokenizer in ``out``; writes teacher and final weights and log.jsonl."""
    tok = Tokenizer.from_file(str(out / "tokenizer.json"))
    context = multiprocessing.get_context("spawn")
    share = Share(begin, context)
    other = context.Process(target=helper, args=(c, s, share, out / "tokenizer.json"), daemon=True)
    other.start()
    p = {name: w.requires_grad_() for name, w in share.p.items()}
    opt = optimiser(p, s)
    log = RunLog(out / "log.jsonl", {"config": asdict(c), "settings": asdict(s)})
    stream = batches(tok, s, 0)
    for step in range(s.done):
        if step == s.steps - s.quantised_steps:
            store(p, out / "teacher.safetensors")
        batch = next(stream)
        for group in opt.param_groups:
            group["lr"] = rate(s, step) * group["scale"]
        share.begin.wait(PATIENCE)
        parts = gradients(c, s, p, batch, step)
        share.end.wait(PATIENCE)
        for name, w in p.items():
            w.grad.add_(share.grads[name]).mul_(0.5)
        torch.nn.utils.clip_grad_norm_(list(p.values()), s.clip)
        opt.step()
        opt.zero_grad()
        means = dict(zip(PARTS, (parts + share.parts) / 2, strict=True))
        log.step(step, means, batch[0].numel() + int(share.tokens))
        if (step + 1) % every == 0 or step + 1 == s.done:
            with torch.no_grad():
                log.measured(step, measure(c, p, tok), measure(c, rounded(p), tok))
            store(p, out / "final.safetensors")
    other.join()

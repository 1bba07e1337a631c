"""The peer: mlx-lm on the same checkpoint, in a process of its own (`python -m engine.bench.peer`).

mlx-lm is in the `test` extra only. It loads the whole checkpoint, so it needs the memory for it.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m engine.bench.peer", description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--experts-per-token", type=int, required=True)
    parser.add_argument("--float32", action="store_true", help="activations and scales in float32")
    parser.add_argument("--blas", action="store_true", help="let it use the BLAS this project loads")
    parser.add_argument("--prompt", type=int, default=0, help="tokens of the measured prefill")
    parser.add_argument("--steps", type=int, default=0, help="measured decode steps")
    options = parser.parse_args(argv)
    json.dump(measure(options), sys.stdout)
    return 0


def measure(options: argparse.Namespace) -> dict[str, float]:
    """Median seconds of a decode step and seconds of a prefill, after one warm-up of each."""
    if options.blas:
        import engine.kernels  # noqa: F401  # gives MLX its fast matrix product
    import mlx.core as mx
    from mlx_lm.models.cache import make_prompt_cache
    from mlx_lm.utils import load_model

    text = json.loads((options.model / "config.json").read_text())["text_config"]
    text["num_experts_per_tok"] = options.experts_per_token
    model, _ = load_model(options.model, model_config={"text_config": text})
    if options.float32:
        model.set_dtype(mx.float32)
    mx.eval(model.parameters())
    found: dict[str, float] = {}

    def run(ids: list[int], cache: list[Any]) -> float:
        start = time.perf_counter()
        mx.eval(model(mx.array([ids]), cache=cache)[:, -1], [layer.state for layer in cache])
        return time.perf_counter() - start

    if options.steps:
        cache = make_prompt_cache(model)
        run([11, 12, 13, 14], cache)
        times = [run([20 + step], cache) for step in range(options.steps + 1)][1:]
        found["decode_s"] = sorted(times)[len(times) // 2]
    if options.prompt:
        run([11, 12, 13, 14], make_prompt_cache(model))
        found["prefill_s"] = run(prompt_ids(options.prompt), make_prompt_cache(model))
    found["peak"] = float(mx.get_peak_memory())
    return found


def prompt_ids(count: int) -> list[int]:
    """A fixed, varied prompt inside every vocabulary used here."""
    return [(7 * index * index + 13 * index + 5) % 500 for index in range(count)]


if __name__ == "__main__":
    sys.exit(main())

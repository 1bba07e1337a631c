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

    model = _load(options.model, options.experts_per_token)
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


def _load(path: Path, k: int) -> Any:
    """mlx-lm's model with `k` experts per token. The 8B's published names are mapped to those mlx-lm reads."""
    from mlx_lm.utils import load_model

    config = json.loads((path / "config.json").read_text())
    if "text_config" in config:
        text = config["text_config"] | {"num_experts_per_tok": k}
        return load_model(path, model_config={"text_config": text})[0]
    import mlx.core as mx
    from mlx_lm.models.bailing_moe_v3 import Model, ModelArgs

    class Published(Model):  # type: ignore[misc]
        def sanitize(self, weights: dict[str, mx.array]) -> Any:
            """Experts are called switch_mlp there, kv_b is in plain floats, and training left nothing behind."""
            named = {n.replace(".mlp.experts.", ".mlp.switch_mlp."): w for n, w in weights.items()}
            for name in [name for name in named if ".pregate." in name]:
                del named[name]
            for module in [name.removesuffix(".scales") for name in named if name.endswith(".kv_b_proj.scales")]:
                packed, scales, biases = (named.pop(f"{module}.{part}") for part in ("weight", "scales", "biases"))
                named[f"{module}.weight"] = mx.dequantize(packed, scales, biases, group_size=64, bits=4)
            return super().sanitize(named)

    changes = {"model_type": "bailing_hybrid", "num_experts_per_tok": k}
    return load_model(path, model_config=changes, get_model_classes=lambda config: (Published, ModelArgs))[0]


def prompt_ids(count: int) -> list[int]:
    """A fixed, varied prompt inside every vocabulary used here."""
    return [(7 * index * index + 13 * index + 5) % 500 for index in range(count)]


if __name__ == "__main__":
    sys.exit(main())

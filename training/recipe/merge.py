"""The experiment the recipe warns of: an adapter added to the base, and the sum rounded to int4 again.

``python -m training.recipe.merge --adapter FILE --to DIR`` writes a checkpoint without adapter; heads, if the base
has some, are copied, and say what K is.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from training.quantise import bits_of, pack, quantise
from training.recipe import lora
from training.recipe.base import shipped

BASE_FILES = (
    "config.json",
    "generation_config.json",
    "model.safetensors",
    "tokenizer.json",
    "tokenizer_config.json",
    "chat_template.jinja",
)


def merge(base: Path, adapter: lora.Adapter, to: Path) -> None:
    """The base's files in ``to``, with the adapter inside the matrices it belongs to; other tensors as they are."""
    to.mkdir(parents=True, exist_ok=True)
    for name in BASE_FILES:
        shutil.copyfile(base / name, to / name)
    for heads in base.glob("prerouter_*.safetensors"):
        shutil.copyfile(heads, to / heads.name)
    tensors = load_file(base / "model.safetensors")
    for name, w in lora.applied(plain := shipped(base), adapter).items():
        if w is plain[name]:
            continue
        codes, scale, bias = quantise(w, bits_of(name))
        module = name.removesuffix(".weight")
        tensors[name] = pack(codes, bits_of(name))
        tensors[f"{module}.scales"], tensors[f"{module}.biases"] = scale.bfloat16(), bias.bfloat16()
    save_file({n: t.contiguous() for n, t in tensors.items()}, to / "model.safetensors", metadata={"format": "mlx"})


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m training.recipe.merge", description=__doc__)
    parser.add_argument("--base", type=Path, default=Path("engine/nano"))
    parser.add_argument("--adapter", type=Path, required=True)
    parser.add_argument("--to", type=Path, required=True)
    args = parser.parse_args()
    with torch.no_grad():
        merge(args.base, lora.read(args.adapter), args.to)


if __name__ == "__main__":
    main()

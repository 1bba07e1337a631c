"""Writes the shipped checkpoint: ``python -m training.export --run DIR --to engine/nano``."""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from training.config import NanoConfig
from training.describe import config_json, generation_json, tokenizer_json
from training.model.params import Params, is_matrix
from training.quantise import bits_of, pack, quantise

TEMPLATE = Path(__file__).with_name("chat_template.jinja")


def tensors(p: Params) -> dict[str, torch.Tensor]:
    """Published names, shapes and types: packed codes, scales and biases; BF16 for the rest."""
    out: dict[str, torch.Tensor] = {}
    for name, w in p.items():
        if not is_matrix(name, w):
            out[name] = w.detach().bfloat16()
            continue
        bits = bits_of(name)
        codes, scale, bias = quantise(w.detach(), bits)
        base = name.removesuffix(".weight")
        out[name] = pack(codes, bits)
        out[f"{base}.scales"] = scale.bfloat16()
        out[f"{base}.biases"] = bias.bfloat16()
    return {n: t.contiguous() for n, t in out.items()}


def export(c: NanoConfig, p: Params, tokenizer: Path, to: Path) -> int:
    """Writes every file of the checkpoint except its card; returns their total size in bytes."""
    to.mkdir(parents=True, exist_ok=True)
    save_file(tensors(p), to / "model.safetensors", metadata={"format": "mlx"})
    shutil.copyfile(tokenizer, to / "tokenizer.json")
    shutil.copyfile(TEMPLATE, to / "chat_template.jinja")
    added = json.loads(tokenizer.read_text(encoding="utf-8"))["added_tokens"]
    ids = {str(t["content"]): int(t["id"]) for t in added}
    for name, value in (
        ("config.json", config_json(c, ids)),
        ("generation_config.json", generation_json(ids)),
        ("tokenizer_config.json", tokenizer_json(c, ids)),
    ):
        (to / name).write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
    return sum(f.stat().st_size for f in to.iterdir() if f.is_file())


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, required=True, help="directory of a training run")
    parser.add_argument("--weights", default="final.safetensors")
    parser.add_argument("--to", type=Path, default=Path("engine/nano"))
    args = parser.parse_args()
    size = export(NanoConfig(), load_file(args.run / args.weights), args.run / "tokenizer.json", args.to)
    print(f"{size:,} bytes in {args.to}")


if __name__ == "__main__":
    main()

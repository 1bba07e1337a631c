"""Puts heads and adapters beside the base, under the names they are shipped by.

``python -m training.recipe.ship --recovery runs/recovery --short runs/short``; the first adapter by name is the
default, and the recovery adapter comes first.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from engine.checkpoint.adapter_match import require_heads, require_lora
from engine.checkpoint.checkpoint import open_checkpoint
from engine.checkpoint.prerouter import read_prerouter
from engine.checkpoint.read_lora import read_lora

HEADS, RECOVERY, SHORT = (
    "prerouter_nano.safetensors",
    "lora_nano_recovery.safetensors",
    "lora_nano_short.safetensors",
)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m training.recipe.ship", description=__doc__)
    parser.add_argument("--recovery", type=Path, required=True, help="run that trained the heads and the adapter")
    parser.add_argument("--short", type=Path, required=True, help="run that trained the style adapter")
    parser.add_argument("--to", type=Path, default=Path("engine/nano"))
    args = parser.parse_args()
    shutil.copyfile(args.recovery / "heads.safetensors", args.to / HEADS)
    shutil.copyfile(args.recovery / "lora.safetensors", args.to / RECOVERY)
    shutil.copyfile(args.short / "lora.safetensors", args.to / SHORT)
    checkpoint = open_checkpoint(args.to)
    require_heads(read_prerouter(args.to / HEADS), checkpoint)
    for name in (RECOVERY, SHORT):
        require_lora(read_lora(args.to / name), checkpoint)
    size = sum(f.stat().st_size for f in args.to.iterdir() if f.is_file())
    print(f"K = {checkpoint.experts_per_token}, {size:,} bytes in {args.to}")


if __name__ == "__main__":
    main()

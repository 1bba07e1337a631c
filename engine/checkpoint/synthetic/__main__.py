"""Command line of the synthetic writer."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from engine.checkpoint.synthetic.presets import REAL_35B, full, sliced, tiny
from engine.checkpoint.synthetic.presets_8b import REAL_8B, full_8b, sliced_8b, tiny_8b
from engine.checkpoint.synthetic.spec import SyntheticSpec
from engine.checkpoint.synthetic.write import write_synthetic
from engine.errors import EngineError


def main(arguments: list[str] | None = None) -> int:
    """Write what the arguments ask for; the exit code is the error's."""
    options = _parser().parse_args(arguments)
    started = time.monotonic()
    try:
        write_synthetic(options.directory, _spec(options), options.seed, _Bar().show)
    except EngineError as error:
        print(f"\n{error}", file=sys.stderr)
        return error.exit_code
    print(f"\n{options.directory}: written in {time.monotonic() - started:.1f} s", file=sys.stderr)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m engine.checkpoint.synthetic",
        description="Write a checkpoint in the published format with random weights.",
    )
    parser.add_argument(
        "scale",
        choices=[scale + tier for tier in ("", "-8b") for scale in ("tiny", "slice", "full")],
        help="~1 MB · real dimensions, few layers · 19.5 GB, or 4.5 GB of the 8B",
    )
    parser.add_argument("directory", type=Path, help="must not exist")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--layers", type=int, default=4, help="of the slice (default 4)")
    parser.add_argument("--real-vocab", action="store_true", help="in the slice, instead of 4,096 tokens")
    return parser


def _spec(options: argparse.Namespace) -> SyntheticSpec:
    scale, _, tier = options.scale.partition("-")
    if scale == "tiny":
        return tiny_8b() if tier else tiny()
    if scale == "full":
        return full_8b() if tier else full()
    if tier:
        return sliced_8b(options.layers, REAL_8B.vocab_size if options.real_vocab else 4096)
    return sliced(options.layers, REAL_35B.vocab_size if options.real_vocab else 4096)


class _Bar:
    """Progress on stderr, at most twice a second."""

    def __init__(self) -> None:
        self.last = 0.0

    def show(self, done: int, total: int) -> None:
        if time.monotonic() - self.last > 0.5 or done == total:
            self.last = time.monotonic()
            print(f"\r{done / 1e6:,.0f} of {total / 1e6:,.0f} MB", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())

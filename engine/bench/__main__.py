"""`python -m engine.bench [NAME ...]`: ratios against a peer in the same run.

slice     4 layers with the real 35B dimensions, every expert in the arena, against mlx-lm (the `test` extra)
full      the whole 35B dimensions from disk, within the default budget
slice-8b  the same with the 8B's dimensions
full-8b   the whole 8B dimensions from disk: a context of 3,300 tokens, and a cold prompt of 27
plan      what the memory and speed plan expects of the whole 35B here, against what it achieves
plan-8b   the same of the 8B
nano      the built-in model, headless
switch    exchanging the slice's adapter, against loading the slice
switch-full  the same with the whole 35B dimensions

Checkpoints are synthetic, in the published format; `--dir` keeps them for the next run (slice 2.4 GB, full 20 GB,
slice-8b 0.6 GB, full-8b 4.5 GB).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from engine.bench.expected import expected_against_achieved
from engine.bench.table import Result, as_json, as_text, at_least, at_most, exactly
from engine.checkpoint.synthetic import (
    REAL_8B,
    REAL_35B,
    SyntheticSpec,
    full,
    full_8b,
    sliced,
    sliced_8b,
    write_synthetic,
)
from engine.errors import EngineError
from engine.plan import GiB
from engine.protocol import Routing

SLICE_LAYERS = 4
STEPS = 9
PROMPT = 256
ROUTINGS: tuple[Routing, ...] = ("predicted", "exact")


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="edge0-tui bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help=f"any of {', '.join(BENCHES)} (default: slice)")
    parser.add_argument("--dir", type=Path, help="where synthetic checkpoints are kept and looked for")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    options = parser.parse_args(argv)
    unknown = [name for name in options.names if name not in BENCHES]
    if unknown:
        parser.error(f"no measurement is called {unknown[0]!r}; there are {', '.join(BENCHES)}")
    with tempfile.TemporaryDirectory(prefix="edge0-bench-", dir=options.dir) as scratch:
        folder: Path = options.dir or Path(scratch)
        try:
            results = [result for name in options.names or ["slice"] for result in BENCHES[name](folder)]
        except EngineError as error:
            print(f"edge0-tui bench: {error}", file=sys.stderr)
            return error.exit_code
    print(as_json(results) if options.json else as_text(results))
    return 0


def bench_slice(folder: Path) -> list[Result]:
    """Decode and prefill on a slice, against mlx-lm in float32 and as it loads by default."""
    return _against_peer(
        _checkpoint(folder / f"slice-{SLICE_LAYERS}", sliced(SLICE_LAYERS, REAL_35B.vocab_size)), k=4
    )


def bench_slice_8b(folder: Path) -> list[Result]:
    """The same on the 8B's dimensions, of whose 4 layers 3 have experts."""
    return _against_peer(
        _checkpoint(folder / f"slice-8b-{SLICE_LAYERS}", sliced_8b(SLICE_LAYERS, REAL_8B.vocab_size)), k=8
    )


def _against_peer(path: Path, k: int) -> list[Result]:
    shared = [str(path), "--experts-per-token", str(k), "--steps", str(STEPS)]
    _say("this engine: decode and prefill")
    ours = _run("engine.bench.ours", str(path), "--everything", "--steps", str(STEPS), "--repeat", "2")
    long = _run(
        "engine.bench.ours", str(path), "--everything", "--prompt", str(PROMPT), "--steps", "1", "--repeat", "2"
    )
    _say("mlx-lm in float32: decode and prefill (minutes)")
    single = _run("engine.bench.peer", *shared, "--float32", "--prompt", str(PROMPT))
    _say("mlx-lm as it loads by default: decode")
    default = _run("engine.bench.peer", *shared)
    note = f"{SLICE_LAYERS} layers, K={k}, every expert in the arena"
    return [
        at_least(
            "decode, against mlx-lm in float32", ours["decode_s"], single["decode_s"], 2, "s/token", note=note
        ),
        at_least(
            "decode, against mlx-lm by default", ours["decode_s"], default["decode_s"], 10, "s/token", note=note
        ),
        at_least(
            f"prefill of {PROMPT} tokens, against mlx-lm in float32",
            long["prefill_s"],
            single["prefill_s"],
            10,
            "s",
            note=note,
        ),
    ]


def bench_full(folder: Path) -> list[Result]:
    """A 64-token prompt and 16 tokens at the whole 35B's dimensions within the default budget."""
    path = _checkpoint(folder / "Edge0-35B-synthetic", full())
    found = _run(
        "engine.bench.ours", str(path), "--routing", "predicted", "--prompt", "64", "--steps", "16", "--drop-cache"
    )
    experts = found["experts"]
    width = 4 if found["kv_bytes_per_token"] > 20_480 else 2
    traffic = (
        f"prefill {found['prefill_s']:.1f} s, decode {found['decode_s'] * 1e3:.0f} ms/token, "
        f"{experts['hits']} hits, {experts['misses']} misses, {found['bandwidth'] / 1e9:.2f} GB/s"
    )
    return [
        at_most("allocator peak", found["peak"] / GiB, 2.6, "GiB", note=traffic),
        at_most("footprint over the plan's budget", found["footprint"] / found["budget"], 1.02),
        exactly("dropped experts", experts["dropped"], 0),
        at_most("read amplification", found["read_amplification"], 1.02),
        exactly(
            "KV growth per token",
            found["kv_bytes_per_token"],
            20_480 * width / 2,
            "B",
            note=f"{width * 8} bits a number on this device; 20,480 B in 16 bits",
        ),
    ]


def bench_full_8b(folder: Path) -> list[Result]:
    """Memory over a long context, and what a short cold prompt reads, at the whole 8B's dimensions."""
    path = _checkpoint(folder / "Edge0-8B-synthetic", full_8b())
    context = ("--prompt", "3300", "--steps", "16", "--context", "3328", "--least")
    long = _run("engine.bench.ours", str(path), "--routing", "predicted", *context)
    cold = _run("engine.bench.ours", str(path), "--prompt", "27", "--steps", "1", "--drop-cache", "--count-experts")
    experts = long["experts"]
    width = 4 if long["kv_bytes_per_token"] > 6_912 else 2
    speed = f"prefill {long['prefill_s']:.1f} s, decode {long['decode_s'] * 1e3:.0f} ms/token"
    routed = f"{cold['distinct_experts']} experts, prefill {cold['prefill_s']:.1f} s"
    return [
        at_most("allocator peak, 3,300 tokens + 16", long["peak"] / GiB, 1.0, "GiB", note=speed),
        at_most("footprint over the plan's budget", long["footprint"] / long["budget"], 1.02),
        exactly("dropped experts", experts["dropped"], 0),
        exactly(
            "KV bytes per token",
            long["kv_bytes_per_token"],
            6_912 * width / 2,
            "B",
            note=f"{width * 8} bits a number on this device; 6,912 B in 16 bits",
        ),
        at_most("bytes of a 27-token prompt over its experts'", cold["read_over_distinct"], 1.05, note=routed),
    ]


def bench_plan(folder: Path) -> list[Result]:
    """The plan's expected tokens a second at the whole 35B's dimensions, both routings."""
    return _expected(_checkpoint(folder / "Edge0-35B-synthetic", full()))


def bench_plan_8b(folder: Path) -> list[Result]:
    """The same at the whole 8B's dimensions."""
    return _expected(_checkpoint(folder / "Edge0-8B-synthetic", full_8b()))


def _expected(path: Path) -> list[Result]:
    def achieved(*arguments: str) -> Any:
        return _run("engine.bench.ours", *arguments)

    results: list[Result] = []
    for routing in ROUTINGS:
        _say(f"{path.name}: measuring disk and layers, then a reply with {routing} routing")
        results += expected_against_achieved(path, routing, achieved)
    return results


def bench_nano(folder: Path) -> list[Result]:
    """The built-in model, headless: figures without a peer."""
    found = _run("engine.bench.ours", "nano", "--prompt", "40", "--steps", "64", "--repeat", "3")
    rate = 1 / found["decode_s"]
    return [
        Result("nano decode", rate, "–", True, unit="tok/s", note=f"prefill {found['prefill_s'] * 1e3:.0f} ms"),
        at_most("nano footprint", found["footprint"] / GiB, 1.0, "GiB"),
    ]


def bench_switch(folder: Path) -> list[Result]:
    """Exchanging the adapter on the slice."""
    spec = sliced(SLICE_LAYERS, REAL_35B.vocab_size)
    return _switching("4 layers", _checkpoint(folder / f"slice-{SLICE_LAYERS}", spec))


def bench_switch_full(folder: Path) -> list[Result]:
    """The same with all 40 layers."""
    return _switching("the whole 35B", _checkpoint(folder / "Edge0-35B-synthetic", full()))


def _switching(what: str, path: Path) -> list[Result]:
    found = _run("engine.bench.switch", str(path))
    share = found["switch_s"] / found["load_s"]
    note = (
        f"load {found['load_s']:.2f} s (files cached), switch {found['switch_s'] * 1e3:.0f} ms, "
        f"{found['applied']} modules of {found['adapter_bytes'] / 1e6:.0f} MB in memory"
    )
    return [at_most(f"switching an adapter over a full load, {what}", share, 0.1, note=note)]


BENCHES: dict[str, Callable[[Path], list[Result]]] = {
    "slice": bench_slice,
    "full": bench_full,
    "slice-8b": bench_slice_8b,
    "full-8b": bench_full_8b,
    "plan": bench_plan,
    "plan-8b": bench_plan_8b,
    "nano": bench_nano,
    "switch": bench_switch,
    "switch-full": bench_switch_full,
}


def _checkpoint(path: Path, spec: SyntheticSpec) -> Path:
    if not path.exists():
        _say(f"writing {path.name}")
        write_synthetic(path, spec)
    return path


def _run(module: str, *arguments: str) -> Any:
    """The JSON a measuring process prints; each side has a process of its own, so neither warms the other."""
    done = subprocess.run([sys.executable, "-P", "-m", module, *arguments], stdout=subprocess.PIPE, check=False)
    if done.returncode:
        raise EngineError(f"{module} failed with exit code {done.returncode}.", "Its messages are above.")
    return json.loads(done.stdout)


def _say(text: str) -> None:
    print(f"… {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())

"""Switching an adapter against loading its base anew, in a process of its own (`python -m engine.bench.switch`)."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m engine.bench.switch", description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--repeat", type=int, default=5, help="switches to the adapter, of which the median counts")
    options = parser.parse_args(argv)
    json.dump(measure(options.model, options.repeat), sys.stdout)
    return 0


def measure(model: Path, repeat: int) -> dict[str, Any]:
    """Seconds of a full load and of a switch from no adapter to the checkpoint's own.

    The load measured is the second one: kernels are compiled and the files in the page cache, so the comparison is
    with loading at its best.
    """
    from engine.protocol import Load, ModelInfo
    from engine.session import Session

    session = Session()
    request = Load("load", str(model))

    def load(adapter: str) -> ModelInfo:
        return session.load(replace(request, adapter=adapter), lambda *_: None, lambda: False)

    load("")
    session.close()
    whole = load("")
    if whole.adapter_report is None:
        sys.exit(f"{model} has no adapter to switch to")
    seconds = []
    for _ in range(repeat):
        load("none")
        seconds.append(load(whole.adapter).load_seconds)
    report = load(whole.adapter).adapter_report
    assert report is not None
    return {
        "load_s": whole.base_seconds,
        "switch_s": statistics.median(seconds),
        "applied": report.applied,
        "adapter_bytes": next(item.bytes for item in whole.plan if item.name == "adapter"),
    }


if __name__ == "__main__":
    sys.exit(main())

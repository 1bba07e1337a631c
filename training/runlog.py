"""The log of a training run: one JSON object a line, and short lines on standard output."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from torch import Tensor


class RunLog:
    """Averages over steps and writes them."""

    def __init__(self, path: Path, head: dict[str, Any], every: int = 40) -> None:
        """``head`` is written first: what this run is."""
        self._file = path.open("w", encoding="utf-8")
        self._every = every
        self._start = time.perf_counter()
        self._sums: dict[str, float] = {}
        self._tokens = self._count = 0
        self._write(head)

    def _write(self, item: dict[str, Any]) -> None:
        self._file.write(json.dumps(item) + "\n")
        self._file.flush()
        print(json.dumps(item), flush=True)

    def step(self, step: int, parts: dict[str, Tensor], tokens: int) -> None:
        """Adds the parts of one step's loss."""
        for name, value in parts.items():
            self._sums[name] = self._sums.get(name, 0.0) + float(value.detach())
        self._tokens += tokens
        self._count += 1
        if self._count == self._every:
            minutes = (time.perf_counter() - self._start) / 60
            means = {name: round(value / self._count, 4) for name, value in self._sums.items()}
            self._write({"step": step + 1, **means, "tokens": self._tokens, "minutes": round(minutes, 2)})
            self._sums, self._count = {}, 0

    def measured(self, step: int, full: dict[str, float], shipped: dict[str, float]) -> None:
        """Shares of exact answers, in full precision and as shipped."""
        tables = ({k: round(v, 3) for k, v in t.items()} for t in (full, shipped))
        self._write({"step": step + 1, **dict(zip(("full", "int4"), tables, strict=True))})

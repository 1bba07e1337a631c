"""Writes a synthetic checkpoint: all or nothing, seeded, within the disk's free space."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path

from engine.checkpoint.expected import ExpectedTensor, expected_tensors
from engine.checkpoint.files import INDEX
from engine.checkpoint.synthetic.adapters import head_tensors, lora_tensors, write_adapters
from engine.checkpoint.synthetic.families import writer
from engine.checkpoint.synthetic.safetensors_out import Padding, Progress, write_file
from engine.checkpoint.synthetic.spec import SyntheticSpec
from engine.checkpoint.synthetic.texts import write_texts
from engine.checkpoint.synthetic.values import tensor_bytes
from engine.checkpoint.synthetic.words import Bytes, Randomness
from engine.errors import PlanError, UsageError

SPARE_BYTES = 256 << 20


def total_bytes(spec: SyntheticSpec) -> int:
    """Bytes of all tensors `spec` writes, headers and texts not counted."""
    return sum(t.nbytes for t in (*_base(spec), *lora_tensors(spec), *head_tensors(spec)))


def write_synthetic(
    path: Path, spec: SyntheticSpec, seed: int = 0, progress: Callable[[int, int], None] | None = None
) -> Path:
    """Write the checkpoint directory `path`, which must not exist, and return it.

    Same spec and seed → same bytes. `progress` is told (bytes written, bytes in all). The directory appears under
    its name only when complete. Raises UsageError when `path` exists, PlanError when the disk has too little room.
    """
    if path.exists():
        raise UsageError(f"{path} exists already.", "Remove it, or choose another directory.")
    path.parent.mkdir(parents=True, exist_ok=True)
    total = total_bytes(spec)
    free = shutil.disk_usage(path.parent).free
    if free < total + SPARE_BYTES:
        raise PlanError(
            f"{path.parent}: {total / 1e9:.1f} GB to write, {free / 1e9:.1f} GB free.", "Free some space."
        )
    unfinished = path.parent / f".{path.name}.unfinished-{os.getpid()}"
    unfinished.mkdir()
    try:
        _write_all(unfinished, spec, Randomness(seed), _counter(total, progress))
        unfinished.rename(path)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    return path


def _write_all(directory: Path, spec: SyntheticSpec, random: Randomness, progress: Progress) -> None:
    def content(tensor: ExpectedTensor) -> Iterator[Bytes]:
        return tensor_bytes(by_name[tensor.name], spec, random)

    tensors = _base(spec)
    by_name = {spec.published(tensor.name): tensor for tensor in tensors}
    named = [ExpectedTensor(name, t.dtype, t.shape, t.expert) for name, t in by_name.items()]
    weight_map: dict[str, str] = {}
    for number, shard in enumerate(_split(named, spec.shards), start=1):
        several = spec.shards > 1
        file = f"model-{number:05}-of-{spec.shards:05}.safetensors" if several else "model.safetensors"
        padding: Padding = "odd" if spec.odd_headers and not (several and number == 1) else "eight"
        write_file(directory / file, shard, content, {"format": "mlx"}, padding, progress)
        weight_map |= {tensor.name: file for tensor in shard}
    if spec.shards > 1:
        index = {"metadata": {"total_size": sum(t.nbytes for t in tensors)}, "weight_map": weight_map}
        (directory / INDEX).write_text(json.dumps(index, indent=4, sort_keys=True))
    write_texts(directory, spec)
    write_adapters(directory, spec, random, progress)


def _base(spec: SyntheticSpec) -> tuple[ExpectedTensor, ...]:
    """All tensors of the weights' files."""
    needed = expected_tensors(spec.model, spec.quant, spec.raw_layout)
    return (*needed, *writer(spec).leftovers(spec))


def _split(tensors: list[ExpectedTensor], shards: int) -> Iterator[list[ExpectedTensor]]:
    """Runs of about equal size, none empty."""
    share = sum(t.nbytes for t in tensors) / shards
    ends = list(accumulate(t.nbytes for t in tensors))
    cuts = [next(i for i, end in enumerate(ends) if end >= share * (n + 1) - 0.5) + 1 for n in range(shards)]
    for begin, end in zip([0, *cuts], cuts, strict=False):
        yield tensors[begin:end]


def _counter(total: int, progress: Callable[[int, int], None] | None) -> Progress:
    written = 0

    def count(nbytes: int) -> None:
        nonlocal written
        written += nbytes
        if progress is not None:
            progress(written, total)

    return count

"""Measuring what an outlook needs: the disk here, the layers in a process of their own. Takes seconds; blocks."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from engine.errors import EngineError
from engine.outlook import store
from engine.outlook.cold import cold_records
from engine.outlook.disk_probe import most_records, probe_disk
from engine.outlook.model import PlannedModel
from engine.outlook.types import ComputeSpeed, DiskSpeed, Machine
from engine.outlook.volume import volume_id

TIMEOUT = 180

Progress = Callable[[str], None]


def measure(
    machine: Machine,
    model: PlannedModel,
    name: str,
    folder: Path,
    *,
    again: bool = False,
    progress: Progress = lambda text: None,
) -> Machine:
    """`machine` with the speed of its volume and of the model's layers, both also kept in `folder`.

    `name` is the model as `engine.layer_probe` takes it: a directory, 35b or 8b. What was measured before is taken
    as it is unless `again`. Raises EngineError saying what cannot be measured.
    """
    disk, shape = machine.disk, model.facts(machine.activation_bytes).shape
    if disk is None or again:
        disk = measure_disk(machine.volume.path, model, progress)
        store.keep_disk(folder, volume_id(machine.volume.path), disk)
    computed = machine.computed
    if machine.compute(shape) is None or again:
        speed = measure_layers(name, progress)
        store.keep_compute(folder, speed)
        computed = (speed, *(other for other in computed if other.shape != speed.shape))
    return replace(machine, disk=disk, computed=computed)


def measure_disk(folder: Path, model: PlannedModel, progress: Progress = lambda text: None) -> DiskSpeed:
    """Of the volume of `folder`, with the checkpoint's own records when it lies there."""
    records = []
    files = model.checkpoint.files.shards
    if all(path.is_file() for path in files) and volume_id(files[0].parent) == volume_id(folder):
        records = cold_records(model.checkpoint.records, most_records(model.record))
    return probe_disk(folder, model.piece_bytes, records, progress=progress)


def measure_layers(name: str, progress: Progress = lambda text: None) -> ComputeSpeed:
    """In a process that ends afterwards, so that neither MLX nor its memory stays."""
    progress("measuring the kernels")
    command = [sys.executable, "-P", "-m", "engine.layer_probe", name]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=True)
        return store.compute_speed(json.loads(done.stdout))
    except subprocess.CalledProcessError as error:
        last = error.stderr.strip().splitlines() or [f"exit code {error.returncode}"]
        raise EngineError(f"The kernels cannot be measured: {last[-1]}") from None
    except (OSError, subprocess.TimeoutExpired, KeyError, TypeError, ValueError) as error:
        raise EngineError(f"The kernels cannot be measured: {error}") from error

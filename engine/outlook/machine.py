"""This machine, read now: a fraction of a second, for the watching of swap."""

from __future__ import annotations

import platform
from pathlib import Path

from engine import probe
from engine.outlook import chip, store
from engine.outlook.engine_facts import DeviceFacts, usual_device
from engine.outlook.swap import swapping
from engine.outlook.types import Machine
from engine.outlook.volume import volume_id, volume_of

WINDOW = 0.3


def this_machine(
    volume: Path, folder: Path, *, device: DeviceFacts | None = None, window: float = WINDOW
) -> Machine:
    """Facts, and what was measured before for the volume of `volume` and for models' layers (see `store`).

    `folder` is where measurements are kept. Without `device` the accelerator's working set stays unknown, and its
    kind is what an engine on this kind of system uses.
    """
    facts = device or usual_device()
    known = store.read(folder)
    return Machine(
        chip=chip.chip_name(),
        cores=chip.cores(),
        threads=chip.threads(),
        system=f"{platform.system()} {platform.release()} ({platform.machine()})",
        memory=probe.memory(),
        swapping=swapping(window),
        device=facts.device,
        activation_bytes=facts.activation_bytes,
        working_set=facts.working_set,
        volume=volume_of(volume),
        disk=known.disks.get(volume_id(volume)),
        computed=tuple(speed for speed in known.computed if speed.version == store.version()),
    )

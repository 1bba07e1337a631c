"""Facts to plan with: the published 35B and 8B on a processor, machines of any size."""

from __future__ import annotations

from pathlib import Path

from engine.outlook.types import ComputeSpeed, DiskSpeed, Machine, Swapping, Volume
from engine.plan import GiB, ModelFacts
from engine.probe import Memory

FACTS_35B = ModelFacts(
    name="35B",
    dense=1_389_394_176,
    record=1_769_472,
    moe_layers=40,
    experts=256,
    experts_per_token=4,
    cache_per_token=40_960,
    recurrent=65_863_680,
    adapter=84_664_320,
    heads=276_824_064,
    activations_per_token=262_144,
    max_context=262_144,
    predicted_layers=32,
    shape="35b",
)
COMPUTE = ComputeSpeed("35b", 0.6, 0.55, 0.05, 0.1, ((16, 3.0), (64, 10.0)), "cpu", "0", 0.0)
DISK = DiskSpeed(
    ((1, 0.3e9), (2, 0.5e9), (4, 0.8e9), (8, 1.0e9), (16, 1.1e9)), 3e9, 1e-9, 1_769_472, 9, 1, 0.0, "x"
)
QUIET = Swapping(0.0, 0.0, 0.0)


def machine(
    available: int = 16 * GiB,
    total: int = 24 * GiB,
    *,
    limit: int | None = None,
    swapping: Swapping | None = QUIET,
    working_set: int | None = None,
    free: int | None = 100 * GiB,
    disk: DiskSpeed | None = DISK,
    compute: ComputeSpeed | None = COMPUTE,
) -> Machine:
    """Two cores without an accelerator, measured, unless said otherwise."""
    return Machine(
        chip="a processor",
        cores=2,
        threads=2,
        system="Linux",
        memory=Memory(total, available, 0, limit),
        swapping=swapping,
        device="cpu",
        activation_bytes=4,
        working_set=working_set,
        volume=Volume(Path("/models"), free, 200 * GiB, "ext4"),
        disk=disk,
        computed=(compute,) if compute else (),
    )

"""Whether an adapter's numbers are numbers: infinities and NaN would spoil every reply. No MLX."""

from __future__ import annotations

import numpy as np

from engine.checkpoint.dtypes import from_bfloat16
from engine.checkpoint.faults import fault
from engine.checkpoint.headers import TensorInfo
from engine.checkpoint.lora import LoraFile
from engine.checkpoint.read_tensor import read_tensor


def require_finite(lora: LoraFile) -> None:
    """Read all factors. Raises CheckpointError naming the first tensor that holds anything but finite numbers."""
    for target in lora.targets.values():
        for info in (target.a, target.b):
            if not _finite(info):
                raise fault(info.path, "holds numbers that are not finite", tensor=info.name)


def _finite(info: TensorInfo) -> bool:
    values = read_tensor(info)
    return bool(np.isfinite(from_bfloat16(values) if info.dtype == "BF16" else values).all())

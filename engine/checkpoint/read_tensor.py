"""Copies one tensor out of its file into aligned memory, whatever its offset there."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from engine.checkpoint.dtypes import NUMPY
from engine.checkpoint.headers import TensorInfo
from engine.checkpoint.regular import read_range

ALIGNMENT = 64


def aligned_bytes(nbytes: int) -> npt.NDArray[np.uint8]:
    """Uninitialised uint8 [nbytes], its first byte on a multiple of 64."""
    block = np.empty(nbytes + ALIGNMENT, dtype=np.uint8)
    start = -block.ctypes.data % ALIGNMENT
    return block[start : start + nbytes]


def read_tensor(info: TensorInfo) -> npt.NDArray[Any]:
    """The tensor with its shape; BF16 comes as uint16 words (dtypes.NUMPY tells). Raises CheckpointError."""
    data = aligned_bytes(info.nbytes)
    read_range(info.path, info.offset, data.data, info.name)
    return data.view(NUMPY[info.dtype]).reshape(info.shape)

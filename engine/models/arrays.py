"""Stored tensors as MLX arrays, read straight into the array's own memory."""

from __future__ import annotations

import mlx.core as mx

from engine.checkpoint.headers import TensorInfo
from engine.checkpoint.regular import read_range

DTYPES: dict[str, tuple[mx.Dtype, mx.Dtype]] = {
    # stored as → (dtype of the buffer, dtype it is seen as): bfloat16 has no buffer view of its own
    "U32": (mx.uint32, mx.uint32),
    "BF16": (mx.uint16, mx.bfloat16),
    "F16": (mx.uint16, mx.float16),
    "F32": (mx.float32, mx.float32),
}


def read_array(info: TensorInfo) -> mx.array:
    """The tensor in its stored dtype. Data may start at any offset: bytes are copied, never mapped.

    Raises CheckpointError naming file and tensor when the bytes cannot be read.
    """
    buffer_dtype, dtype = DTYPES[info.dtype]
    array = mx.zeros(info.shape, dtype=buffer_dtype)
    mx.eval(array)
    view = memoryview(array).cast("B")  # type: ignore[arg-type]  # arrays support the buffer protocol
    read_range(info.path, info.offset, view, info.name)
    if dtype is buffer_dtype:
        return array
    seen = array.view(dtype)
    mx.eval(seen)
    return seen

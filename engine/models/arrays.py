"""Stored tensors as MLX arrays, read straight into the array's own memory."""

from __future__ import annotations

import os

import mlx.core as mx

from engine.checkpoint.headers import TensorInfo
from engine.errors import CheckpointError

READ_AT_ONCE = 64 * 1024 * 1024
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
    try:
        descriptor = os.open(info.path, os.O_RDONLY)
        try:
            _fill(descriptor, view, info)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise CheckpointError(f"{info.path}: {info.name} cannot be read: {error.strerror}.") from error
    if dtype is buffer_dtype:
        return array
    seen = array.view(dtype)
    mx.eval(seen)
    return seen


def _fill(descriptor: int, view: memoryview, info: TensorInfo) -> None:
    done = 0
    while done < info.nbytes:
        count = os.preadv(descriptor, [view[done : done + READ_AT_ONCE]], info.offset + done)
        if count == 0:
            raise CheckpointError(
                f"{info.path}: the file ends inside {info.name}.", "Verify the model or download it again."
            )
        done += count

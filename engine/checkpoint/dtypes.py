"""The element types of safetensors and how numpy holds them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

# Types numpy lacks (BF16, F8) are held as unsigned integers of the same width.
NUMPY: dict[str, npt.DTypeLike] = {
    "BOOL": np.bool_,
    "U8": np.uint8,
    "I8": np.int8,
    "F8_E4M3": np.uint8,
    "F8_E5M2": np.uint8,
    "F8_E8M0": np.uint8,
    "U16": np.uint16,
    "I16": np.int16,
    "F16": np.float16,
    "BF16": np.uint16,
    "U32": np.uint32,
    "I32": np.int32,
    "F32": np.float32,
    "U64": np.uint64,
    "I64": np.int64,
    "F64": np.float64,
    "C64": np.complex64,
}

ITEM_BYTES: dict[str, int] = {name: np.dtype(kind).itemsize for name, kind in NUMPY.items()}


def to_bfloat16(values: npt.NDArray[np.float32]) -> npt.NDArray[np.uint16]:
    """Finite float32 → bfloat16 words, rounded to nearest even."""
    words = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    rounded = words + np.uint32(0x7FFF) + ((words >> np.uint32(16)) & np.uint32(1))
    return (rounded >> np.uint32(16)).astype(np.uint16)


def from_bfloat16(words: npt.NDArray[np.uint16]) -> npt.NDArray[np.float32]:
    """bfloat16 words → float32, exact."""
    return (words.astype(np.uint32) << np.uint32(16)).view(np.float32)

"""Rows of a stored matrix, read from the file when they are asked for.

An embedding has one row per token of the vocabulary and a step uses one of them, so it need not be in memory.
"""

from __future__ import annotations

import os
import weakref

import mlx.core as mx
import numpy as np
import numpy.typing as npt

from engine.checkpoint.headers import TensorInfo
from engine.errors import CheckpointError
from engine.models.arrays import DTYPES


class Rows:
    """Rows of one tensor [rows, columns] in its stored dtype."""

    def __init__(self, info: TensorInfo) -> None:
        """Raises CheckpointError when the file cannot be opened."""
        self.info = info
        self.row_bytes = info.nbytes // info.shape[0]
        try:
            self._file = os.open(info.path, os.O_RDONLY)
        except OSError as error:
            raise CheckpointError(f"{info.path}: {info.name} cannot be read: {error.strerror}.") from error
        weakref.finalize(self, os.close, self._file)

    def read(self, indices: npt.NDArray[np.integer]) -> mx.array:
        """indices [N] → [N, columns]. Raises CheckpointError naming file and tensor when bytes are missing."""
        found = np.empty((len(indices), self.row_bytes), dtype=np.uint8)
        for place, index in enumerate(indices.tolist()):
            start = self.info.offset + index * self.row_bytes
            try:
                count = os.preadv(self._file, [found[place]], start)
            except OSError as error:
                raise self._fault(f"cannot be read: {error.strerror}") from error
            if count != self.row_bytes:
                raise self._fault("ends before its last row")
        buffer, dtype = DTYPES[self.info.dtype]
        values = mx.array(found.view(np.uint16 if buffer == mx.uint16 else np.uint32))
        return values if values.dtype == dtype else values.view(dtype)

    def _fault(self, what: str) -> CheckpointError:
        return CheckpointError(
            f"{self.info.path}: {self.info.name} {what}.", "Verify the model or download it again."
        )

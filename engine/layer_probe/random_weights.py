"""Weights of the right shapes and types whose numbers mean nothing."""

from __future__ import annotations

from collections.abc import Callable

import mlx.core as mx
import numpy as np
import numpy.typing as npt

from engine.checkpoint.expected import expected_tensors
from engine.checkpoint.model_config import ModelConfig
from engine.checkpoint.quant import QuantSpec
from engine.kernels.interface import Kernels
from engine.models.weights import Weights


class RandomWeights(Weights):
    """Reads nothing: every tensor the family expects, made up. Values are small, so that nothing overflows."""

    def __init__(self, config: ModelConfig, quant: QuantSpec, kernels: Kernels, raw_layout: bool) -> None:
        def of(module: str) -> tuple[int, int] | None:
            found = quant.of(module)
            return None if found is None else (found.group_size, found.bits)

        super().__init__({}, of, kernels, raw_layout=raw_layout, progress=lambda nbytes: None)
        self._expected = {t.name: t for t in expected_tensors(config, quant, raw_layout) if not t.expert}
        self._random = np.random.default_rng(1)

    def streamed_embedding(self, module: str) -> Callable[[npt.NDArray[np.int32]], mx.array]:
        """Held in memory here: there is no file."""
        return self.embedding(module)

    def _read(self, name: str) -> mx.array:
        tensor = self._expected[name]
        if tensor.dtype == "U32":
            return mx.array(self._random.integers(0, 1 << 32, tensor.shape, dtype=np.uint32))
        values = self._random.random(tensor.shape, dtype=np.float32) * np.float32(0.002) + np.float32(0.001)
        return mx.array(values).astype(mx.bfloat16)

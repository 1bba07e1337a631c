"""The dense weights of a checkpoint as the model's building blocks; experts stay on disk."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import mlx.core as mx
import numpy as np
import numpy.typing as npt

from engine.checkpoint.headers import TensorInfo
from engine.kernels.interface import Kernels
from engine.kernels.types import Quantized
from engine.models.arrays import read_array
from engine.models.linear import Adaptable, Linear
from engine.models.per_head import PerHead
from engine.models.rows import Rows


class Weights:
    """Reads modules by canonical name and remembers the projections it made, for adapters.

    quantisation: module → (group_size, bits), or None where a module is stored in plain floats.
    """

    def __init__(
        self,
        tensors: Mapping[str, TensorInfo],
        quantisation: Callable[[str], tuple[int, int] | None],
        kernels: Kernels,
        *,
        raw_layout: bool,
        progress: Callable[[int], None],
    ) -> None:
        self._tensors = tensors
        self._quantisation = quantisation
        self._kernels = kernels
        self._raw_layout = raw_layout
        self._progress = progress
        self._matrices: dict[str, Quantized | mx.array] = {}
        self.linears: dict[str, Adaptable] = {}
        self.nbytes = 0

    def linear(self, module: str) -> Linear:
        """The projection called `module`."""
        linear = Linear(self._kernels, self._matrix(module))
        self.linears[module] = linear
        return linear

    def per_head(self, module: str, heads: int, key_dim: int) -> PerHead:
        """The projection called `module`, split by heads and dequantised to the activations' dtype."""
        stored = self._matrix(module)
        matrix = dequantised(stored, self._kernels.activation_dtype) if isinstance(stored, Quantized) else stored
        self.nbytes += matrix.nbytes - stored.nbytes
        split = self.linears[module] = PerHead(matrix, heads, key_dim)
        return split

    def embedding(self, module: str) -> Callable[[npt.NDArray[np.int32]], mx.array]:
        """ids [T] → rows [T, hidden]."""
        matrix = self._matrices[module] = self._matrix(module)
        if isinstance(matrix, Quantized):
            return lambda ids: self._kernels.embed(ids, matrix)
        return lambda ids: matrix[mx.array(ids)]

    def streamed_embedding(self, module: str) -> Callable[[npt.NDArray[np.int32]], mx.array]:
        """`embedding`, whose rows stay in the file until a token needs them."""
        quantisation = self._quantisation(module)
        parts = ("weight",) if quantisation is None else ("weight", "scales", "biases")
        rows = [Rows(self._tensors[f"{module}.{part}"]) for part in parts]
        self._progress(sum(part.info.nbytes for part in rows))  # nothing of it is left to be waited for

        def embed(ids: npt.NDArray[np.int32]) -> mx.array:
            distinct, places = np.unique(ids, return_inverse=True)
            found = [part.read(distinct) for part in rows]
            if quantisation is None:
                return found[0].astype(self._kernels.activation_dtype)[mx.array(places)]
            scales, biases = (part.astype(mx.bfloat16) for part in found[1:])
            return self._kernels.embed(places.astype(np.int32), Quantized(found[0], scales, biases, *quantisation))

        return embed

    def tied_head(self, module: str) -> Linear:
        """The embedding's matrix, read before, used as the output projection."""
        return Linear(self._kernels, self._matrices[module])

    def norm(self, name: str, *, shifted: bool) -> mx.array:
        """A norm's weight; `shifted` ones are stored as w − 1 in the raw layout."""
        weight = self.vector(name, self._kernels.activation_dtype)
        return weight + 1 if shifted and self._raw_layout else weight

    def conv(self, name: str) -> mx.array:
        """A depthwise kernel as [C, taps], stored as [C, taps, 1], or as [C, 1, taps] in the raw layout."""
        weight = self.vector(name, self._kernels.activation_dtype)
        return weight[:, 0, :] if weight.shape[1] == 1 else weight[:, :, 0]

    def vector(self, name: str, dtype: mx.Dtype) -> mx.array:
        """A small tensor in the dtype asked for."""
        return self._evaluated(self._read(name).astype(dtype))

    def _matrix(self, module: str) -> Quantized | mx.array:
        quantisation = self._quantisation(module)
        if quantisation is None:
            plain = self._read(f"{module}.weight")
            return self._evaluated(plain.astype(self._kernels.activation_dtype))
        group_size, bits = quantisation
        parts = [self._read(f"{module}.{part}") for part in ("weight", "scales", "biases")]
        weight, scales, biases = parts[0], *(part.astype(mx.bfloat16) for part in parts[1:])
        quantized = Quantized(weight, scales, biases, group_size, bits)
        mx.eval(scales, biases)
        self.nbytes += quantized.nbytes
        return quantized

    def _evaluated(self, array: mx.array) -> mx.array:
        mx.eval(array)
        self.nbytes += array.nbytes
        return array

    def _read(self, name: str) -> mx.array:
        info = self._tensors[name]
        array = read_array(info)
        self._progress(info.nbytes)
        return array


def dequantised(w: Quantized, dtype: mx.Dtype) -> mx.array:
    """The matrix in plain numbers, computed in float32 and rounded once."""
    scales, biases = w.scales.astype(mx.float32), w.biases.astype(mx.float32)
    return mx.dequantize(w.weight, scales, biases, group_size=w.group_size, bits=w.bits).astype(dtype)

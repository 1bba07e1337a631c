"""Quantised products and the delta recurrence: everything that depends on the device.

Importing this package gives MLX its fast matrix product (`blas`); the compiler for the CPU kernels is only loaded
by `get_kernels`.
"""

from engine.kernels import blas
from engine.kernels.interface import Indices, Kernels
from engine.kernels.select import describe, get_kernels
from engine.kernels.types import ExpertArrays, Quantized

__all__ = ["ExpertArrays", "Indices", "Kernels", "Quantized", "describe", "get_kernels"]

blas.install()

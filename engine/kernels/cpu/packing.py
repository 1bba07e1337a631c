"""The packings that have compiled products."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from engine.kernels.cpu.compiled import compile_callback
from engine.kernels.cpu.emit import vector_shape
from engine.kernels.cpu.product import ARGUMENTS, emit_product

FORMATS = frozenset((bits, group_size) for bits in (4, 8) for group_size in (32, 64, 128))


@dataclass(frozen=True)
class Packing:
    """bits and group size, the lanes of its vectors, and the address of its product function."""

    bits: int
    group_size: int
    lanes: int
    product: int


@cache
def packing(bits: int, group_size: int) -> Packing:
    """Compiled (or loaded) on first use; KeyError for a packing outside FORMATS."""
    if (bits, group_size) not in FORMATS:
        raise KeyError((bits, group_size))

    def run(y: int, x: int, sums: int, w: int, scales: int, biases: int, y_step: int, words: int, groups: int,
            y_row: int, rows: int, x_row: int, x_step: int, sums_step: int, w_row: int, first: int, last: int,
            ) -> None:  # fmt: skip
        emit_product(
            bits, group_size, (y, x, sums, w, scales, biases, y_step, words, groups, y_row, rows, x_row, x_step,
            sums_step, w_row, first, last),
        )  # fmt: skip

    address = compile_callback(run, f"void({', '.join(['i8'] * ARGUMENTS)})")
    return Packing(bits, group_size, vector_shape(bits, group_size)[1], address)

"""A block of a quantised product, cut into tiles."""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.extending import intrinsic

from engine.kernels.cpu.emit import I64, Emitter, vector_shape
from engine.kernels.cpu.tile import Operands, emit_tile


@intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
def product_block(  # type: ignore[no-untyped-def]
    typing_context, bits, group_size, y, y_row, rows, x, sums, x_row, w, scales, biases, matrix, first, last
):
    """y[y_row : y_row + rows, first : last] = x[x_row : x_row + rows] · w[matrix, first : last]ᵀ

    bits and group_size are literals. y float32 [·, out]; x float32 [·, in] and sums [·, groups · lanes] from
    `layout.prepare`; w uint32 [matrices, out, words]; scales and biases uint16 [matrices, out, groups].
    Nothing is checked: the callers are the kernels of this package.
    """
    n_bits = bits.literal_value
    per_word, lanes, vectors = vector_shape(n_bits, group_size.literal_value)
    i64 = types.int64
    signature = types.void(
        bits, group_size, y, i64, i64, x, sums, i64, w, scales, biases, i64, i64, i64
    )  # fmt: skip

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        arrays = {k: context.make_array(sig.args[k])(context, builder, args[k]) for k in (2, 5, 6, 8, 9, 10)}
        y_row, rows, x_row, matrix, first, last = (args[k] for k in (3, 4, 7, 11, 12, 13))

        def extent(index: int, axis: int) -> Any:
            return cgutils.unpack_tuple(builder, arrays[index].shape)[axis]

        out, words, groups = extent(8, 1), extent(8, 2), extent(9, 2)
        operands = Operands(
            y=arrays[2].data, y_step=extent(2, 1), w=arrays[8].data, w_step=words,
            scales=arrays[9].data, biases=arrays[10].data, groups=groups,
            x=arrays[5].data, x_step=extent(5, 1), sums=arrays[6].data, sums_step=extent(6, 1),
        )  # fmt: skip
        emit = Emitter(builder, n_bits, lanes)

        def constant(value: int) -> Any:
            return ir.Constant(I64, value)

        def sweep(row: Any, row_count: int, out_count: int, begin: Any, end: Any) -> None:
            with cgutils.for_range_slice(builder, begin, end, constant(out_count), I64) as (column, _):
                where = (builder.add(y_row, row), column, builder.add(x_row, row),
                         builder.add(builder.mul(matrix, out), column))  # fmt: skip
                emit_tile(emit, vectors, operands, (row_count, out_count), where)

        def aligned(begin: Any, end: Any, step: int) -> Any:
            count = builder.sub(end, begin)
            return builder.add(begin, builder.and_(count, constant(-step)))

        quads = aligned(constant(0), rows, 4)
        for row_count, wide, begin, end in ((4, 2, constant(0), quads), (1, 4, quads, rows)):
            middle = aligned(first, last, wide)
            with cgutils.for_range_slice(builder, begin, end, constant(row_count), I64) as (row, _):
                sweep(row, row_count, wide, first, middle)
                sweep(row, row_count, 1, middle, last)
        return context.get_dummy_value()

    return signature, generate

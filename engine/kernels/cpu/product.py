"""A block of a quantised product: one machine function per packing, which the kernels call by its address."""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.extending import intrinsic

from engine.kernels.cpu.emit import F32, I32, I64, Emitter, vector_shape
from engine.kernels.cpu.tile import Operands, emit_tile

_POINTERS = (F32, F32, F32, I32, ir.IntType(16), ir.IntType(16))  # y, x, sums, weight, scales, biases
_COUNTS = 11  # y_step, words, groups, y_row, rows, x_row, x_step, sums_step, w_row, first, last
ARGUMENTS = len(_POINTERS) + _COUNTS


@intrinsic(prefer_literal=True)
def emit_product(typing_context, bits, group_size, arguments):  # type: ignore[no-untyped-def]
    """The body of a product function; bits and group_size are literals, arguments a tuple of int64."""
    n_bits = bits.literal_value
    _, lanes, vectors = vector_shape(n_bits, group_size.literal_value)

    def generate(context: Any, b: Any, sig: Any, args: Any) -> Any:
        values = cgutils.unpack_tuple(b, args[2])
        pointers = [b.inttoptr(value, kind.as_pointer()) for value, kind in zip(values, _POINTERS, strict=False)]
        y, x, sums, w, scales, biases = pointers
        y_step, words, groups, y_row, rows, x_row, x_step, sums_step, w_row, first, last = values[len(pointers) :]
        operands = Operands(y, y_step, w, words, scales, biases, groups, x, x_step, sums, sums_step)
        emit = Emitter(b, n_bits, lanes)

        def constant(value: int) -> Any:
            return ir.Constant(I64, value)

        def whole(begin: Any, end: Any, step: int) -> Any:
            """The last multiple of `step` after `begin`."""
            return b.add(begin, b.and_(b.sub(end, begin), constant(-step)))

        def sweep(row: Any, row_count: int, out_count: int, begin: Any, end: Any) -> None:
            with cgutils.for_range_slice(b, begin, end, constant(out_count), I64) as (column, _):
                at = (b.add(y_row, row), column, b.add(x_row, row), b.add(w_row, column))
                emit_tile(emit, vectors, operands, (row_count, out_count), at)

        quads = whole(constant(0), rows, 4)
        for row_count, out_count, begin, end in ((4, 2, constant(0), quads), (1, 4, quads, rows)):
            middle = whole(first, last, out_count)
            with cgutils.for_range_slice(b, begin, end, constant(row_count), I64) as (row, _):
                sweep(row, row_count, out_count, first, middle)
                sweep(row, row_count, 1, middle, last)
        return context.get_dummy_value()

    return types.void(bits, group_size, types.containers.UniTuple(types.int64, ARGUMENTS)), generate


@intrinsic
def call_product(  # type: ignore[no-untyped-def]
    typing_context, address, y, y_row, rows, x, sums, x_row, w, scales, biases, matrix, first, last
):
    """y[y_row : y_row + rows, first : last] = x[x_row : x_row + rows] · w[matrix, first : last]ᵀ

    address: of a product function. y float32 [·, out]; x float32 [·, in] and sums [·, groups · lanes] from
    `layout.prepare`; w uint32 [matrices, out, words]; scales and biases uint16 [matrices, out, groups].
    Nothing is checked: the callers are the kernels of this package.
    """
    i64 = types.int64
    signature = types.void(i64, y, i64, i64, x, sums, i64, w, scales, biases, i64, i64, i64)

    def generate(context: Any, b: Any, sig: Any, args: Any) -> Any:
        arrays = {k: context.make_array(sig.args[k])(context, b, args[k]) for k in (1, 4, 5, 7, 8, 9)}

        def extent(index: int, axis: int) -> Any:
            return cgutils.unpack_tuple(b, arrays[index].shape)[axis]

        pointers = [b.ptrtoint(arrays[k].data, I64) for k in (1, 4, 5, 7, 8, 9)]
        y_row, rows, x_row, matrix, first, last = (args[k] for k in (2, 3, 6, 10, 11, 12))
        counts = [extent(1, 1), extent(7, 2), extent(8, 2), y_row, rows, x_row, extent(4, 1), extent(5, 1),
                  b.mul(matrix, extent(7, 1)), first, last]  # fmt: skip
        kind = ir.FunctionType(ir.VoidType(), [I64] * ARGUMENTS)
        b.call(b.inttoptr(args[0], kind.as_pointer()), pointers + counts)
        return context.get_dummy_value()

    return signature, generate

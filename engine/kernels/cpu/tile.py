"""The inner product everything quantised on the Linux CPU is made of, written as explicit vector code.

One call multiplies R rows of activations by O rows of packed weights. Per group of weights the unpacked
integers q are multiplied and summed first, then scaled once:

    y = Σ_groups  scale · Σ q·x  +  bias · Σ x          (w = q · scale + bias)

A vector lane is one packed word: shifting is avoided by masking value i of every word in place (which leaves
q · 2^(bits · i), exact in float32) against activations laid out and pre-scaled by `layout.prepare`. Every
(row, output) pair sees the same operations in the same order whatever R, O, the thread or the neighbours are,
so results are identical bit for bit however a product is cut up.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.extending import intrinsic

F32, I32, I64 = ir.FloatType(), ir.IntType(32), ir.IntType(64)


def vector_shape(bits: int, group_size: int) -> tuple[int, int, int]:
    """(values per word, lanes, vectors per group) of a packing."""
    per_word = 32 // bits
    words = group_size // per_word
    lanes = min(8, words)
    return per_word, lanes, words // lanes


class _Emitter:
    """Builds the vector instructions of one tile."""

    def __init__(self, builder: Any, lanes: int) -> None:
        self.builder = builder
        self.lanes = lanes
        self.floats = ir.VectorType(F32, lanes)
        self.ints = ir.VectorType(I32, lanes)
        self._fma = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(self.floats, [self.floats] * 3), f"llvm.fma.v{lanes}f32"
        )
        byte_pointer = ir.IntType(8).as_pointer()
        self._prefetch = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(ir.VoidType(), [byte_pointer, I32, I32, I32]), "llvm.prefetch.p0"
        )

    def at(self, base: Any, step: Any, times: int) -> Any:
        """base + step · times"""
        return self.builder.add(base, self.builder.mul(step, ir.Constant(I64, times)))

    def load(self, data: Any, offset: Any, kind: Any) -> Any:
        """A vector from an address that is only aligned to its element."""
        value = self.builder.load(self.builder.bitcast(self.builder.gep(data, [offset]), kind.as_pointer()))
        value.align = 4
        return value

    def splat_bfloat16(self, data: Any, offset: Any) -> Any:
        """One bfloat16 in every lane: its bits are the upper half of a float32."""
        b = self.builder
        half = b.load(b.gep(data, [offset]))
        value = b.bitcast(b.shl(b.zext(half, I32), ir.Constant(I32, 16)), F32)
        undefined = ir.Constant(self.floats, ir.Undefined)
        first = b.insert_element(undefined, value, ir.Constant(I32, 0))
        return b.shuffle_vector(first, undefined, ir.Constant(self.ints, [0] * self.lanes))

    def field(self, words: Any, index: int, bits: int) -> Any:
        """Value `index` of every word as float32, times 2^(bits · index) except for the topmost."""
        b = self.builder
        if index == 32 // bits - 1:  # in place it would be the sign
            return b.sitofp(b.lshr(words, ir.Constant(self.ints, [bits * index] * self.lanes)), self.floats)
        mask = ((1 << bits) - 1) << (bits * index)
        return b.sitofp(b.and_(words, ir.Constant(self.ints, [mask] * self.lanes)), self.floats)

    def fma(self, x: Any, y: Any, z: Any) -> Any:
        return self.builder.call(self._fma, [x, y, z])

    def prefetch(self, data: Any, offset: Any) -> None:
        """Asks for the weights of a later tile: several interleaved streams defeat the hardware's own guess."""
        address = self.builder.bitcast(self.builder.gep(data, [offset]), ir.IntType(8).as_pointer())
        self.builder.call(self._prefetch, [address, ir.Constant(I32, 0), ir.Constant(I32, 3), ir.Constant(I32, 1)])

    def total(self, vector: Any) -> Any:
        """The sum over lanes, by halves."""
        b, width = self.builder, self.lanes
        while width > 1:
            width //= 2
            undefined, kind = ir.Constant(vector.type, ir.Undefined), ir.VectorType(I32, width)
            low = b.shuffle_vector(vector, undefined, ir.Constant(kind, list(range(width))))
            high = b.shuffle_vector(vector, undefined, ir.Constant(kind, list(range(width, 2 * width))))
            vector = b.fadd(low, high)
        return b.extract_element(vector, ir.Constant(I32, 0))


@intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
def dot_tile(
    typing_context, bits, group_size, rows, outs, y, y_at, y_step, w, w_at, w_step, scales, biases, s_at, s_step,
    x, x_at, sums, sums_at, groups,
):  # type: ignore[no-untyped-def]  # fmt: skip
    """y[y_at + r · y_step + o] = x row r · w row o for r < rows, o < outs; bits … outs are literals.

    w uint32 and scales, biases uint16 are flat positions of row 0 and the step to the next row; x and sums are
    rows of `layout.prepare`'s output, contiguous; groups is the number of groups in a row.
    """
    n_bits, n_group, n_rows, n_outs = (t.literal_value for t in (bits, group_size, rows, outs))
    per_word, lanes, vectors = vector_shape(n_bits, n_group)
    words_per_group = n_group // per_word
    i64 = types.int64
    signature = types.void(
        bits, group_size, rows, outs, y, i64, i64, w, i64, i64, scales, biases, i64, i64, x, i64, sums, i64, i64
    )

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        emit = _Emitter(builder, lanes)
        y_p, w_p, s_p, b_p, x_p, sums_p = (
            context.make_array(sig.args[k])(context, builder, args[k]).data for k in (4, 7, 10, 11, 14, 16)
        )
        y_0, y_d, w_0, w_d, s_0, s_d, x_0, sums_0, count = (args[k] for k in (5, 6, 8, 9, 12, 13, 15, 17, 18))
        zero = ir.Constant(I64, 0)
        x_d, sums_d = emit.at(zero, count, n_group), emit.at(zero, count, lanes)
        pairs = [(r, o) for r in range(n_rows) for o in range(n_outs)]
        acc = {pair: cgutils.alloca_once(builder, emit.floats) for pair in pairs}
        for pair in pairs:
            builder.store(ir.Constant(emit.floats, [0.0] * lanes), acc[pair])
        w_rows = [emit.at(w_0, w_d, o) for o in range(n_outs)]
        s_rows = [emit.at(s_0, s_d, o) for o in range(n_outs)]
        x_rows = [emit.at(x_0, x_d, r) for r in range(n_rows)]
        sums_rows = [emit.at(sums_0, sums_d, r) for r in range(n_rows)]
        with cgutils.for_range(builder, count) as loop:
            g = loop.index
            for row in w_rows:
                here = emit.at(row, g, words_per_group)
                emit.prefetch(w_p, emit.at(here, w_d, n_outs))
            part: dict[tuple[int, int], Any] = {}
            for v in range(vectors):
                offset = emit.at(ir.Constant(I64, v * lanes), g, words_per_group)
                words = [emit.load(w_p, builder.add(row, offset), emit.ints) for row in w_rows]
                for i in range(per_word):
                    fields = [emit.field(word, i, n_bits) for word in words]
                    offset = emit.at(ir.Constant(I64, (v * per_word + i) * lanes), g, n_group)
                    for r in range(n_rows):
                        x_v = emit.load(x_p, builder.add(x_rows[r], offset), emit.floats)
                        for o in range(n_outs):
                            first = (r, o) not in part
                            part[r, o] = (
                                builder.fmul(fields[o], x_v) if first else emit.fma(fields[o], x_v, part[r, o])
                            )
            scale = [emit.splat_bfloat16(s_p, builder.add(row, g)) for row in s_rows]
            bias = [emit.splat_bfloat16(b_p, builder.add(row, g)) for row in s_rows]
            for r in range(n_rows):
                sum_v = emit.load(sums_p, emit.at(sums_rows[r], g, lanes), emit.floats)
                for o in range(n_outs):
                    total = emit.fma(scale[o], part[r, o], builder.load(acc[r, o]))
                    builder.store(emit.fma(bias[o], sum_v, total), acc[r, o])
        for r, o in pairs:
            at = builder.add(emit.at(y_0, y_d, r), ir.Constant(I64, o))
            builder.store(emit.total(builder.load(acc[r, o])), builder.gep(y_p, [at]))
        return context.get_dummy_value()

    return signature, generate

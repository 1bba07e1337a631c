"""The inner product everything quantised on the Linux CPU is made of.

A tile multiplies R rows of activations by O rows of packed weights. Per group of weights the unpacked integers
q are multiplied and summed first, then scaled once:

    y = Σ_groups  scale · Σ q·x  +  bias · Σ x          (w = q · scale + bias)

A vector lane is one packed word: shifting is avoided by masking value i of every word in place (which leaves
q · 2^(bits · i), exact in float32) against activations laid out and pre-scaled by `layout.prepare`. Every
(row, output) pair sees the same operations in the same order whatever R, O, the thread or the neighbours are,
so results are identical bit for bit however a product is cut up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils

from engine.kernels.cpu.emit import I64, Emitter


@dataclass(frozen=True)
class Operands:
    """Pointers, and int64 distances in elements between neighbouring rows."""

    y: Any
    y_step: Any
    w: Any
    w_step: Any
    scales: Any
    biases: Any
    groups: Any  # per row of weights; also the distance between rows of scales
    x: Any
    x_step: Any
    sums: Any
    sums_step: Any


def emit_tile(
    emit: Emitter, vectors: int, op: Operands, shape: tuple[int, int], at: tuple[Any, Any, Any, Any]
) -> None:
    """Emits y[y row + r, y column + o] = x[x row + r] · w[w row + o] for all r < R, o < O.

    shape (R, O); at: (y row, y column, x row, w row) as int64 values.
    """
    b = emit.builder
    y_row, y_column, x_row, w_row = at
    per_word = 32 // emit.bits
    pairs = [(r, o) for r in range(shape[0]) for o in range(shape[1])]
    total = {pair: cgutils.alloca_once(b, emit.floats) for pair in pairs}
    for pair in pairs:
        b.store(ir.Constant(emit.floats, [0.0] * emit.lanes), total[pair])
    w_rows = [emit.at(b.mul(w_row, op.w_step), op.w_step, o) for o in range(shape[1])]
    s_rows = [emit.at(b.mul(w_row, op.groups), op.groups, o) for o in range(shape[1])]
    x_rows = [emit.at(b.mul(x_row, op.x_step), op.x_step, r) for r in range(shape[0])]
    sums_rows = [emit.at(b.mul(x_row, op.sums_step), op.sums_step, r) for r in range(shape[0])]

    with cgutils.for_range(b, op.groups) as loop:
        g = loop.index
        for row in w_rows:
            here = emit.at(row, g, vectors * emit.lanes)
            emit.prefetch(op.w, emit.at(here, op.w_step, shape[1]))
        part: dict[tuple[int, int], Any] = {}
        for v in range(vectors):
            offset = emit.at(ir.Constant(I64, v * emit.lanes), g, vectors * emit.lanes)
            words = [emit.load(op.w, b.add(row, offset), emit.ints) for row in w_rows]
            for i in range(per_word):
                fields = [emit.field(word, i) for word in words]
                step = vectors * per_word * emit.lanes
                offset = emit.at(ir.Constant(I64, (v * per_word + i) * emit.lanes), g, step)
                for r, row in enumerate(x_rows):
                    x = emit.load(op.x, b.add(row, offset), emit.floats)
                    for o, field in enumerate(fields):
                        known = part.get((r, o))
                        part[r, o] = b.fmul(field, x) if known is None else emit.fma(field, x, known)
        scales = [emit.splat_bfloat16(op.scales, b.add(row, g)) for row in s_rows]
        biases = [emit.splat_bfloat16(op.biases, b.add(row, g)) for row in s_rows]
        sums = [emit.load(op.sums, emit.at(row, g, emit.lanes), emit.floats) for row in sums_rows]
        for r, o in pairs:
            scaled = emit.fma(scales[o], part[r, o], b.load(total[r, o]))
            b.store(emit.fma(biases[o], sums[r], scaled), total[r, o])

    for r, o in pairs:
        column = b.add(y_column, ir.Constant(I64, o))
        where = b.add(emit.at(b.mul(y_row, op.y_step), op.y_step, r), column)
        b.store(emit.total(b.load(total[r, o])), b.gep(op.y, [where]))

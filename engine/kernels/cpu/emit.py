"""The vector instructions that the quantised inner product is written in."""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils

F32, I32, I64 = ir.FloatType(), ir.IntType(32), ir.IntType(64)


def vector_shape(bits: int, group_size: int) -> tuple[int, int, int]:
    """(values per word, lanes, vectors per group) of a packing."""
    per_word = 32 // bits
    words = group_size // per_word
    lanes = min(8, words)
    return per_word, lanes, words // lanes


class Emitter:
    """Vectors of `lanes` float32 or int32; LLVM turns them into what the machine has."""

    def __init__(self, builder: Any, bits: int, lanes: int) -> None:
        self.builder = builder
        self.bits = bits
        self.lanes = lanes
        self.floats = ir.VectorType(F32, lanes)
        self.ints = ir.VectorType(I32, lanes)
        byte_pointer = ir.IntType(8).as_pointer()
        self._fma = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(self.floats, [self.floats] * 3), f"llvm.fma.v{lanes}f32"
        )
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

    def field(self, words: Any, index: int) -> Any:
        """Value `index` of every word as float32, times 2^(bits · index) except for the topmost."""
        b, shift = self.builder, self.bits * index
        if shift + self.bits == 32:  # masked in place it would be the sign
            return b.sitofp(b.lshr(words, ir.Constant(self.ints, [shift] * self.lanes)), self.floats)
        mask = ((1 << self.bits) - 1) << shift
        return b.sitofp(b.and_(words, ir.Constant(self.ints, [mask] * self.lanes)), self.floats)

    def fma(self, x: Any, y: Any, z: Any) -> Any:
        """x · y + z, rounded once."""
        return self.builder.call(self._fma, [x, y, z])

    def prefetch(self, data: Any, offset: Any) -> None:
        """Asks for the weights of a later tile: several interleaved streams defeat the hardware's own guess."""
        address = self.builder.bitcast(self.builder.gep(data, [offset]), ir.IntType(8).as_pointer())
        self.builder.call(self._prefetch, [address, *(ir.Constant(I32, value) for value in (0, 3, 1))])

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

"""The bytes of each tensor of a base checkpoint: random, with activations of order one everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy as np

from engine.checkpoint.dtypes import to_bfloat16
from engine.checkpoint.expected import ExpectedTensor
from engine.checkpoint.parts import Quantization
from engine.checkpoint.synthetic.families import FamilyWriter, writer
from engine.checkpoint.synthetic.spec import SyntheticSpec
from engine.checkpoint.synthetic.words import Bytes, Randomness


def tensor_bytes(tensor: ExpectedTensor, spec: SyntheticSpec, random: Randomness) -> Iterator[Bytes]:
    """The content of `tensor` in pieces, in file order."""
    module, _, suffix = tensor.name.rpartition(".")
    q = spec.quant.of(module)
    if tensor.dtype == "U32":
        yield from random.chunks(tensor.name, tensor.nbytes)
    elif suffix in ("scales", "biases") and q is not None:
        yield from _affine(tensor, q, random, writer(spec))
    else:
        values = writer(spec).plain_values(tensor, spec, random.generator(tensor.name))
        yield to_bfloat16(values).view(np.uint8).reshape(-1)


def _affine(tensor: ExpectedTensor, q: Quantization, random: Randomness, family: FamilyWriter) -> Iterator[Bytes]:
    """Scales, or the biases that centre the weights: b = −s · (2ᵇⁱᵗˢ − 1) / 2.

    Uniform q has the standard deviation 2ᵇⁱᵗˢ / √12, so s = gain · √12 / (2ᵇⁱᵗˢ · √in) turns inputs of order one
    into outputs of order `gain`. Each group draws one of 256 scales between 0.75 s and 1.25 s.
    """
    module, _, suffix = tensor.name.rpartition(".")
    inputs = tensor.shape[-1] * q.group_size
    scale = family.gain(module, inputs) * 12**0.5 / (2**q.bits * inputs**0.5)
    scales = np.linspace(0.75, 1.25, 256, dtype=np.float32) * np.float32(scale)
    table = to_bfloat16(scales if suffix == "scales" else scales * np.float32(-(2**q.bits - 1) / 2))
    for picks in random.chunks(f"{module}.scales", prod(tensor.shape)):
        yield table[picks].view(np.uint8)

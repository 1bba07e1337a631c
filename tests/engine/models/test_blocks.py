"""What a layer's state keeps of a chunk."""

from __future__ import annotations

import mlx.core as mx
import numpy as np

from engine.models.blocks import causal_conv, last_rows


def test_last_rows_do_not_keep_the_others_alive() -> None:
    x = mx.random.normal((4096, 256))
    mx.eval(x)
    expected, size, before = np.array(x)[-3:].copy(), x.nbytes, mx.get_active_memory()
    rows = last_rows(x, 3)
    mx.eval(rows)
    del x
    assert mx.get_active_memory() < before - size // 2
    assert np.array_equal(np.array(rows), expected)


def test_a_convolution_in_pieces_equals_one_over_all() -> None:
    random = np.random.default_rng(0)
    x, weight = (mx.array(random.normal(size=shape).astype(np.float32)) for shape in ((9, 4), (4, 4)))
    history = mx.zeros((3, 4))
    whole, end = causal_conv(x, weight, history)
    pieces = []
    for start, stop in ((0, 1), (1, 3), (3, 9)):
        y, history = causal_conv(x[start:stop], weight, history)
        pieces.append(y)
    assert mx.allclose(mx.concatenate(pieces), whole) and mx.array_equal(history, end)
    assert mx.array_equal(end, x[-3:])

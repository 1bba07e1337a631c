"""kv_b split by heads: the same numbers as making keys and values, with and without an adapter."""

from __future__ import annotations

import mlx.core as mx
import numpy as np
import pytest

from engine.adapters.lora import attach
from engine.models.linear import LowRank
from engine.models.per_head import PerHead

HEADS, KEY, VALUE, LATENT, RANK, TOKENS = 3, 8, 6, 16, 2, 5
RANDOM = np.random.default_rng(0)
MATRIX = RANDOM.normal(size=(HEADS * (KEY + VALUE), LATENT))
A, B, SCALE = RANDOM.normal(size=(RANK, LATENT)), RANDOM.normal(size=(HEADS * (KEY + VALUE), RANK)), 0.5


@pytest.mark.parametrize("adapted", [False, True])
def test_absorbed_and_expanded_equal_keys_and_values_made_from_latents(adapted: bool) -> None:
    projection = PerHead(mx.array(MATRIX.astype(np.float32)), HEADS, KEY)
    before = [np.array(projection.keys), np.array(projection.values)]
    assert projection.shape == MATRIX.shape
    updates = {"kv_b": LowRank(mx.array(A.astype(np.float32)), mx.array(B.astype(np.float32)), SCALE)}
    attach({"kv_b": projection}, updates if adapted else {})
    whole = (MATRIX + SCALE * B @ A if adapted else MATRIX).reshape(HEADS, KEY + VALUE, LATENT)
    q, latents = RANDOM.normal(size=(HEADS, TOKENS, KEY)), RANDOM.normal(size=(7, LATENT))
    shares = RANDOM.dirichlet(np.ones(7), size=(HEADS, TOKENS))
    keys, values = latents @ whole[:, :KEY].swapaxes(1, 2), latents @ whole[:, KEY:].swapaxes(1, 2)

    scores = np.array(projection.absorb(mx.array(q.astype(np.float32)))) @ latents.T
    np.testing.assert_allclose(scores, q @ keys.swapaxes(1, 2), rtol=1e-4, atol=1e-4)
    out = projection.expand(mx.array((shares @ latents).astype(np.float32)))
    np.testing.assert_allclose(np.array(out), shares @ values, rtol=1e-4, atol=1e-4)

    attach({"kv_b": projection}, {})
    assert projection.adapter is None
    assert np.array_equal(before[0], np.array(projection.keys)) and np.array_equal(
        before[1], np.array(projection.values)
    )

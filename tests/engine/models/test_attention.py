"""Latent attention against a plain rendering, whatever the size of its blocks."""

from __future__ import annotations

import mlx.core as mx
import numpy as np
import pytest

from engine.models import attention


@pytest.mark.parametrize(("tokens", "length"), [(1, 1), (1, 9), (9, 9), (4, 9)])
@pytest.mark.parametrize("block", [1, 3, 100])
def test_every_query_sees_what_came_before_it(
    monkeypatch: pytest.MonkeyPatch, tokens: int, length: int, block: int
) -> None:
    heads, rank, rotated, scale = 2, 8, 4, 0.3
    random = np.random.default_rng(tokens + length)
    q, q_r = random.normal(size=(heads, tokens, rank)), random.normal(size=(heads, tokens, rotated))
    latents, keys = random.normal(size=(length, rank)), random.normal(size=(length, rotated))
    monkeypatch.setattr(attention, "MAX_LATENT_SCORES", heads * length * block)
    given = [mx.array(a.astype(np.float32)) for a in (q, q_r, latents, keys)]
    ours = attention.latent_attention(given[0], given[1], given[2], given[3], scale)
    for head in range(heads):
        for t in range(tokens):
            seen = length - tokens + t + 1
            scores = np.exp(scale * (latents[:seen] @ q[head, t] + keys[:seen] @ q_r[head, t]))
            expected = scores / scores.sum() @ latents[:seen]
            np.testing.assert_allclose(np.array(ours[head, t]), expected, rtol=1e-4, atol=1e-5)

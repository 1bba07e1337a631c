"""The sizes of the released tiers in 16 bits, as the facts have them."""

from __future__ import annotations

from engine.checkpoint.synthetic import REAL_8B, REAL_35B
from engine.sizes import sizes_of


def test_the_latent_cache_and_states_of_the_8b() -> None:
    sizes = sizes_of(REAL_8B, 8, 2)
    assert sizes.cache_per_token == 6_912
    assert sizes.recurrent == 19_537_920
    assert sizes_of(REAL_8B, 8, 4).cache_per_token == 13_824


def test_what_replaces_stored_tensors_of_the_8b() -> None:
    """kv_b dequantised in 6 layers, routers with their biases in float32 in 23; embedding rows are not held."""
    assert sizes_of(REAL_8B, 8, 2).derived == 6 * 4096 * 512 * 2 + 23 * (128 * 1536 + 128) * 4
    assert len(sizes_of(REAL_8B, 8, 2).replaced) == 1 + 6 + 23


def test_the_cache_and_states_of_the_35b() -> None:
    sizes = sizes_of(REAL_35B, 4, 2)
    assert (sizes.cache_per_token, sizes.recurrent, sizes.derived) == (20_480, 64_389_120, 0)

"""The families under test: the published format in small, its oracle, and its figures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from engine.checkpoint.synthetic import SyntheticSpec, tiny, tiny_8b
from tests.engine.fidelity.oracle import Oracle
from tests.engine.fidelity.oracle_8b import Oracle8B
from tests.engine.fidelity.oracle_35b import Oracle35B

WIDTH = 4
"""Bytes of an activation on the device the tests run on."""
K = 4


@dataclass(frozen=True)
class Family:
    """K is 4 in both. `kv_per_token` and `recurrent` follow from the tiny sizes, in bytes."""

    name: str
    spec: Callable[[], SyntheticSpec]
    oracle: type[Oracle]
    moe_layers: int
    kv_per_token: int
    recurrent: int

    @property
    def step_set(self) -> int:
        """Slots one token needs."""
        return self.moe_layers * K

    @property
    def everything(self) -> int:
        """Slots for all experts."""
        return self.moe_layers * 16


FAMILIES = (
    # 2 attention layers × 2 heads × (key + value of 32); 6 delta nets of 4 heads, one convolution of 256 channels
    Family("35b", tiny, Oracle35B, 8, 2 * 2 * 2 * 32 * WIDTH, 6 * (4 * 32 * 32 * 4 + 3 * 256 * WIDTH)),
    # 2 attention layers × (latent of 64 + rotated key of 16); 6 KDA layers of 4 heads, 3 convolutions of 128
    Family("8b", tiny_8b, Oracle8B, 7, 2 * (64 + 16) * WIDTH, 6 * (4 * 32 * 32 * 4 + 3 * 3 * 128 * WIDTH)),
)

"""How much of the arena a prompt may take."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.experts.admission import Share, admissible

COUNT = st.integers(0, 300)


@pytest.mark.parametrize(
    ("missing", "resident", "free", "evictable", "expected"),
    [
        (100, 0, 1000, 0, 16),  # a fresh arena: the whole share
        (100, 10, 1000, 0, 6),  # what the layer has already counts
        (5, 0, 1000, 0, 5),
        (100, 0, 0, 1000, 8),  # a full one: half a share from others
        (100, 12, 0, 1000, 4),
        (100, 0, 3, 1000, 8),
        (100, 0, 12, 1000, 12),
        (100, 0, 0, 2, 2),
        (100, 20, 50, 50, 0),
    ],
)
def test_shares(missing: int, resident: int, free: int, evictable: int, expected: int) -> None:
    assert admissible(Share(16), missing, resident, free, evictable) == expected


@given(COUNT, COUNT, COUNT, COUNT, st.integers(0, 64))
def test_never_more_than_there_is(missing: int, resident: int, free: int, evictable: int, quota: int) -> None:
    admitted = admissible(Share(quota), missing, resident, free, evictable)
    assert 0 <= admitted <= min(missing, free + evictable, quota)
    assert admitted + resident <= max(quota, resident)
    assert admitted - free <= quota // 2


def test_everything_is_admitted_where_everything_fits() -> None:
    assert admissible(Share(2, everything_fits=True), 100, 50, 100, 0) == 100

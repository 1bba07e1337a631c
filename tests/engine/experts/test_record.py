"""The arithmetic of records against the published sizes."""

from __future__ import annotations

import pytest

from engine.errors import CheckpointError
from engine.experts.record import PIECES, RecordShape


@pytest.mark.parametrize(
    ("hidden", "intermediate", "nbytes"),
    [(2048, 512, 1_769_472), (1536, 512, 1_327_104)],
    ids=["35B", "8B"],
)
def test_published_record_sizes(hidden: int, intermediate: int, nbytes: int) -> None:
    shape = RecordShape(hidden, intermediate, bits=4, group_size=64)
    assert shape.nbytes == nbytes
    assert len(shape.pieces) == len(PIECES)


def test_pieces_of_the_35b() -> None:
    weight, scales = 524_288, 32_768
    assert RecordShape(2048, 512, 4, 64).pieces == (weight, weight, *(scales,) * 4, weight, scales, scales)


@pytest.mark.parametrize("shape", [(100, 512, 4, 64), (2048, 500, 4, 64), (2048, 512, 5, 64), (2048, 512, 4, 0)])
def test_impossible_shapes_are_named(shape: tuple[int, int, int, int]) -> None:
    with pytest.raises(CheckpointError, match="expert"):
        RecordShape(*shape)

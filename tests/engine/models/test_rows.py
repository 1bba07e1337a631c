"""Rows read from a file whose data starts anywhere."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import mlx.core as mx
import numpy as np
import pytest

from engine.checkpoint.headers import TensorInfo, read_header
from engine.checkpoint.synthetic import tiny_8b, write_synthetic
from engine.errors import CheckpointError
from engine.models.arrays import read_array
from engine.models.rows import Rows


@pytest.fixture(scope="module")
def tensors(tmp_path_factory: pytest.TempPathFactory) -> dict[str, TensorInfo]:
    path = write_synthetic(tmp_path_factory.mktemp("rows") / "tiny", tiny_8b())
    return dict(read_header(path / "model.safetensors").tensors)


@pytest.mark.parametrize("part", ["weight", "scales"])
def test_rows_are_those_of_the_whole_tensor(tensors: dict[str, TensorInfo], part: str) -> None:
    info = tensors[f"model.word_embeddings.{part}"]
    wanted = np.array([511, 0, 7, 7])
    rows, whole = Rows(info).read(wanted), read_array(info)
    assert rows.dtype == whole.dtype
    assert mx.array_equal(rows, whole[mx.array(wanted)])


def test_a_file_that_ends_early_is_named_with_its_tensor(tensors: dict[str, TensorInfo], tmp_path: Path) -> None:
    info = tensors["model.word_embeddings.weight"]
    short = tmp_path / "short.safetensors"
    short.write_bytes(Path(info.path).read_bytes()[: info.offset + 100])
    rows = Rows(replace(info, path=short))
    with pytest.raises(CheckpointError, match=r"short\.safetensors: model\.word_embeddings\.weight ends"):
        rows.read(np.array([511]))

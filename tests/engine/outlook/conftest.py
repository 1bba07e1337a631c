"""Checkpoints of full dimensions without their bytes, and machines to plan for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import pytest

from engine.checkpoint.expected import ExpectedTensor
from engine.checkpoint.synthetic import SyntheticSpec, adapters, write
from engine.checkpoint.synthetic.safetensors_out import Padding, Progress, header_bytes
from engine.checkpoint.synthetic.words import Randomness

Skeleton = Callable[[str, SyntheticSpec], Path]


@pytest.fixture
def skeleton(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Skeleton:
    """Writes headers and texts of a checkpoint; the data are holes of the right size."""

    def headers_only(
        path: Path,
        tensors: Sequence[ExpectedTensor],
        content: Callable[[ExpectedTensor], Iterable[object]],
        metadata: Mapping[str, str],
        padding: Padding,
        progress: Progress,
    ) -> None:
        with path.open("wb") as file:
            size = file.write(header_bytes(tensors, metadata, padding))
            file.truncate(size + sum(tensor.nbytes for tensor in tensors))

    def make(name: str, spec: SyntheticSpec) -> Path:
        monkeypatch.setattr(write, "write_file", headers_only)
        monkeypatch.setattr(adapters, "write_file", headers_only)
        directory = tmp_path / name
        directory.mkdir()
        write._write_all(directory, spec, Randomness(0), lambda nbytes: None)
        return directory

    return make

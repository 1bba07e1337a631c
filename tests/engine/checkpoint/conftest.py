"""Tiny checkpoints, and tools to damage them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from engine.checkpoint.synthetic import tiny, tiny_8b, write_synthetic

Tensors = dict[str, tuple[str, list[int], bytes]]


@pytest.fixture(scope="session")
def tiny_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three shards with index, heads and adapter. Shared: not to be modified."""
    return write_synthetic(tmp_path_factory.mktemp("checkpoints") / "tiny", tiny())


@pytest.fixture
def tiny_copy(tiny_path: Path, tmp_path: Path) -> Path:
    """The same, to modify."""
    return Path(shutil.copytree(tiny_path, tmp_path / "tiny"))


@pytest.fixture(scope="session")
def tiny_8b_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One file with heads and adapter, as the 8B is published. Shared: not to be modified."""
    return write_synthetic(tmp_path_factory.mktemp("checkpoints") / "tiny-8b", tiny_8b())


@pytest.fixture
def tiny_8b_copy(tiny_8b_path: Path, tmp_path: Path) -> Path:
    """The same, to modify."""
    return Path(shutil.copytree(tiny_8b_path, tmp_path / "tiny-8b"))


@pytest.fixture(scope="session")
def _single(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_synthetic(tmp_path_factory.mktemp("checkpoints") / "single", replace(tiny(), shards=1))


@pytest.fixture
def single_copy(_single: Path, tmp_path: Path) -> Path:
    """One shard, no index, to modify."""
    return Path(shutil.copytree(_single, tmp_path / "single"))


@pytest.fixture
def write_raw() -> Callable[[Path, bytes, bytes], Path]:
    """Write a safetensors file from header text and data, whatever they are."""

    def write(path: Path, header: bytes, data: bytes = b"") -> Path:
        path.write_bytes(len(header).to_bytes(8, "little") + header + data)
        return path

    return write


@pytest.fixture
def edit_shard() -> Callable[[Path, Callable[[Tensors], object]], None]:
    """Rewrite a safetensors file after `change` has modified {name: (dtype, shape, bytes)}; offsets stay right."""

    def edit(path: Path, change: Callable[[Tensors], object]) -> None:
        content = path.read_bytes()
        start = 8 + int.from_bytes(content[:8], "little")
        header = json.loads(content[8:start])
        metadata = header.pop("__metadata__", {})
        tensors: Tensors = {}
        for name, entry in header.items():
            begin, end = entry["data_offsets"]
            tensors[name] = (entry["dtype"], entry["shape"], content[start + begin : start + end])
        change(tensors)
        table: dict[str, object] = {"__metadata__": metadata}
        position = 0
        for name, (dtype, shape, data) in tensors.items():
            table[name] = {"dtype": dtype, "shape": shape, "data_offsets": [position, position + len(data)]}
            position += len(data)
        text = json.dumps(table).encode()
        body = b"".join(data for _, _, data in tensors.values())
        path.write_bytes(len(text).to_bytes(8, "little") + text + body)

    return edit


@pytest.fixture
def edit_json() -> Callable[[Path, Callable[[dict[str, object]], object]], None]:
    """Rewrite a JSON file after `change` has modified its object."""

    def edit(path: Path, change: Callable[[dict[str, object]], object]) -> None:
        value = json.loads(path.read_text())
        change(value)
        path.write_text(json.dumps(value))

    return edit

"""Tiny checkpoints in the published format, and a session over them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import engine.kernels  # noqa: F401  # gives MLX its fast matrix product
from engine.checkpoint.synthetic import tiny, write_synthetic


@pytest.fixture(scope="session")
def tiny_checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Heads, adapter, unaligned shards: everything the released 35B has, in small."""
    return write_synthetic(tmp_path_factory.mktemp("tiny") / "Edge0-tiny", tiny(), seed=1)


@pytest.fixture(scope="session")
def plain_checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same architecture without adapter or heads, as a plain conversion has it."""
    spec = replace(tiny(), owners=(), lora_rank=0)
    return write_synthetic(tmp_path_factory.mktemp("plain") / "plain", spec, seed=2)

"""Every test that asks for a family or its checkpoints runs for both."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engine.checkpoint.synthetic import write_synthetic
from tests.engine.fidelity.families import FAMILIES, Family


@pytest.fixture(scope="session", params=FAMILIES, ids=lambda family: family.name)
def family(request: pytest.FixtureRequest) -> Family:
    found: Family = request.param
    return found


@pytest.fixture(scope="session")
def checkpoint(family: Family, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Heads, adapter, published names: everything the released tier has, in small."""
    path = tmp_path_factory.mktemp(family.name) / f"Edge0-{family.name}-tiny"
    return write_synthetic(path, family.spec(), seed=1)


@pytest.fixture(scope="session")
def plain(family: Family, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same architecture without adapter or heads, as a plain conversion has it."""
    spec = replace(family.spec(), owners=(), lora_rank=0)
    return write_synthetic(tmp_path_factory.mktemp(f"plain-{family.name}") / "plain", spec, seed=2)

"""A hub, a data folder, and a way to fetch from the one into the other."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from edge0_tui.manager.tuning import Tuning
from edge0_tui.paths import Paths, find_paths
from tests.edge0_tui.manager.fake_hub import FakeHub, Repo, fake_hub

REPO = "someone/small-moe"
HASTY = Tuning(
    silence=3.0, patience=20.0, first_wait=0.02, longest_wait=0.1, piece=65536, synced_every=200_000, reserve=0
)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeHub]:
    with fake_hub() as hub:
        hub.repos[REPO] = Repo(content())
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
        for name in ("HF_TOKEN", "HF_HUB_OFFLINE", "HF_HUB_CACHE"):
            monkeypatch.delenv(name, raising=False)
        yield hub


@pytest.fixture
def paths(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Paths:
    monkeypatch.setenv("EDGE0_HOME", str(tmp_path / "home"))
    for name in ("EDGE0_8B_MODEL", "EDGE0_35B_MODEL"):
        monkeypatch.delenv(name, raising=False)
    return find_paths()


def content(seed: int = 0, size: int = 1_000_000) -> dict[str, bytes]:
    """Files as a repository has them: two of weights, an adapter, small ones, and some that are not for us."""
    noise = random.Random(seed)
    return {
        "config.json": b'{"model_type": "none"}',
        "tokenizer.json": noise.randbytes(30_000),
        "chat_template.jinja": b"{{ messages }}",
        "model-00001-of-00002.safetensors": noise.randbytes(size),
        "model-00002-of-00002.safetensors": noise.randbytes(size // 2 + 1),
        "lora_small.safetensors": noise.randbytes(70_001),
        "modeling_evil.py": b"raise SystemExit",
        "README.md": b"# Small",
        "../outside.json": b"{}",
        "adapters/../../up.safetensors": b"",
        ".hidden.json": b"{}",
    }


FIRST, SECOND = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
WANTED = ("config.json", "tokenizer.json", "chat_template.jinja", FIRST, SECOND, "lora_small.safetensors")

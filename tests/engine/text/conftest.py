"""The two published styles of text files, built once."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.text import TextCodec
from engine.text.tokenizer import Tokenizer
from tests.engine.text.builders import CHATML_CONTROL, CHATML_TIER, ROLE_TIER, byte_level, write_checkpoint


@pytest.fixture(scope="session")
def chatml(tmp_path_factory: pytest.TempPathFactory) -> TextCodec:
    """The 35B's style."""
    return TextCodec.open(write_checkpoint(tmp_path_factory.mktemp("chatml"), CHATML_TIER))


@pytest.fixture(scope="session")
def role(tmp_path_factory: pytest.TempPathFactory) -> TextCodec:
    """The 8B's style."""
    return TextCodec.open(write_checkpoint(tmp_path_factory.mktemp("role"), ROLE_TIER))


@pytest.fixture(scope="session")
def tokenizer() -> Tokenizer:
    """A byte-level tokenizer with the 35B's control tokens."""
    return Tokenizer(byte_level(CHATML_CONTROL))


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """A directory of the 35B's style that a test may damage."""
    return write_checkpoint(tmp_path / "model", CHATML_TIER)

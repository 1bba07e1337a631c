"""A home of its own for every test."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Everything the application writes goes below this folder; no clipboard tool of the machine is used."""
    monkeypatch.setenv("EDGE0_HOME", str(tmp_path))
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "NO_COLOR", "EDGE0_35B_MODEL", "EDGE0_8B_MODEL"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path

from __future__ import annotations

import pytest

from tests.engine.experts.library import Library


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """Three layers of eight experts; not to be written to."""
    return Library(tmp_path_factory.mktemp("library"))

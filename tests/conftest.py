"""For all tests: examples of property tests may take long on a busy machine, which says nothing about the code."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("shared machine", deadline=None)
settings.load_profile("shared machine")

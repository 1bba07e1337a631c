"""How much is under way at once. Apart from what uses it, because plans and estimates need the numbers only."""

from __future__ import annotations

STAGING_DEPTH = 3
"""Staging buffers of prefill: one computed, one handed out next, one being read. With two, nothing could be read
while a group is computed unless the caller had finished the group before it."""

READERS = 8
"""Reads in flight at most."""

"""Control groups and pages of files, read as the system writes them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from engine import probe
from engine.cached_pages import cached_pages


def test_both_versions_of_control_groups_innermost_first() -> None:
    v1 = "11:memory:/docker/abc\n10:cpu:/docker/abc\n"
    assert probe.group_folders(v1) == [
        Path("/sys/fs/cgroup/memory/docker/abc"),
        Path("/sys/fs/cgroup/memory/docker"),
        Path("/sys/fs/cgroup/memory"),
    ]
    assert probe.group_folders("0::/user.slice/app\n") == [
        Path("/sys/fs/cgroup/user.slice/app"),
        Path("/sys/fs/cgroup/user.slice"),
        Path("/sys/fs/cgroup"),
    ]


def test_the_tightest_group_rules_and_its_file_pages_are_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "memory.max").write_text("1000\n")
    (inner / "memory.current").write_text("900\n")
    (inner / "memory.stat").write_text("inactive_file 300\nactive_file 100\nanon 500\n")
    (tmp_path / "memory.max").write_text("max\n")
    monkeypatch.setattr(probe, "group_folders", lambda _: [inner, tmp_path])
    assert probe.group_room() == (1000, 500)


def test_no_group_is_no_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "group_room", lambda: (None, None))
    memory = probe.memory()
    assert memory.limit is None and 0 < memory.available <= memory.total
    monkeypatch.setattr(probe, "group_room", lambda: (1 << 20, 1 << 19))
    assert probe.memory().usable == 1 << 19


@pytest.mark.skipif(sys.platform != "linux", reason="posix_fadvise decides what is cached here")
def test_cached_pages_follow_the_system(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(os.urandom(1 << 20))
    descriptor = os.open(path, os.O_RDWR)
    os.fsync(descriptor)
    os.read(descriptor, 1 << 20)
    everything = cached_pages([path])
    assert everything == 1 << 20
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(descriptor)
    after = cached_pages([path, path])
    assert after is not None and after < everything
    assert cached_pages([tmp_path / "missing"]) is None

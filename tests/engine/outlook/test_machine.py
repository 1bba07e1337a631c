"""Facts of this machine; what cannot be read is None. Measurements are kept per volume and per model."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from engine.outlook import chip, store
from engine.outlook.engine_facts import device_facts
from engine.outlook.machine import this_machine
from engine.outlook.swap import Sample, swapping
from engine.outlook.types import Swapping
from engine.outlook.volume import Mount, existing, mount_of, volume_id, volume_of
from tests.engine.outlook.examples import COMPUTE, DISK


def test_this_machine(tmp_path: Path) -> None:
    found = this_machine(tmp_path / "not" / "there", tmp_path, window=0.01)
    assert found.volume.path == tmp_path and found.volume.free and found.volume.total
    assert 0 < found.memory.usable <= found.memory.total
    assert found.threads and found.threads >= 1
    assert (found.disk, found.computed, found.working_set) == (None, (), None)
    metal = device_facts(
        {"device": "metal", "device_name": "M9", "working_set_limit": 1 << 34, "activation_bytes": 2}
    )
    known = this_machine(tmp_path, tmp_path, device=metal, window=0.01)
    assert (known.device, known.activation_bytes, known.working_set) == ("M9", 2, 1 << 34)


def test_measurements_are_found_again(tmp_path: Path) -> None:
    current = replace(COMPUTE, version=store.version())
    store.keep_disk(tmp_path, volume_id(tmp_path), DISK)
    store.keep_compute(tmp_path, current)
    store.keep_compute(tmp_path, replace(current, shape="other", version="older"))
    store.keep_compute(tmp_path, replace(current, exact=9.0))
    found = this_machine(tmp_path, tmp_path, window=0.01)
    assert found.disk == DISK
    assert found.computed == (replace(current, exact=9.0),) and found.compute("other") is None
    assert found.compute(current.shape) == replace(current, exact=9.0)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ((), []),
        (("disks",), [1]),
        (("disks", "v", "cached"), 0),
        (("disks", "v", "rates"), []),
        (("disks", "v", "rates"), [[1, -5]]),
        (("disks", "v", "rates"), [[8, 5.0], [1, 5.0]]),
        (("disks", "v"), None),
        (("computed", "35b", "prefill"), [[16, 1.0]]),
        (("computed", "35b", "exact"), "fast"),
    ],
)
def test_a_damaged_store_is_measured_again(path: tuple[str, ...], value: object, tmp_path: Path) -> None:
    store.keep_disk(tmp_path, "v", DISK)
    store.keep_compute(tmp_path, COMPUTE)
    table = json.loads((tmp_path / store.FILE).read_text())
    inner, keys = table, (store.machine_key(), *path)
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = value
    (tmp_path / store.FILE).write_text(json.dumps(table))
    known = store.read(tmp_path)
    assert len(known.disks) + len(known.computed) < 2
    store.keep_disk(tmp_path, "v", DISK)
    assert store.read(tmp_path).disks == {"v": DISK}


def test_a_store_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store.keep_disk(tmp_path / "file" / "folder", "v", DISK)
    assert store.read(tmp_path / "file" / "folder") == store.Known()


def test_swap_moves_within_the_window(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")

    def watch(before: Sample | None, after: Sample | None) -> object:
        samples = iter([before, after])
        return swapping(0.5, lambda: next(samples), lambda seconds: None)

    moving = watch(Sample(100, 10, 20), Sample(400, 10, 320))
    assert isinstance(moving, Swapping)
    assert (moving.growth, moving.into_memory, moving.out_of_memory, moving.busy) == (600, 0, 600, True)
    quiet = watch(Sample(100, 10, 20), Sample(60, 50, 20))
    assert isinstance(quiet, Swapping) and not quiet.busy
    assert watch(None, None) is None and watch(Sample(0, 0, 0), None) is None
    monkeypatch.setattr(sys, "platform", "darwin")
    mac = watch(Sample(100, 10, 20), Sample(100, 10, 5000))
    assert isinstance(mac, Swapping) and mac.out_of_memory is None and not mac.busy


def test_the_innermost_and_last_mount_counts(tmp_path: Path) -> None:
    real = str(tmp_path.resolve())
    known = [Mount("/", "rootfs", "rootfs"), Mount("/", "/dev/a", "ext4"), Mount(real, "/dev/b", "xfs")]
    assert mount_of(tmp_path, known) == known[2]
    assert mount_of(Path("/"), known) == known[1]
    assert mount_of(tmp_path, []) is None
    assert existing(tmp_path / "a" / "b") == tmp_path
    assert volume_of(tmp_path / "a").path == tmp_path


def test_the_processors_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    info = tmp_path / "cpuinfo"
    info.write_text("processor\t: 0\nmodel name\t: Some Chip 9000\n")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(chip, "CPUINFO", info)
    assert chip.chip_name() == "Some Chip 9000"
    info.write_text("processor\t: 0\nCPU part\t: 0xd0c\n")
    monkeypatch.setattr(chip, "BOARD", tmp_path / "model")
    assert chip.chip_name() is None
    (tmp_path / "model").write_bytes(b"A Board 5\0")
    assert chip.chip_name() == "A Board 5"

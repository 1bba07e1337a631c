"""Downloads in their own processes: pause, kill -9 in every phase, two at once, cancel."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from edge0_tui.cli import main
from edge0_tui.installed import installed_models, resolve
from edge0_tui.manager.available import available
from edge0_tui.manager.catalog import entry
from edge0_tui.manager.downloads import Downloads
from edge0_tui.manager.elsewhere import elsewhere, remember
from edge0_tui.manager.events import Download
from edge0_tui.manager.job import Job
from edge0_tui.manager.record import read_record
from edge0_tui.manager.repo_id import RepoId
from edge0_tui.manager.tuning import Tuning
from edge0_tui.manager.writer_lock import being_written
from edge0_tui.model_menu import menu
from edge0_tui.paths import Paths
from edge0_tui.shelf import read_shelf
from engine.errors import CheckpointError, UsageError
from tests.edge0_tui.manager.conftest import FIRST, HASTY, REPO, WANTED
from tests.edge0_tui.manager.fake_hub import Answer, FakeHub

PATIENT = replace(HASTY, silence=60.0)


@asynccontextmanager
async def manager(paths: Paths, tuning: Tuning = PATIENT) -> AsyncIterator[Downloads]:
    downloads = Downloads(paths, tuning=tuning)
    try:
        yield downloads
    finally:
        await downloads.close()


def pausing(hub: FakeHub, at: int = 400_000, name: str = FIRST) -> None:
    def pause(file: str, asked: dict[str, str], answer: Answer) -> None:
        answer.pause_at = at if file == name else None

    hub.fault = pause


async def end_of(downloads: Downloads, key: str) -> Download:
    async with asyncio.timeout(90):
        return [item async for item in downloads.watch(key)][-1]


async def until_waiting(hub: FakeHub, part: Path, size: int) -> None:
    async with asyncio.timeout(90):
        while not hub.waiting.is_set() or not part.exists() or part.stat().st_size < size:
            await asyncio.sleep(0.01)
    hub.waiting.clear()


def pid_of(downloads: Downloads, key: str) -> int:
    pid = downloads._processes[key].pid
    assert pid is not None
    return pid


def assert_whole(hub: FakeHub, folder: Path) -> None:
    assert all((folder / name).read_bytes() == hub.repos[REPO].files[name] for name in WANTED)
    record = read_record(folder)
    assert record is not None and record.complete(folder)


async def test_from_start_to_verified(hub: FakeHub, paths: Paths) -> None:
    seen: list[Download] = []
    async with manager(paths) as downloads:
        downloads.on_change = seen.append
        download = await downloads.start(f"https://huggingface.co/{REPO}")
        assert download.state == "running" and download.repo == REPO
        last = await end_of(downloads, download.key)
    assert last.state == "done" and last.progress.phase == "done" and last.progress.share == 1.0
    assert_whole(hub, Path(download.path))
    assert [item.state for item in seen][-1] == "done" and all(item.key == download.key for item in seen)


async def test_pause_and_resume_and_cancel(hub: FakeHub, paths: Paths) -> None:
    pausing(hub)
    async with manager(paths) as downloads:
        download = await downloads.start(REPO)
        part = Path(download.path) / f"{FIRST}.part"
        await until_waiting(hub, part, 400_000)
        assert being_written(Path(download.path))
        await asyncio.wait_for(downloads.pause(download.key), 30)
        assert downloads.list()[0].state == "paused" and part.stat().st_size >= 400_000
        assert not being_written(Path(download.path))
        again = await downloads.resume(download.key)
        await until_waiting(hub, part, 800_000)
        freed = await downloads.cancel(again.key, keep=False)
    assert freed >= 800_000 and not Path(download.path).exists()
    assert downloads.list() == []


async def test_interrupted_ones_are_found_by_the_next_session(hub: FakeHub, paths: Paths) -> None:
    pausing(hub)
    async with manager(paths) as downloads:
        download = await downloads.start(REPO)
        await until_waiting(hub, Path(download.path) / f"{FIRST}.part", 400_000)
    hub.gate.set()
    hub.fault = None
    unfinished = [item for item in available(paths) if item.state == "unfinished"]
    assert [item.repo for item in unfinished] == [REPO] and unfinished[0].have_bytes >= 400_000
    async with manager(paths) as later:
        found = later.list()
        assert [(item.key, item.state) for item in found] == [(download.key, "paused")]
        assert 400_000 <= found[0].progress.done_bytes < found[0].progress.total_bytes
    await asyncio.to_thread(Job(RepoId(REPO), Path(download.path), HASTY, lambda _: None).run)
    assert_whole(hub, Path(download.path))
    assert [item.state for item in available(paths)] == ["absent", "absent"]


async def test_one_fetched_elsewhere_is_listed_and_goes_on_there(
    hub: FakeHub, paths: Paths, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "another disk"
    other.mkdir()
    pausing(hub)
    async with manager(paths) as downloads:
        download = await downloads.start(REPO, other)
        await until_waiting(hub, Path(download.path) / f"{FIRST}.part", 400_000)
    hub.gate.set()
    hub.fault = None
    (unfinished,) = [item for item in available(paths) if item.state == "unfinished"]
    assert (unfinished.path, unfinished.into, unfinished.name) == (download.path, str(other), REPO)
    assert main(["models", "ls", "--json"]) == 0
    (row,) = [row for row in json.loads(capsys.readouterr().out) if row["status"] == "unfinished"]
    assert row["path"] == download.path
    command = f"edge0-tui models get {REPO} --into '{other}'"
    assert f"`{command}` fetches the rest" in row["problem"]
    with pytest.raises(CheckpointError, match="is not all there") as refused:
        resolve(REPO, paths)
    assert command in refused.value.hint
    shelf = read_shelf(paths, None)
    (line,) = [line for line in menu(shelf, None, None) if line.fetch and line.fetch.into]
    assert line.id == f"get:{download.path}" and "unfinished" in line.note
    assert download.path not in {str(stored.model.path) for stored in shelf.installed}
    async with manager(paths) as later:
        assert [(item.key, item.state) for item in later.list()] == [(download.key, "paused")]
        await later.resume(download.key)
        last = [item async for item in later.watch(download.key)][-1]
    assert last.state == "done" and last.path == download.path
    assert_whole(hub, Path(download.path))
    assert {item.state for item in available(paths)} == {"absent"}
    (found,) = [item for item in installed_models(paths) if item.repo == REPO]
    assert (found.status, found.source, found.removable) == ("verified", str(other), True)


def test_notes_of_what_is_elsewhere_are_only_places_to_look(paths: Paths, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere" / "a--b"
    remember(folder, paths)
    remember(paths.models / "8b", paths)
    notes = list((paths.data / "fetched-elsewhere").iterdir())
    assert len(notes) == 1 and elsewhere(paths) == []
    (notes[0].parent / ("0" * 32 + ".json")).write_text('{"folder": 7}')
    folder.parent.mkdir()
    os.utime(notes[0], (1.0, 1.0))
    assert elsewhere(paths) == [] and not notes[0].exists(), "its disk is there, the model is not"


async def test_kill_in_the_middle_costs_at_most_one_piece(hub: FakeHub, paths: Paths) -> None:
    pausing(hub)
    size = len(hub.repos[REPO].files[FIRST])
    async with manager(paths) as downloads:
        download = await downloads.start(REPO)
        part = Path(download.path) / f"{FIRST}.part"
        for reached in (400_000, 800_000):
            await until_waiting(hub, part, reached)
            os.kill(pid_of(downloads, download.key), signal.SIGKILL)
            failed = await end_of(downloads, download.key)
            assert failed.state == "failed" and "SIGKILL" in failed.error
            assert not (part.parent / FIRST).exists() and not being_written(part.parent)
            await downloads.start(REPO)
        hub.gate.set()
        assert (await end_of(downloads, download.key)).state == "done"
    assert_whole(hub, Path(download.path))
    assert hub.sent[FIRST] <= size + 2 * HASTY.piece


@pytest.mark.parametrize("phase", ["asking", "verifying", "renaming", "recording"])
async def test_kill_in_every_other_phase(hub: FakeHub, paths: Paths, phase: str, tmp_path: Path) -> None:
    """The process kills itself when the largest file is at that point."""
    command = _dying(phase, tmp_path)
    downloads = Downloads(paths, tuning=HASTY, command=command)
    download = await downloads.start(REPO)
    failed = await end_of(downloads, download.key)
    assert failed.state == "failed" and "SIGKILL" in failed.error
    record = read_record(Path(download.path))
    assert record is None or not record.complete(Path(download.path))
    sent = hub.sent[FIRST]
    await asyncio.to_thread(Job(RepoId(REPO), Path(download.path), HASTY, lambda _: None).run)
    assert_whole(hub, Path(download.path))
    size = len(hub.repos[REPO].files[FIRST])
    assert sent == (0 if phase == "asking" else size) and hub.sent[FIRST] == size


def _dying(phase: str, folder: Path) -> list[str]:
    places = {
        "asking": ("edge0_tui.manager.hub", "ask", "True"),
        "verifying": ("edge0_tui.manager.follower.Follower", "hex", "args[0]._size == 1_000_000"),
        "renaming": ("edge0_tui.manager.part.Part", "publish", f"args[0].final.name == {FIRST!r}"),
        "recording": ("edge0_tui.manager.job.Job", "_verified", f"args[1].file.name == {FIRST!r}"),
    }
    owner, name, which = places[phase]
    script = folder / "dying.py"
    script.write_text(
        "import os, pkgutil, runpy, signal\n"
        f"owner = pkgutil.resolve_name({owner!r})\n"
        f"real = getattr(owner, {name!r})\n"
        "def die(*args):\n"
        f"    if not {which}:\n"
        "        return real(*args)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        f"setattr(owner, {name!r}, die)\n"
        "runpy.run_module('edge0_tui.manager.download', run_name='__main__')\n"
    )
    return [sys.executable, str(script)]


async def test_two_processes_at_once(hub: FakeHub, paths: Paths) -> None:
    pausing(hub)
    async with manager(paths) as first, manager(paths) as second:
        download = await first.start(REPO)
        await until_waiting(hub, Path(download.path) / f"{FIRST}.part", 400_000)
        await second.start(REPO)
        refused = await end_of(second, download.key)
        assert refused.state == "failed" and refused.kind == "in use" and "another process" in refused.error
        hub.gate.set()
        assert (await end_of(first, download.key)).state == "done"
    assert_whole(hub, Path(download.path))


async def test_the_process_stops_when_its_application_is_gone(hub: FakeHub, paths: Paths) -> None:
    pausing(hub)
    async with manager(paths) as downloads:
        download = await downloads.start(REPO)
        await until_waiting(hub, Path(download.path) / f"{FIRST}.part", 400_000)
        process = downloads._processes[download.key]._process
        assert process is not None and process.stdin is not None
        process.stdin.close()
        async with asyncio.timeout(30):
            assert await process.wait() == 130


async def test_a_process_that_does_not_start_is_a_failed_download(paths: Paths) -> None:
    downloads = Downloads(paths, command=["/does/not/exist"])
    download = await downloads.start(REPO)
    assert (await end_of(downloads, download.key)).error.startswith("The download does not start")


@pytest.mark.parametrize("what", ["", "70b", "a/b/c", "../x", "a/..", "owner/name@../../x", "o--x/n", "\x1b[2J/x"])
async def test_what_is_no_repository_is_refused(paths: Paths, what: str) -> None:
    with pytest.raises(UsageError) as caught:
        await Downloads(paths).start(what)
    assert str(caught.value).isprintable()


async def test_the_catalog_is_held_against_the_hub(hub: FakeHub, paths: Paths) -> None:
    pinned = entry("8b")
    assert pinned is not None
    hub.repos[pinned.repo] = replace(hub.repos[REPO], commit=pinned.revision)
    async with manager(paths, HASTY) as downloads:
        download = await downloads.start("8b")
        assert Path(download.path) == paths.models / "8b" and download.revision == pinned.revision
        failed = await end_of(downloads, download.key)
    assert failed.state == "failed" and failed.kind == "hub" and "published" in failed.error
    assert not list((paths.models / "8b").glob("*.part")) and RepoId(REPO).folder == "someone--small-moe"

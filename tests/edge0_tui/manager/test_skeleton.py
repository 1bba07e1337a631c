"""A remote checkpoint's headers as a directory that opens like any other, without its weights."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from edge0_tui.engine_link import EngineLink
from edge0_tui.manager.errors import HubError
from edge0_tui.manager.repo_id import RepoId
from edge0_tui.manager.skeleton import skeleton
from edge0_tui.model_desk import ModelDesk, Seen
from edge0_tui.model_jobs import ModelJobs
from edge0_tui.model_menu import MenuLine
from edge0_tui.paths import Paths
from edge0_tui.safe_start import SafeStart
from edge0_tui.settings import Model
from engine.checkpoint.checkpoint import open_checkpoint
from engine.checkpoint.synthetic import tiny, write_synthetic
from engine.choice import choose
from engine.protocol import Load
from tests.edge0_tui.manager.fake_hub import Answer, FakeHub, Repo
from tests.edge0_tui.test_app_link import FakeEngine, Listener

REPO = "someone/real-moe"


@pytest.fixture
def original(hub: FakeHub, tmp_path: Path) -> Path:
    folder = write_synthetic(tmp_path / "tiny", tiny(), seed=0)
    hub.repos[REPO] = Repo({path.name: path.read_bytes() for path in folder.iterdir()})
    return folder


def test_it_opens_like_the_original_and_costs_little(hub: FakeHub, original: Path) -> None:
    with skeleton(RepoId(REPO)) as folder:
        remote, local = open_checkpoint(folder), open_checkpoint(original)
        assert remote.name == REPO and remote.revision == "a" * 40
        assert (remote.dense_bytes, remote.expert_bytes) == (local.dense_bytes, local.expert_bytes)
        assert remote.experts_per_token == local.experts_per_token
        assert [path.name for path in remote.files.adapters] == [path.name for path in local.files.adapters]
        facts = [choose(Load("x", str(place))).facts(1 << 20) for place in (folder, original)]
        assert replace(facts[0], name="") == replace(facts[1], name="")
        for shard in remote.files.shards:
            assert shard.stat().st_size == (original / shard.name).stat().st_size
            assert shard.stat().st_blocks * 512 <= 300_000
    assert not folder.exists()
    shards = sum(hub.sent[path.name] for path in original.glob("*.safetensors"))
    assert shards <= (256 << 10) * len(list(original.glob("*.safetensors")))
    assert hub.sent["tokenizer.json"] == 0


def test_a_server_without_ranges_is_read_no_further_than_needed(hub: FakeHub, original: Path) -> None:
    def whole(name: str, asked: dict[str, str], answer: Answer) -> None:
        answer.status, answer.body = 200, hub.repos[REPO].files[name]
        answer.headers.pop("Content-Range", None)

    hub.fault = whole
    with skeleton(RepoId(REPO)) as folder:
        assert open_checkpoint(folder).expert_bytes > 0


@pytest.mark.parametrize("length", [(1 << 40).to_bytes(8, "little"), b"\xff" * 8, b"\0" * 3])
def test_hostile_headers_are_refused(hub: FakeHub, original: Path, length: bytes) -> None:
    name = next(path.name for path in original.glob("model*.safetensors"))
    data = hub.repos[REPO].files[name]
    hub.repos[REPO].files[name] = length + data[8:] if len(length) == 8 else length
    with pytest.raises(HubError, match="no safetensors file"), skeleton(RepoId(REPO)):
        pass


def test_too_many_files_and_too_long_small_ones_are_refused(hub: FakeHub, original: Path) -> None:
    files = hub.repos[REPO].files
    config = files["config.json"]
    files["config.json"] = config + b" " * (5 << 20)
    with pytest.raises(HubError, match="more than such a file may have"), skeleton(RepoId(REPO)):
        pass
    files["config.json"] = config
    files.update({f"model-{number:05}-of-00300.safetensors": b"x" for number in range(300)})
    with pytest.raises(HubError, match="weight files"), skeleton(RepoId(REPO)):
        pass


def test_the_first_error_is_told_at_once_though_other_files_are_silent(hub: FakeHub, original: Path) -> None:
    silent, bad = sorted(path.name for path in original.glob("model*.safetensors"))[:2]

    def fault(name: str, asked: dict[str, str], answer: Answer) -> None:
        if name == silent:
            answer.pause_at = 0
        if name == bad:
            hub.waiting.wait(5)
            answer.status = 404

    hub.fault = fault
    began = time.monotonic()
    with pytest.raises(HubError, match=bad), skeleton(RepoId(REPO)):
        pass
    assert time.monotonic() - began < 10, "the silence of the other one is 20 s"


def test_headers_that_never_come_are_given_up(hub: FakeHub, original: Path) -> None:
    def fault(name: str, asked: dict[str, str], answer: Answer) -> None:
        answer.pause_at = 0 if name.startswith("model") and name.endswith(".safetensors") else None

    hub.fault = fault
    with pytest.raises(HubError, match="did not arrive within 1 s"), skeleton(RepoId(REPO), patience=1.0):
        pass


async def test_many_looks_at_one_repository_with_waits_given_up(hub: FakeHub, original: Path, paths: Paths) -> None:
    """Looks at the same one share one answer; two desks, which share nothing, do not disturb each other."""
    desks = [desk(paths), desk(paths)]
    line = MenuLine(f"get:{REPO}", "fetch", REPO, plan=REPO)
    async with asyncio.timeout(60):
        for round in range(4):
            for each in desks:
                await each.ask(REPO)
            looks = [asyncio.create_task(each.look(line)) for each in desks for _ in range(8)]
            await asyncio.sleep(0.01 * round)
            for given_up in looks[::3]:
                given_up.cancel()
            found = await asyncio.gather(*looks, return_exceptions=True)
            seen = [each for each in found if isinstance(each, Seen)]
            assert len(seen) + sum(isinstance(each, asyncio.CancelledError) for each in found) == 16
            assert len(seen) >= 10 and all(each.prospect is not None for each in seen)
            assert all(each.seen(REPO) is not None for each in desks)


def test_the_program_ends_while_a_hub_is_silent(hub: FakeHub, original: Path, paths: Paths) -> None:
    def fault(name: str, asked: dict[str, str], answer: Answer) -> None:
        answer.pause_at = 0

    hub.fault = fault
    program = """
import asyncio, sys, time
from tests.edge0_tui.manager.test_skeleton import REPO, MenuLine, desk
from edge0_tui.paths import find_paths
async def main():
    line = MenuLine(f"get:{REPO}", "fetch", REPO, plan=REPO)
    asyncio.create_task(desk(find_paths()).look(line))
    await asyncio.to_thread(sys.stdin.readline)
    print("leaving", flush=True)
asyncio.run(main())
"""
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert hub.waiting.wait(60)
        assert process.stdin and process.stdout
        process.stdin.write("now\n")
        process.stdin.flush()
        assert process.stdout.readline() == "leaving\n"
        assert process.wait(10) == 0, "the silence is 20 s"


def desk(paths: Paths) -> ModelDesk:
    """Without an application and without an engine."""
    link = EngineLink(FakeEngine(), Listener(), SafeStart(paths.logs), lambda work: None)
    jobs = ModelJobs(paths, lambda work: None, lambda: None, lambda notice: None)
    return ModelDesk(paths, link, jobs, Model, lambda model: "")


@pytest.mark.parametrize("wrong", ["bytes 1-5/100", ""])
def test_wrong_ranges_are_refused(hub: FakeHub, original: Path, wrong: str) -> None:
    def lie(name: str, asked: dict[str, str], answer: Answer) -> None:
        answer.headers["Content-Range"] = wrong

    hub.fault = lie
    with pytest.raises(HubError, match="does not answer as HTTP asks for"), skeleton(RepoId(REPO)):
        pass

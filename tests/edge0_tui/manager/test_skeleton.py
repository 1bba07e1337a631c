"""A remote checkpoint's headers as a directory that opens like any other, without its weights."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from edge0_tui.manager.errors import HubError
from edge0_tui.manager.repo_id import RepoId
from edge0_tui.manager.skeleton import skeleton
from engine.checkpoint.checkpoint import open_checkpoint
from engine.checkpoint.synthetic import tiny, write_synthetic
from engine.choice import choose
from engine.protocol import Load
from tests.edge0_tui.manager.fake_hub import Answer, FakeHub, Repo

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


@pytest.mark.parametrize("wrong", ["bytes 1-5/100", ""])
def test_wrong_ranges_are_refused(hub: FakeHub, original: Path, wrong: str) -> None:
    def lie(name: str, asked: dict[str, str], answer: Answer) -> None:
        answer.headers["Content-Range"] = wrong

    hub.fault = lie
    with pytest.raises(HubError, match="does not answer as HTTP asks for"), skeleton(RepoId(REPO)):
        pass

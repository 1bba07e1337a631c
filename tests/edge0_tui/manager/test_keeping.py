"""Verifying, listing, describing and deleting models."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest

from edge0_tui.cli import main
from edge0_tui.installed import Installed, installed_models, resolve
from edge0_tui.manager import use
from edge0_tui.manager.catalog import entry
from edge0_tui.manager.details import details
from edge0_tui.manager.errors import InUseError, StoppedError
from edge0_tui.manager.events import Progress
from edge0_tui.manager.job import Job
from edge0_tui.manager.record import NAME, read_record
from edge0_tui.manager.remove import removal, remove
from edge0_tui.manager.repo_id import RepoId
from edge0_tui.manager.verify import FileVerdict, last_verdict, verify
from edge0_tui.manager.writer_lock import writing
from edge0_tui.paths import Paths
from engine.checkpoint.checkpoint import open_checkpoint
from engine.checkpoint.synthetic import tiny, write_synthetic
from engine.errors import CheckpointError, UsageError
from tests.edge0_tui.manager.conftest import HASTY
from tests.edge0_tui.manager.fake_hub import FakeHub, Repo, sha256

REPO = "someone/real-moe"


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = write_synthetic(tmp_path_factory.mktemp("synthetic") / "tiny", tiny(), seed=0)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def fetched(hub: FakeHub, paths: Paths, checkpoint: dict[str, bytes]) -> Path:
    hub.repos[REPO] = Repo(dict(checkpoint))
    folder = paths.models / RepoId(REPO).folder
    Job(RepoId(REPO), folder, HASTY, lambda _: None).run()
    return folder


def listed(paths: Paths) -> dict[str, Installed]:
    return {item.name: item for item in installed_models(paths)}


def outcomes(files: tuple[FileVerdict, ...]) -> dict[str, str]:
    return {file.name: file.outcome for file in files}


def put(folder: Path, files: dict[str, bytes]) -> Path:
    folder.mkdir(parents=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


def test_fetched_is_verified_and_loadable(fetched: Path, paths: Paths) -> None:
    item = listed(paths)[REPO]
    assert item.status == "verified" and item.loadable and item.removable and item.revision == "a" * 40
    assert resolve(REPO, paths) == str(fetched)
    progress: list[Progress] = []
    verdict = verify(fetched, paths, progress.append)
    assert verdict.ok and set(outcomes(verdict.files).values()) == {"good"}
    assert progress[-1].done_bytes == progress[-1].total_bytes == verdict.bytes
    assert listed(paths)[REPO].status == "verified"


def test_provenance_comes_from_the_record(fetched: Path) -> None:
    opened = open_checkpoint(fetched)
    assert (opened.name, opened.revision) == (REPO, "a" * 40)
    (fetched / NAME).write_text('{"repo": "../x\\u001b[2J", "commit": "' + "a" * 40 + '"}')
    assert open_checkpoint(fetched).name == fetched.name


def test_one_flipped_bit_is_found_and_remembered(fetched: Path, paths: Paths) -> None:
    shard = next(fetched.glob("model*.safetensors"))
    status = shard.stat()
    with shard.open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        last = file.read(1)
        file.seek(-1, os.SEEK_END)
        file.write(bytes([last[0] ^ 1]))
    os.utime(shard, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert listed(paths)[REPO].status == "verified"  # names, sizes and times cannot tell
    verdict = verify(fetched, paths)
    assert not verdict.ok and outcomes(verdict.files)[shard.name] == "different" and shard.name in verdict.message
    item = listed(paths)[REPO]
    assert item.status == "damaged" and not item.loadable and shard.name in item.note
    record = read_record(fetched)
    assert record is not None and not record.complete(fetched)


def test_touched_truncated_and_missing_files_are_not_verified(fetched: Path, paths: Paths) -> None:
    config = fetched / "config.json"
    os.utime(config, ns=(1, 1))
    assert listed(paths)[REPO].status == "unfinished"
    assert verify(fetched, paths).ok
    assert listed(paths)[REPO].status == "verified"
    shard = next(fetched.glob("model*.safetensors"))
    os.truncate(shard, 1000)
    assert listed(paths)[REPO].status == "unfinished"
    assert outcomes(verify(fetched, paths).files)[shard.name] == "wrong size"
    shard.unlink()
    assert outcomes(verify(fetched, paths).files)[shard.name] == "missing"
    with pytest.raises(CheckpointError, match="models get"):
        resolve("8b", paths)


def test_a_forged_record_is_not_believed_where_it_matters(paths: Paths, checkpoint: dict[str, bytes]) -> None:
    folder = put(paths.models / "forged", checkpoint)
    for text in ("[]", '{"format": 1}', '{"format": 1, "files": [{"name": "../../x", "bytes": 1}]}', "{" * 9999):
        (folder / NAME).write_text(text)
        assert read_record(folder) is None
    assert listed(paths)["forged"].status == "found"


def test_a_found_one_is_held_against_its_first_verification(
    paths: Paths, tmp_path: Path, checkpoint: dict[str, bytes]
) -> None:
    folder = put(tmp_path / "disk" / "vendor" / "mine", checkpoint)
    paths.settings.parent.mkdir(parents=True)
    paths.settings.write_text(f"[models]\nfolders = [{str(tmp_path / 'disk')!r}]\n")
    item = listed(paths)["mine"]
    assert (item.status, item.note, item.removable) == ("found", "not verified yet", False)
    first = verify(folder, paths)
    assert first.ok and set(outcomes(first.files).values()) == {"recorded"}
    assert listed(paths)["mine"].note.startswith("verified 2")
    (folder / "tokenizer_config.json").write_bytes(b"{} ")
    assert listed(paths)["mine"].note.startswith("changed since")
    for _ in range(2):
        assert outcomes(verify(folder, paths).files)["tokenizer_config.json"] == "different"
    assert listed(paths)["mine"].status == "damaged"
    with pytest.raises(UsageError, match="not fetched by edge0-tui"):
        remove(folder, paths)


def test_the_hubs_cache_is_found_used_in_place_and_verified_by_its_names(
    hub: FakeHub, paths: Paths, tmp_path: Path, checkpoint: dict[str, bytes]
) -> None:
    """Written by huggingface_hub itself, out of the fake hub."""
    from huggingface_hub import snapshot_download

    tier = entry("8b")
    assert tier is not None
    hub.repos[tier.repo] = Repo(dict(checkpoint), commit=tier.revision)
    cache = tmp_path / "hf" / "hub"
    snapshot = Path(
        snapshot_download(tier.repo, revision=tier.revision, cache_dir=cache, endpoint=hub.endpoint, max_workers=1)
    )
    (cache / "models--other--thing" / "snapshots" / "x").mkdir(parents=True)
    (cache / "models--other--thing" / "snapshots" / "x" / "config.json").write_text("{}")
    item = listed(paths)[tier.repo]
    assert (item.path, item.source, item.revision) == (snapshot, "hub cache", tier.revision)
    assert "other/thing" not in listed(paths)
    assert resolve("8b", paths) == str(snapshot)
    verdict = verify(snapshot, paths)
    assert verdict.ok and set(outcomes(verdict.files).values()) == {"good"}
    blob = next(path for path in snapshot.iterdir() if path.name.startswith("model")).resolve()
    blob.write_bytes(bytes(blob.stat().st_size))
    assert not verify(snapshot, paths).ok
    with pytest.raises(UsageError, match="not fetched"):
        removal(snapshot, paths)


def test_a_cut_verification_says_nothing(fetched: Path, paths: Paths) -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(StoppedError):
        verify(fetched, paths, stop=stop)
    assert last_verdict(fetched, paths) is None
    with pytest.raises(CheckpointError):
        verify(paths.models / "nothing", paths)


def test_removal_frees_what_was_fetched_and_keeps_the_rest(fetched: Path, paths: Paths) -> None:
    (fetched / "notes.txt").write_text("mine")
    (fetched / "adapters").mkdir()
    (fetched / "adapters" / "lora_mine.safetensors").write_bytes(b"mine")
    plan = removal(fetched, paths)
    used = sum(path.stat().st_blocks * 512 for path in fetched.iterdir() if path.name in plan.files)
    assert plan.bytes == used > 0 and set(plan.kept) == {"adapters/lora_mine.safetensors", "notes.txt"}
    assert remove(fetched, paths) == plan
    assert sorted(path.name for path in fetched.rglob("*")) == ["adapters", "lora_mine.safetensors", "notes.txt"]


def test_nothing_is_deleted_through_a_link(fetched: Path, paths: Paths, tmp_path: Path) -> None:
    outside = put(tmp_path / "outside", {"lora_x.safetensors": b"x", "config.json": b"{}"})
    (paths.models / "linked").symlink_to(outside)
    with pytest.raises(UsageError, match="is a link"):
        remove(paths.models / "linked", paths)
    shard = next(fetched.glob("model*.safetensors"))
    moved = tmp_path / shard.name
    shard.rename(moved)
    shard.symlink_to(moved)
    (fetched / "adapters").symlink_to(outside)
    plan = remove(fetched, paths)
    assert {shard.name, "adapters"} <= set(plan.kept)
    assert moved.is_file() and sorted(path.name for path in outside.iterdir()) == [
        "config.json",
        "lora_x.safetensors",
    ]


def test_what_is_loaded_or_written_is_not_deleted(fetched: Path, paths: Paths) -> None:
    held = use.hold(fetched)
    second = use.hold(fetched)
    held.release()
    with pytest.raises(InUseError, match="loaded"):
        remove(fetched, paths)
    second.release()
    with writing(fetched), pytest.raises(InUseError, match="being fetched"):
        remove(fetched, paths)
    with use.alone(fetched), pytest.raises(InUseError, match="being deleted"):
        use.hold(fetched)
    remove(fetched, paths)
    assert not fetched.exists()


def test_details(fetched: Path, paths: Paths) -> None:
    said = details(fetched, paths)
    assert said.repo == REPO and said.revision == "a" * 40 and said.tensors > 100
    assert said.experts_per_layer == 16 and said.layers == 8 and said.heads and said.adapters
    assert sum(said.quantisation.values()) > 0 and any(form.startswith("4 bit") for form in said.quantisation)
    assert said.verified is None and said.dense_bytes + said.expert_bytes <= said.bytes


def test_commands(fetched: Path, paths: Paths, hub: FakeHub, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "ls", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert (
        rows[REPO]["status"] == "verified"
        and rows[REPO]["tier"] == "custom"
        and rows["nano"]["status"] == "built in"
    )
    assert main(["models", "verify", REPO, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ok"] is True
    (fetched / "config.json").write_bytes(b"{}")
    assert main(["models", "verify", str(fetched)]) == 4
    out, err = capsys.readouterr()
    assert "wrong size" in out and "1 bad" in err
    assert main(["models", "get", REPO, "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["state"] == "done" and "downloading" in err + "downloading"
    assert sha256((fetched / "config.json").read_bytes()) == sha256(hub.repos[REPO].files["config.json"])
    assert main(["models", "rm", REPO]) == 2
    assert "--yes" in capsys.readouterr().err
    assert main(["models", "rm", REPO, "--yes", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["bytes"] > 0 and not fetched.exists()
    assert main(["models", "rm", REPO, "--yes"]) == 2
    assert main(["models", "get", "someone/nothing"]) == 6
    assert "does not exist" in capsys.readouterr().err
    assert main(["models", "get", "nonsense"]) == 2

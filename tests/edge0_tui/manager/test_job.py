"""A whole download in this process, against a hub that behaves and one that does not."""

from __future__ import annotations

import errno
import resource
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from edge0_tui.manager.errors import HubError, InUseError, SpaceError, StoppedError
from edge0_tui.manager.events import Progress
from edge0_tui.manager.files import read_json
from edge0_tui.manager.job import Job
from edge0_tui.manager.part import Part
from edge0_tui.manager.record import read_record
from edge0_tui.manager.repo_id import RepoId, parse_repo
from edge0_tui.manager.tuning import Tuning
from edge0_tui.manager.writer_lock import being_written, writing
from edge0_tui.paths import Paths
from engine.errors import EngineError
from tests.edge0_tui.manager.conftest import FIRST, HASTY, REPO, SECOND, WANTED, content
from tests.edge0_tui.manager.fake_hub import Answer, FakeHub, Repo


def fetch(
    paths: Paths, tuning: Tuning = HASTY, stop: threading.Event | None = None, id: RepoId | None = None
) -> Run:
    run = Run(paths, tuning, stop or threading.Event(), id or RepoId(REPO))
    run.job.run()
    return run


class Run:
    def __init__(self, paths: Paths, tuning: Tuning, stop: threading.Event, id: RepoId) -> None:
        self.folder = paths.models / id.folder
        self.events: list[Progress] = []
        self.job = Job(id, self.folder, tuning, self.events.append, stop)


def folder_of(paths: Paths) -> Path:
    return paths.models / RepoId(REPO).folder


def assert_whole(paths: Paths, hub: FakeHub) -> None:
    folder = folder_of(paths)
    for name in WANTED:
        assert (folder / name).read_bytes() == hub.repos[REPO].files[name], name
    record = read_record(folder)
    assert record is not None and record.complete(folder)
    assert not list(folder.rglob("*.part*"))


@contextmanager
def interrupted(hub: FakeHub, paths: Paths, name: str = FIRST, at: int = 400_000) -> Iterator[None]:
    """A download that was stopped when `at` bytes of a file had been sent; all else is there."""
    stop = threading.Event()
    hub.fault = lambda file, asked, answer: setattr(answer, "pause_at", at if file == name else None)
    run = Run(paths, replace(HASTY, silence=60.0), stop, RepoId(REPO))
    caught: list[BaseException] = []

    def work() -> None:
        try:
            run.job.run()
        except StoppedError as error:
            caught.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    assert hub.waiting.wait(60)
    sidecar = folder_of(paths) / f"{name}.part.json"
    wait_until(lambda: part_size(paths, name) >= at and read_json(sidecar).get("synced", 0) >= HASTY.synced_every)
    stop.set()
    thread.join(60)
    assert caught
    hub.gate.set()
    hub.fault = None
    yield


def part_size(paths: Paths, name: str) -> int:
    with suppress(OSError):
        return (folder_of(paths) / f"{name}.part").stat().st_size
    return 0


def wait_until(condition: object, seconds: float = 60.0) -> None:
    assert callable(condition)
    done = threading.Event()
    for _ in range(int(seconds / 0.01)):
        if condition():
            return
        done.wait(0.01)
    raise AssertionError("it did not happen in time")


def test_everything_needed_arrives_verified_and_nothing_else(hub: FakeHub, paths: Paths) -> None:
    run = fetch(paths)
    assert_whole(paths, hub)
    names = {str(path.relative_to(run.folder)) for path in run.folder.rglob("*") if path.is_file()}
    assert names == {*WANTED, ".edge0-tui.json"}
    assert not (paths.models / "outside.json").exists()
    assert run.events[0].phase == "asking" and run.events[-1].phase == "done"
    total = sum(len(hub.repos[REPO].files[name]) for name in WANTED)
    assert run.events[-1].done_bytes == run.events[-1].total_bytes == total
    assert hub.sent[FIRST] == len(hub.repos[REPO].files[FIRST])


def test_again_costs_no_bytes(hub: FakeHub, paths: Paths) -> None:
    fetch(paths)
    before = hub.sent.total()
    fetch(paths)
    assert hub.sent.total() - before < 5_000  # the hub's description


def test_a_file_already_there_is_hashed_not_fetched(hub: FakeHub, paths: Paths) -> None:
    folder_of(paths).mkdir(parents=True)
    (folder_of(paths) / FIRST).write_bytes(hub.repos[REPO].files[FIRST])
    (folder_of(paths) / SECOND).write_bytes(bytes(len(hub.repos[REPO].files[SECOND])))
    fetch(paths)
    assert_whole(paths, hub)
    assert hub.sent[FIRST] == 0 and hub.sent[SECOND] == len(hub.repos[REPO].files[SECOND])


def test_resume_asks_for_the_rest_only_and_progress_only_grows(hub: FakeHub, paths: Paths) -> None:
    with interrupted(hub, paths):
        sent = hub.sent[FIRST]
        arrived = part_size(paths, FIRST)
        run = fetch(paths)
    assert_whole(paths, hub)
    size = len(hub.repos[REPO].files[FIRST])
    headers = hub.requests(FIRST)[-1]
    assert headers["range"] == f"bytes={arrived}-" and headers["if-range"].startswith('"')
    assert sent <= arrived + HASTY.piece
    # One piece was on its way when the connection was closed.
    assert hub.sent[FIRST] <= size + HASTY.piece
    counts = [event.done_bytes for event in run.events if event.phase == "downloading"]
    assert counts == sorted(counts) and counts[0] >= arrived
    assert all(event.done_bytes <= event.total_bytes for event in run.events)


def test_after_a_reboot_only_what_was_forced_to_the_disk_is_trusted(
    hub: FakeHub, paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    with interrupted(hub, paths):
        monkeypatch.setattr("edge0_tui.manager.part.boot_id", lambda: "another boot")
        path = folder_of(paths) / f"{FIRST}.part"
        synced = read_json(path.with_name(f"{path.name}.json"))["synced"]
        with path.open("ab") as file:
            file.write(bytes(100_000))  # as a file system leaves pages that were never written
        fetch(paths)
    assert_whole(paths, hub)
    assert hub.requests(FIRST)[-1]["range"] == f"bytes={synced}-" and synced >= HASTY.synced_every


def test_a_server_without_ranges_restarts_the_file(hub: FakeHub, paths: Paths) -> None:
    def whole(name: str, asked: dict[str, str], answer: Answer) -> None:
        if answer.status == 206:
            answer.status, answer.body = 200, hub.repos[REPO].files[name]
            del answer.headers["Content-Range"]

    with interrupted(hub, paths):
        hub.fault = whole
        run = fetch(paths)
    assert_whole(paths, hub)
    assert any("starts anew" in event.note for event in run.events)


@pytest.mark.parametrize(
    "wrong", ["bytes 0-999999/1000000", "bytes 5-9/1000000", "bytes */1000000", "", "nonsense"]
)
def test_a_wrong_content_range_is_never_written(hub: FakeHub, paths: Paths, wrong: str) -> None:
    def lie(name: str, asked: dict[str, str], answer: Answer) -> None:
        if answer.status == 206:
            answer.headers["Content-Range"] = wrong

    with interrupted(hub, paths):
        arrived = part_size(paths, FIRST)
        hub.fault = lie
        with pytest.raises(HubError, match="does not answer as HTTP asks for"):
            fetch(paths)
        assert part_size(paths, FIRST) == arrived
        hub.fault = None
        fetch(paths)
    assert_whole(paths, hub)


def test_connections_that_end_early_are_continued(hub: FakeHub, paths: Paths) -> None:
    def cut(name: str, asked: dict[str, str], answer: Answer) -> None:
        answer.cut_at = 150_000 if name == FIRST else None

    hub.fault = cut
    fetch(paths)
    assert_whole(paths, hub)
    assert hub.sent[FIRST] == len(hub.repos[REPO].files[FIRST])
    assert len(hub.requests(FIRST)) > 3


def test_one_flipped_bit_is_fetched_anew_and_twice_is_an_error(hub: FakeHub, paths: Paths) -> None:
    flips = 1

    def flip(name: str, asked: dict[str, str], answer: Answer) -> None:
        nonlocal flips
        if name == SECOND and flips:
            flips -= 1
            answer.body = answer.body[:7] + bytes([answer.body[7] ^ 4]) + answer.body[8:]

    hub.fault = flip
    run = fetch(paths)
    assert_whole(paths, hub)
    assert any("arrived damaged" in event.note for event in run.events) or hub.sent[SECOND] > 900_000
    shutil.rmtree(folder_of(paths))
    flips = 2
    with pytest.raises(HubError, match=f"{SECOND} arrived twice with another hash"):
        fetch(paths)
    assert not (folder_of(paths) / SECOND).exists() and not part_size(paths, SECOND)
    record = read_record(folder_of(paths))
    assert record is not None and not record.complete(folder_of(paths))


@pytest.mark.parametrize(
    ("status", "headers", "says"),
    [
        (401, {}, "HF_TOKEN"),
        (401, {"X-Error-Code": "RepoNotFound"}, "does not exist"),
        (403, {"X-Error-Code": "GatedRepo"}, "Accept the model's conditions"),
        (404, {"X-Error-Code": "RepoNotFound"}, "does not exist"),
        (404, {"X-Error-Code": "RevisionNotFound"}, "no such revision"),
        (429, {"Retry-After": "77"}, "in 77 s"),
        (500, {}, "in trouble"),
        (503, {}, "in trouble"),
    ],
)
def test_refusals_are_clear(hub: FakeHub, paths: Paths, status: int, headers: dict[str, str], says: str) -> None:
    hub.statuses = [(status, headers)] * 5
    with pytest.raises(HubError) as caught:
        fetch(paths)
    assert says in str(caught.value) and REPO in str(caught.value) + REPO
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 300
    assert caught.value.exit_code == 6


def test_a_hub_in_trouble_during_the_files_is_asked_again(hub: FakeHub, paths: Paths) -> None:
    troubles = [503, 429, 500, 502]

    def trouble(name: str, asked: dict[str, str], answer: Answer) -> None:
        if name == FIRST and troubles:
            answer.status, answer.body = troubles.pop(), b"trouble"
            answer.headers = {"Retry-After": "0"}

    hub.fault = trouble
    run = fetch(paths)
    assert_whole(paths, hub)
    assert not troubles and all(event.done_bytes <= event.total_bytes for event in run.events)


def test_a_refusal_of_one_file_ends_the_download_with_what_has_arrived_kept(hub: FakeHub, paths: Paths) -> None:
    def refuse(name: str, asked: dict[str, str], answer: Answer) -> None:
        if name == "tokenizer.json":
            answer.status, answer.body = 404, b""

    hub.fault = refuse
    with pytest.raises(HubError, match=r"tokenizer\.json does not exist"):
        fetch(paths)
    hub.fault = None
    fetch(paths)
    assert_whole(paths, hub)


def test_an_expired_link_to_the_storage_is_asked_for_again(hub: FakeHub, paths: Paths) -> None:
    expired = [403, 403]

    def expire(name: str, asked: dict[str, str], answer: Answer) -> None:
        if name == FIRST and expired:
            answer.status, answer.body = expired.pop(), b"expired"

    hub.fault = expire
    fetch(paths)
    assert_whole(paths, hub)


def test_the_endpoint_is_down(hub: FakeHub, paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(HubError, match=r"127\.0\.0\.1:9 cannot be reached"):
        fetch(paths)


def test_a_silent_socket_is_given_up_and_the_rest_comes_over_another(hub: FakeHub, paths: Paths) -> None:
    silent = 1

    def stall(name: str, asked: dict[str, str], answer: Answer) -> None:
        nonlocal silent
        if name == FIRST and silent:
            silent -= 1
            answer.pause_at = 300_000

    hub.fault = stall
    run = fetch(paths, replace(HASTY, silence=0.3, first_wait=0.3))
    assert_whole(paths, hub)
    assert any("no answer in time" in event.stalled for event in run.events)
    assert hub.requests(FIRST)[-1]["range"].startswith("bytes=")


def test_patience_ends(hub: FakeHub, paths: Paths) -> None:
    def stall(name: str, asked: dict[str, str], answer: Answer) -> None:
        answer.pause_at = 0 if name == FIRST else None

    hub.fault = stall
    with pytest.raises(HubError, match="nothing has arrived for too long"):
        fetch(paths, replace(HASTY, silence=0.1, patience=0.5))


def test_a_branch_that_moved_on_keeps_what_is_the_same(hub: FakeHub, paths: Paths) -> None:
    with interrupted(hub, paths):
        repo = hub.repos[REPO]
        repo.commit = "b" * 40
        repo.files["config.json"] = b'{"model_type": "other"}'
        arrived = part_size(paths, FIRST)
        fetch(paths)
    assert_whole(paths, hub)
    assert hub.requests(FIRST)[-1]["range"] == f"bytes={arrived}-"
    record = read_record(folder_of(paths))
    assert record is not None and record.commit == "b" * 40


def test_a_branch_that_moved_on_drops_what_is_not(hub: FakeHub, paths: Paths) -> None:
    with interrupted(hub, paths):
        hub.repos[REPO] = Repo(content(seed=1), commit="b" * 40)
        fetch(paths)
    assert_whole(paths, hub)
    assert "range" not in hub.requests(FIRST)[-1]


def test_a_file_exchanged_while_it_is_fetched_is_noticed(hub: FakeHub, paths: Paths) -> None:
    with interrupted(hub, paths):
        hub.repos[REPO].stated = dict(hub.repos[REPO].files)
        hub.repos[REPO].files[FIRST] = content(seed=1)[FIRST]
        with pytest.raises(HubError, match=f"{FIRST} arrived twice with another hash"):
            fetch(paths)
    assert not (folder_of(paths) / FIRST).exists()


def test_a_file_of_another_size_than_stated_is_noticed_at_once(hub: FakeHub, paths: Paths) -> None:
    hub.repos[REPO].stated = dict(hub.repos[REPO].files)
    hub.repos[REPO].files[FIRST] += b"!"
    with pytest.raises(HubError, match=f"{FIRST} is another file"):
        fetch(paths)
    assert part_size(paths, FIRST) == 0


def test_no_room_is_refused_before_anything_is_fetched(hub: FakeHub, paths: Paths) -> None:
    with pytest.raises(SpaceError, match="are needed") as caught:
        fetch(paths, replace(HASTY, reserve=1 << 60))
    assert caught.value.exit_code == 3 and hub.sent[FIRST] == 0


def test_a_disk_that_gets_full_keeps_what_has_arrived(hub: FakeHub, paths: Paths) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, limits[1]))
    try:
        with pytest.raises(SpaceError, match="make room"):
            fetch(paths)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert part_size(paths, FIRST) == 600_000
    fetch(paths)
    assert_whole(paths, hub)
    assert hub.requests(FIRST)[-1]["range"] == "bytes=600000-"


@pytest.fixture
def small_disk(paths: Paths) -> Iterator[Path]:
    """The models folder on a volume of 2 MiB of its own."""
    paths.models.mkdir(parents=True)
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(paths.models)], capture_output=True
    )
    if made.returncode:
        pytest.skip("no volume can be mounted here")
    try:
        yield paths.models
    finally:
        subprocess.run(["umount", "-l", str(paths.models)], check=True)


@pytest.mark.skipif(shutil.which("mount") is None, reason="needs mount")
def test_a_volume_that_others_fill_meanwhile(hub: FakeHub, paths: Paths, small_disk: Path) -> None:
    ballast = small_disk / "ballast"

    def fill(*_: object) -> None:
        if not ballast.exists():
            ballast.write_bytes(bytes(shutil.disk_usage(small_disk).free - 100_000))

    with interrupted(hub, paths):
        fill()
        arrived = part_size(paths, FIRST)
        with pytest.raises(SpaceError, match="are needed"):
            fetch(paths)
        # Room for what is known to be missing, but gone when it is needed.
        ballast.unlink()
        hub.fault = fill
        with pytest.raises(SpaceError, match="is full"):
            fetch(paths)
        assert part_size(paths, FIRST) >= arrived
        ballast.unlink()
        hub.fault = None
        sent = hub.sent[FIRST]
        begun = part_size(paths, FIRST)
        fetch(paths)
        assert hub.sent[FIRST] - sent == len(hub.repos[REPO].files[FIRST]) - begun
    assert_whole(paths, hub)


def test_a_disk_that_others_fill_stops_it_before_it_is_full(
    hub: FakeHub, paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pause(name: str, asked: dict[str, str], answer: Answer) -> None:
        answer.pause_at = 400_000 if name == FIRST else None

    plenty = shutil.disk_usage("/")._replace(free=1 << 40)

    def usage(folder: Path) -> object:
        return plenty._replace(free=1000) if part_size(paths, FIRST) else plenty

    hub.fault = pause
    monkeypatch.setattr("edge0_tui.manager.job.shutil.disk_usage", usage)
    with pytest.raises(SpaceError, match="1000 B free"):
        fetch(paths, replace(HASTY, silence=60.0, reserve=1 << 20))
    assert part_size(paths, FIRST) > 0


def test_enospc_in_the_middle_of_a_write_counts_what_was_written(
    hub: FakeHub, paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The write really fails: /dev/full takes nothing."""
    write = Part.write

    def full(part: Part, data: memoryview) -> None:
        if part.size > 300_000 and part.final.name == FIRST:
            with open("/dev/full", "wb", buffering=0) as device:  # noqa: PTH123 - a device
                device.write(data)
        write(part, data)

    monkeypatch.setattr(Part, "write", full)
    with pytest.raises(SpaceError, match="is full") as caught:
        fetch(paths)
    assert caught.value.exit_code == 3 and errno.ENOSPC
    monkeypatch.undo()
    monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
    fetch(paths)
    assert_whole(paths, hub)
    assert hub.requests(FIRST)[-1]["range"].startswith("bytes=")


def test_one_writer(hub: FakeHub, paths: Paths) -> None:
    with writing(folder_of(paths)):
        assert being_written(folder_of(paths))
        with pytest.raises(InUseError):
            fetch(paths)
    assert not being_written(folder_of(paths))
    fetch(paths)


def test_the_token_goes_to_the_hub_and_not_to_its_storage(
    hub: FakeHub, paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.token = "hf_secret"
    with pytest.raises(HubError, match="who you are"):
        fetch(paths)
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    fetch(paths)
    assert_whole(paths, hub)
    store = [headers for port, _, headers in hub.asked if port == hub.store_port]
    assert store and not any("authorization" in headers for headers in store)


def test_offline_is_honoured(hub: FakeHub, paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(HubError, match="HF_HUB_OFFLINE"):
        fetch(paths)
    assert not hub.asked


def test_a_repository_without_weights_is_refused(hub: FakeHub, paths: Paths) -> None:
    hub.repos[REPO] = Repo({"config.json": b"{}", "README.md": b""})
    with pytest.raises(HubError, match="holds no checkpoint"):
        fetch(paths)


def test_a_pinned_commit_is_asked_for(hub: FakeHub, paths: Paths) -> None:
    fetch(paths, id=parse_repo(f"{REPO}@{'a' * 40}"))
    with pytest.raises(HubError, match="no such revision"):
        fetch(paths, id=parse_repo(f"{REPO}@{'c' * 40}"))


def test_part_through_a_link_is_refused(hub: FakeHub, paths: Paths, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"mine")
    folder_of(paths).mkdir(parents=True)
    (folder_of(paths) / f"{FIRST}.part").symlink_to(victim)
    with pytest.raises(EngineError):
        fetch(paths)
    assert victim.read_bytes() == b"mine"

"""Switching adapters on a loaded base: by name from the folder, counted, within the plan, refused without loss."""

from __future__ import annotations

import gc
import shutil
import weakref
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import mlx.core as mx
import pytest

from engine import session as sessions
from engine.adapters import load as adapters
from engine.checkpoint import TensorInfo, open_checkpoint
from engine.checkpoint.synthetic import SyntheticSpec, tiny
from engine.checkpoint.synthetic.adapters import HEADS, LORA, write_adapters
from engine.checkpoint.synthetic.words import Randomness
from engine.checkpoint.tiers import NANO
from engine.choice import choose
from engine.errors import CheckpointError, PlanError
from engine.loaded import LoadStopped, load
from engine.models import weights
from engine.models.arrays import read_array
from engine.plan import least_budget
from engine.protocol import Delta, Event, Generate, Load, Message, ModelInfo, Sampling
from engine.session import Session
from tests.engine.fidelity.bench_of_one import Subject, never

FEW = Sampling(temperature=0.0, max_tokens=12)
QUESTION = [Message("user", "What is an expert?")]


def write(path: Path, spec: SyntheticSpec, seed: int) -> Path:
    """An adapter as published, with the targets of `spec`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_adapters(path.parent, replace(spec, owners=()), Randomness(seed), lambda *_: None)
    (path.parent / LORA).rename(path)
    return path


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """An adapters folder with one that fits, one of another model, and one that is no adapter."""
    folder = tmp_path / "adapters"
    write(folder / "style.safetensors", tiny(), 11)
    write(folder / "other.safetensors", replace(tiny(), model=replace(tiny().model, hidden_size=192)), 12)
    (folder / "broken.safetensors").write_bytes(b"\x00" * 100)
    return folder


def request(path: Path, adapter: str = "", folder: Path | None = None, **options: object) -> Load:
    made = Load("l", str(path), adapter, "exact", adapters_dir=str(folder) if folder else "")
    return replace(made, **options)  # type: ignore[arg-type]


def loads(session: Session, wanted: Load, cancelled: Callable[[], bool] = never) -> ModelInfo:
    return session.load(wanted, lambda *_: None, cancelled)


def test_an_adapter_of_the_folder_is_named_counted_and_taken_off(tiny_checkpoint: Path, stored: Path) -> None:
    subject = Subject(tiny_checkpoint, routing="exact")
    default = subject.ask(QUESTION, FEW).ids
    info = loads(subject.session, request(tiny_checkpoint, "style", stored))
    assert info.adapter == "style" and info.adapters_available == [Path(LORA).stem, "style"]
    report = info.adapter_report
    assert report is not None and (report.applied, report.not_found, report.skipped) == (62, 0, 0)
    assert (report.format, report.rank, report.scale) == ("published", 4, 2.0)
    assert 0 < report.seconds <= info.load_seconds < info.base_seconds
    styled = subject.ask(QUESTION, FEW).ids
    fresh = Subject(tiny_checkpoint, adapter=str(stored / "style.safetensors"), routing="exact")
    assert styled == fresh.ask(QUESTION, FEW).ids
    assert styled != default
    bare = loads(subject.session, request(tiny_checkpoint, "none", stored))
    assert bare.adapter == "none" and bare.adapter_report is None


def test_a_refused_switch_keeps_the_adapter_that_was_on(tiny_checkpoint: Path, stored: Path) -> None:
    subject = Subject(tiny_checkpoint, routing="exact")
    before, base = subject.ask(QUESTION, FEW).ids, subject.loaded.model
    for name, message in (
        ("other", "does not belong to"),
        ("broken", r"broken\.safetensors"),
        ("x", "Available: "),
    ):
        with pytest.raises(CheckpointError, match=message):
            loads(subject.session, request(tiny_checkpoint, name, stored))
    seen = 0

    def stop() -> bool:
        nonlocal seen
        seen += 1
        return seen > 5

    with pytest.raises(LoadStopped):
        loads(subject.session, request(tiny_checkpoint, "style", stored), stop)
    assert seen == 6, "a stop is obeyed before the next pair of tensors is read"
    again = subject.ask(QUESTION, FEW)
    assert again.ids == before and subject.loaded.model is base and subject.loaded.adapter == Path(LORA).stem
    assert again.counters.reused_tokens > 0, "not even the conversation's state was lost"


def test_a_larger_adapter_than_planned_brings_a_new_plan(tiny_checkpoint: Path, tmp_path: Path) -> None:
    session = Session()
    first = loads(session, request(tiny_checkpoint))
    base = session.loaded.model
    large = write(tmp_path / "large.safetensors", replace(tiny(), lora_rank=32), 5)
    second = loads(session, request(tiny_checkpoint, str(large)))
    room = {item.name: item.bytes for item in second.plan}["adapter"]
    assert session.loaded.model is not base and second.adapter == "large"
    assert room == 8 * {item.name: item.bytes for item in first.plan}["adapter"]
    third = loads(session, request(tiny_checkpoint, "none"))
    assert third.plan == second.plan, "room that is planned is used"


def test_one_that_no_plan_has_room_for_is_refused_without_loss(tiny_checkpoint: Path, tmp_path: Path) -> None:
    session = Session()
    width = session.kernels.activation_dtype.size
    least = least_budget(choose(request(tiny_checkpoint)).facts(width))
    loads(session, request(tiny_checkpoint, memory_bytes=least))
    base = session.loaded.model
    large = write(tmp_path / "large.safetensors", replace(tiny(), lora_rank=64), 5)
    with pytest.raises(PlanError, match="adapter") as refused:
        loads(session, request(tiny_checkpoint, str(large), memory_bytes=least))
    assert "at least" in refused.value.hint
    assert session.loaded.model is base and session.loaded.adapter == Path(LORA).stem


def test_the_folders_adapters_count_in_the_plan_from_the_start(tiny_checkpoint: Path, tmp_path: Path) -> None:
    write(tmp_path / "adapters" / "large.safetensors", replace(tiny(), lora_rank=32), 5)
    session = Session()
    loads(session, request(tiny_checkpoint, folder=tmp_path / "adapters"))
    base = session.loaded.model
    loads(session, request(tiny_checkpoint, "large", tmp_path / "adapters"))
    assert session.loaded.model is base


def test_a_stopped_load_reads_not_one_tensor_more(tiny_checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def noted(info: TensorInfo) -> mx.array:
        read.append(info.name)
        return read_array(info)

    for module in (weights, adapters):
        monkeypatch.setattr(module, "read_array", noted)
    loads(Session(), request(tiny_checkpoint))
    total = len(read)
    for allowed in (1, total // 2, total - 30, total - 3):
        read.clear()
        with pytest.raises(LoadStopped):
            loads(Session(), request(tiny_checkpoint), lambda most=allowed: len(read) >= most)  # type: ignore[misc]
        assert allowed <= len(read) <= allowed + 1, "an adapter's two factors are read together"


def test_the_old_base_is_gone_before_the_next_one_is_read(
    tiny_checkpoint: Path, plain_checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = Session()
    loads(session, request(tiny_checkpoint))
    old = weakref.ref(session.loaded.model)

    def checked(*arguments: object) -> object:
        gc.collect()
        assert old() is None, "two bases would be in memory"
        return load(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(sessions, "load", checked)
    loads(session, request(plain_checkpoint))


def test_a_damaged_adapter_does_not_keep_the_base_from_running(tiny_checkpoint: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(tiny_checkpoint, tmp_path / "copy"))
    (copy / "lora_damaged.safetensors").write_bytes(b"\x00" * 64)
    info = loads(Session(), request(copy, Path(LORA).stem))
    assert "lora_damaged" in info.adapters_available, "it is shown, and choosing it says what is wrong"


def test_files_that_only_loading_needs_are_not_read_again(tiny_checkpoint: Path, tmp_path: Path) -> None:
    subject = Subject(Path(shutil.copytree(tiny_checkpoint, tmp_path / "copy")), routing="exact")
    (tmp_path / "copy" / "generation_config.json").unlink()
    assert subject.session.loaded.sampling == subject.info.sampling
    asked = Generate("g", QUESTION)
    stopped: list[Event] = []
    reply = subject.session.generate(
        asked, stopped.append, lambda: sum(isinstance(event, Delta) for event in stopped) > 2
    )
    assert reply.ids and reply.seed is not None


def test_nano_can_carry_heads_and_two_adapters(tmp_path: Path) -> None:
    """Published names and layout, metadata of its own; the first adapter is the default."""
    path = Path(shutil.copytree(NANO, tmp_path / "nano", ignore=shutil.ignore_patterns("lora_*", "prerouter_*")))
    (path / "config.json").write_text((NANO / "config.json").read_text())
    found = open_checkpoint(NANO)
    spec = SyntheticSpec(
        model=found.config,
        quant=found.quant,
        experts_per_token=found.experts_per_token,
        owners=found.config.moe_layers[1:-1],
        head_hidden=16,
        lora_rank=4,
    )
    write(path / "lora_nano_recovery.safetensors", spec, 1)
    write(path / "lora_nano_style.safetensors", spec, 2)
    write_adapters(path, replace(spec, lora_rank=0), Randomness(3), lambda *_: None)
    (path / HEADS).rename(path / "prerouter_nano.safetensors")
    subject = Subject(path)
    info = subject.info
    assert info.adapters_available == ["lora_nano_recovery", "lora_nano_style"]
    assert info.adapter == "lora_nano_recovery" and info.routing == "predicted"
    assert info.experts_per_token == open_checkpoint(NANO).experts_per_token
    report = info.adapter_report
    assert report is not None and report.applied == len(found.config.lora_targets) and report.not_found == 0
    recovered = subject.raw("What is a slot?", FEW, measure_agreement=True)
    assert recovered.counters.routing.predicted_layers > 0
    styled = subject.session.load(Load("l", str(path), "lora_nano_style"), lambda *_: None, never)
    assert styled.adapter == "lora_nano_style"
    assert subject.raw("What is a slot?", FEW).ids != recovered.ids

"""`models plan` and the plan's part of `doctor`, without an engine process."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from edge0_tui.cli import main
from edge0_tui.commands import plan
from edge0_tui.paths import Paths, find_paths
from edge0_tui.planning import planned
from engine.checkpoint.synthetic import tiny, write_synthetic
from engine.errors import CheckpointError, EngineError
from engine.outlook import store
from engine.outlook.engine_facts import DeviceFacts
from engine.outlook.published import published_facts
from engine.outlook.volume import volume_id
from engine.plan import GiB
from tests.engine.outlook.examples import COMPUTE, DISK


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paths:
    monkeypatch.setenv("EDGE0_HOME", str(tmp_path / "home"))
    for variable in ("EDGE0_8B_MODEL", "EDGE0_35B_MODEL"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(plan, "ask_engine", lambda: DeviceFacts("cpu", 4, None, {}))
    return find_paths()


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_synthetic(tmp_path_factory.mktemp("plan") / "small", tiny(), seed=1)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    try:
        code = main(["models", "plan", *arguments])
    except SystemExit as left:
        assert isinstance(left.code, int)
        code = left.code
    return code, *capsys.readouterr()


def test_a_tier_that_is_not_there_is_planned_from_its_dimensions(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "8b", "--json", "--memory", "2GiB", "--context", "8192")
    found = json.loads(out)
    assert code == (3 if found["verdict"] == "no" else 0)
    facts = published_facts("8b", 4)
    assert (found["budget"], found["context"], found["speed"]) == (2 * GiB, 8192, None)
    items = {item["name"]: item["bytes"] for item in found["items"]}
    assert items["dense weights"] == facts.dense and items["KV cache"] == 8192 * facts.cache_per_token
    assert [entry["context"] for entry in found["kv"]] == [4096, 8192, 32768]
    assert found["machine"]["memory"]["total"] > 0 and "disk" in found["machine"]


def test_a_refusal_is_itemised_and_exit_code_3(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "35b", "--memory", "1GiB")
    assert code == 3
    for word in ("dense weights", "160 slots", "does not fit in 1.00 GiB", "It needs at least"):
        assert word in " ".join(out.split())


def test_what_was_measured_gives_a_speed(
    home: Paths, checkpoint: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, _ = run(capsys, str(checkpoint))
    assert code == 0 and "expected speed: unknown; add --measure" in out and "not measured" in out
    shape = planned(str(checkpoint), home).model.facts(4).shape
    measured: list[str] = []

    def measure(
        machine: object, model: object, name: str, folder: Path, *, again: bool, progress: Callable[[str], None]
    ) -> object:
        measured.append(name)
        progress("reading records, 4 at a time")
        store.keep_disk(folder, volume_id(checkpoint), DISK)
        store.keep_compute(folder, replace(COMPUTE, shape=shape, version=store.version()))
        return machine

    monkeypatch.setattr(plan, "measure", measure)
    _, _, err = run(capsys, str(checkpoint), "--measure")
    assert "reading records, 4 at a time (0 s so far, up to a minute where slow)" in err, "in a log as well"
    assert measured == [str(checkpoint)]
    code, out, _ = run(capsys, str(checkpoint))
    assert code == 0 and "tokens a second, predicted routing" in out and "8: 1.00 GB/s" in out
    code, out, _ = run(capsys, str(checkpoint), "--json", "--routing", "exact")
    found = json.loads(out)
    assert found["speed"]["routing"] == "exact"
    assert found["pace"] == "slow" and "slow: about 1." in found["sentence"]
    pace = found["speed"]["tokens_per_second"]
    assert 0 < pace["low"] <= pace["likely"] <= pace["high"]
    assert found["machine"]["disk"]["bytes_per_second"]["8"] == 1e9


def test_all_tiers_and_which_to_take(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys)
    assert code == 0 and "Recommended: " in out and "LEAST MEMORY" in out
    code, out, _ = run(capsys, "--json")
    found = json.loads(out)
    assert [entry["model"] for entry in found["plans"]] == ["35b", "8b", "nano"]
    assert found["recommended"]["model"] in ("35b", "8b", "nano") and found["recommended"]["reason"]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["/nowhere"], 4, "no such directory"),
        (["8b", "--volume", "/nowhere"], 2, "--volume"),
        (["8b", "--memory", "lots"], 2, "--memory"),
        (["8b", "--context", "999999999"], 2, "context is 999999999"),
        (["8b", "--adapter", "x"], 2, "--adapter"),
    ],
)
def test_wrong_input_is_named(
    arguments: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found, out, err = run(capsys, *arguments)
    assert (found, out) == (code, "") and said in err


def test_a_variable_that_leads_nowhere_is_not_passed_over(home: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    assert planned("8b", home).directory is None
    monkeypatch.setenv("EDGE0_8B_MODEL", "/nowhere")
    with pytest.raises(CheckpointError, match="EDGE0_8B_MODEL"):
        planned("8b", home)


def test_an_engine_that_does_not_start_leaves_its_facts_unknown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> DeviceFacts:
        raise EngineError("The engine does not start: no BLAS")

    monkeypatch.setattr(plan, "ask_engine", broken)
    code, out, err = run(capsys, "nano", "--json")
    assert "no BLAS" in err and json.loads(out)["machine"]["accelerator_working_set"] is None
    assert code in (0, 3)

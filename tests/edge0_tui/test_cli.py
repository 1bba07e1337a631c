"""The command line without an engine: grammar, refusals, and the commands that only look at files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from edge0_tui.cli import main
from edge0_tui.commands import doctor
from edge0_tui.commands.parser import build_parser
from edge0_tui.commands.run import _messages, _sampling
from edge0_tui.installed import installed_models, resolve
from edge0_tui.paths import Paths, find_paths
from engine.checkpoint.synthetic import tiny, write_synthetic
from engine.errors import CheckpointError, UsageError
from engine.protocol import Message


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paths:
    monkeypatch.setenv("EDGE0_HOME", str(tmp_path / "home"))
    for variable in ("EDGE0_8B_MODEL", "EDGE0_35B_MODEL"):
        monkeypatch.delenv(variable, raising=False)
    return find_paths()


def code_of(*arguments: str) -> int:
    try:
        return main(list(arguments))
    except SystemExit as left:
        assert isinstance(left.code, int)
        return left.code


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["run"], "-p"),
        (["run", "-p", "  "], "-p"),
        (["run", "-p", "x", "--memory", "3X"], "--memory"),
        (["run", "-p", "x", "--memory", "0"], "--memory"),
        (["run", "-p", "x", "--memory", "-1GiB"], "--memory"),
        (["run", "-p", "x", "--context", "0"], "--context"),
        (["run", "-p", "x", "--context", "4k"], "--context"),
        (["run", "-p", "x", "--routing", "guess"], "--routing"),
        (["run", "-p", "x", "--temperature", "warm"], "--temperature"),
        (["run", "-p", "x", "--temperature", "nan"], "--temperature"),
        (["run", "-p", "x", "--temperature", "-1"], "--temperature"),
        (["run", "-p", "x", "--top-k", "-1"], "--top-k"),
        (["run", "-p", "x", "--top-p", "0"], "--top-p"),
        (["run", "-p", "x", "--top-p", "1.5"], "--top-p"),
        (["run", "-p", "x", "--min-p", "2"], "--min-p"),
        (["run", "-p", "x", "--repetition-penalty", "0"], "--repetition-penalty"),
        (["run", "-p", "x", "--seed", "1.5"], "--seed"),
        (["run", "-p", "x", "--max-tokens", "0"], "--max-tokens"),
        (["run", "-p", "x", "--greedy", "--temperature", "0.5"], "--greedy"),
        (["run", "-p", "x", "--raw", "--system", "y"], "--system"),
        (["run", "-p", "x", "--raw", "--thinking"], "--thinking"),
        (["run", "-p", "x", "--unknown"], "--unknown"),
        (["run", "-p", "x", "--temp", "1"], "--temp"),
        (["-m", "nano", "doctor"], "--model"),
        (["--continue", "models", "ls"], "--continue"),
        (["--memory", "3X"], "--memory"),
        (["--resume", "a", "--continue"], "--resume"),
        (["--memory", "1GiB", "bench"], "bench"),
        (["models"], "ACTION"),
        (["models", "fetch", "8b"], "fetch"),
        (["dance"], "dance"),
        ([], "terminal"),
    ],
)
def test_wrong_usage_names_the_option(arguments: list[str], named: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert code_of(*arguments) == 2
    out, err = capsys.readouterr()
    assert named in err.splitlines()[-1] and out == ""


def test_options_before_and_after_run_mean_the_same() -> None:
    parser = build_parser()
    before = parser.parse_args(["-m", "8b", "--memory", "3GiB", "run", "-p", "x"])
    after = parser.parse_args(["run", "-p", "x", "-m", "8b", "--memory", "3g"])
    assert (before.model, before.memory) == (after.model, after.memory) == ("8b", 3 << 30)
    assert parser.parse_args(["-m", "8b", "run", "-p", "x", "-m", "35b"]).model == "35b"
    assert parser.parse_args(["run", "-p", "x"]).memory is None


def parse(*arguments: str) -> Any:
    return build_parser().parse_args(["run", *arguments])


def test_only_what_was_given_overrides_the_checkpoints_sampling() -> None:
    assert _sampling(parse("-p", "x")) == {}
    assert _sampling(parse("-p", "x", "--greedy", "--seed", "0")) == {"temperature": 0.0, "seed": 0}
    assert _sampling(parse("-p", "x", "--top-k", "0", "--min-p", "0")) == {"top_k": 0, "min_p": 0.0}


def test_turns_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "turns.json"
    file.write_text('[{"role": "user", "content": "a"}, {"role": "assistant", "content": "b", "thinking": "t"}]')
    turns = _messages(parse("--messages", str(file), "-p", "c", "--system", "s"))
    assert turns == [
        Message("system", "s"),
        Message("user", "a"),
        Message("assistant", "b", "t"),
        Message("user", "c"),
    ]
    with pytest.raises(UsageError, match="user turn"):
        _messages(parse("--messages", str(file)))
    with pytest.raises(UsageError, match="--messages"):
        _messages(parse("--messages", str(file), "--raw", "-p", "x"))


@pytest.mark.parametrize(
    "text",
    ["{}", "[", '[{"role": "root", "content": "x"}]', '[{"role": "user"}]', '[{"role": "user", "content": 3}]'],
)
def test_damaged_turns_are_exit_code_4(tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "turns.json"
    file.write_text(text)
    assert code_of("run", "--messages", str(file)) == 4
    assert str(file) in capsys.readouterr().err


def test_models_are_found_by_name_variable_and_folder(home: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    assert resolve("nano", home) == "nano"
    with pytest.raises(CheckpointError, match="EDGE0_8B_MODEL"):
        resolve("8b", home)
    folder = home.models / "8b"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    assert resolve("8b", home) == str(folder) == resolve(str(folder), home)
    monkeypatch.setenv("EDGE0_8B_MODEL", "/nowhere/at/all")
    with pytest.raises(CheckpointError, match="/nowhere/at/all"):
        resolve("8b", home)
    other = home.data / "elsewhere"
    other.mkdir()
    (other / "config.json").write_text("{}")
    monkeypatch.setenv("EDGE0_8B_MODEL", str(other))
    assert resolve("8b", home) == str(other)
    assert {("8b", other), ("8b", folder)} <= {(model.name, model.path) for model in installed_models(home)}


@pytest.mark.parametrize("model", ["35b", "/nowhere/at/all"])
def test_a_model_that_is_not_there_is_exit_code_4(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert code_of("run", "-p", "x", "-m", model) == 4
    assert code_of("models", "info", model) == 4
    assert model.upper() in capsys.readouterr().err.upper()


def test_damaged_models_are_listed_with_the_reason(home: Paths, capsys: pytest.CaptureFixture[str]) -> None:
    folder = home.models / "mine"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    assert code_of("models", "ls", "--json") == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["mine"]["tier"] == "" and str(folder) in rows["mine"]["problem"]
    assert code_of("models", "ls") == 0
    out, err = capsys.readouterr()
    assert "damaged" in out and "no weights" in err
    assert code_of("models", "info", str(folder)) == 4


@pytest.fixture
def checkpoint(home: Paths) -> Path:
    from engine.checkpoint.synthetic import tiny, write_synthetic

    return write_synthetic(home.models / "tiny", tiny(), seed=1)


def test_models_and_adapters_of_a_good_checkpoint(checkpoint: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert code_of("models", "info", str(checkpoint), "--json") == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["path"] == str(checkpoint) and facts["expert_bytes"] > facts["record_bytes"] > 0
    assert facts["adapters"] and facts["heads"]
    assert code_of("adapters", "ls", "-m", str(checkpoint), "--json") == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["kind"] for row in rows} == {"lora", "prerouter"}
    assert {row["file"] for row in rows} == {*facts["adapters"], *facts["heads"]}
    assert code_of("models", "ls") == 0
    assert "tiny" in capsys.readouterr().out


def test_doctor_reports_facts_and_a_broken_engine(
    monkeypatch: pytest.MonkeyPatch, home: Paths, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor, "_engine", lambda: {"device": "a CPU"})
    adapters = find_paths().adapters
    adapters.mkdir(parents=True)
    small = write_synthetic(tmp_path / "small", tiny(), seed=0)
    next(small.glob("lora_*")).rename(adapters / "lora_mine.safetensors")
    next(small.glob("prerouter_*")).rename(adapters / "prerouter_mine.safetensors")
    (adapters / "broken.safetensors").write_bytes(b"no")
    assert code_of("doctor", "--json") == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["engine"] == {"device": "a CPU"}
    assert facts["memory"]["total"] > facts["memory"]["available"] > 0
    assert facts["paths"]["transcripts"] == str(home.transcripts)
    assert facts["versions"]["textual"] and facts["paths"]["adapters"] == str(adapters)
    assert set(facts["adapters"]) == {"broken", "lora_mine", "prerouter_mine"}
    assert facts["adapters"]["lora_mine"]["format"] == "published" and not facts["adapters"]["lora_mine"]["problem"]
    assert facts["adapters"]["prerouter_mine"]["kind"] == "prerouter"
    assert "broken.safetensors" in facts["adapters"]["broken"]["problem"]
    monkeypatch.setattr(doctor, "_engine", lambda: {"problem": "no BLAS"})
    assert code_of("doctor") == 5
    out = capsys.readouterr().out
    assert "no BLAS" in out and "published prerouter heads" in out and "published adapter" in out


@pytest.mark.parametrize(("program", "code"), [("raise SystemExit(3)", 3), ("", 0)])
def test_bench_hands_over_arguments_and_exit_code(
    program: str, code: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import subprocess

    started: list[list[str]] = []
    popen: Callable[..., Any] = subprocess.Popen

    def start(command: list[str]) -> Any:
        started.append(command)
        return popen([command[0], "-c", program])

    monkeypatch.setattr(subprocess, "Popen", start)
    assert code_of("bench", "--json", "-m", "nano") == code
    assert started[0][1:] == ["-P", "-m", "engine.bench", "--json", "-m", "nano"]
    assert code_of("bench", "--ui", "--json") == code
    assert started[1][1:] == ["-P", "-m", "edge0_tui.bench", "ui", "--json"]


def test_help_says_the_exit_codes_and_lists_no_command_that_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    assert code_of("--help") == 0
    out = capsys.readouterr().out
    assert "130 stopped" in out and "3 not possible on this machine" in out
    assert "6 the network or the hub failed" in out
    assert code_of("models", "--help") == 0
    assert {"ls", "get", "verify", "rm", "info"} <= set(capsys.readouterr().out.split())


def test_the_places_of_this_system(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("EDGE0_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    for variable in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    places = find_paths()
    assert all(tmp_path in path.parents for path in (places.transcripts, places.settings, places.engine_log))
    moved = find_paths(str(tmp_path / "mine"))
    assert moved.transcripts == tmp_path / "mine" / "transcripts" and moved.models == places.models


def test_only_a_dash_may_stand_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert code_of("run", "hello") == 2
    assert "'hello'" in capsys.readouterr().err

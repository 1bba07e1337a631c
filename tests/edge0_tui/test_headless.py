"""`edge0-tui run` against a scripted engine: what is printed where, the JSON contract, stopping."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from edge0_tui import exit_codes
from edge0_tui.cli import main
from edge0_tui.manager.use import alone
from edge0_tui.report import figures, report
from engine.checkpoint.synthetic import tiny, write_synthetic
from engine.process.launch import SCRIPT_VARIABLE
from engine.protocol import Counters, ExpertCounters, Finished, ModelInfo, RoutingReport

CONTRACT = {
    "text": str,
    "thinking": str,
    "prompt_ids": list,
    "ids": list,
    "finish_reason": str,
    "prompt_tokens": int,
    "reused_tokens": int,
    "completion_tokens": int,
    "ttft_s": {"total": float, "tokenise": float, "read": float, "compute": float},
    "prefill_tok_s": float,
    "decode_tok_s": float,
    "allocator": {"active": int, "peak": int, "cache": int},
    "footprint_bytes": int,
    "kv_bytes": int,
    "kv_bytes_per_token": int,
    "recurrent_bytes": int,
    "experts": {
        "slots": int,
        "hits": int,
        "misses": int,
        "bytes_read": int,
        "dropped": int,
        "read_amplification": float,
    },
    "io": {"wait_s": float, "bandwidth": float},
    "routing": {"mode": str, "predicted_layers": int, "agreement": (float, type(None)), "agreement_by_layer": dict},
}
Script = Callable[..., None]


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Script:
    """Makes the commands of this test talk to a scripted engine, in a home of their own."""
    monkeypatch.setenv("EDGE0_HOME", str(tmp_path / "home"))

    def write(*replies: dict[str, Any], **more: Any) -> None:
        path = tmp_path / "script.json"
        path.write_text(json.dumps({"replies": list(replies) or [{}], **more}))
        monkeypatch.setenv(SCRIPT_VARIABLE, str(path))

    return write


def check_shape(found: Any, wanted: Any, where: str = "") -> None:
    if isinstance(wanted, dict):
        for key, kind in wanted.items():
            assert key in found, f"{where}.{key} is missing"
            check_shape(found[key], kind, f"{where}.{key}")
    else:
        assert isinstance(found, wanted), f"{where} is {found!r}"


def test_the_answer_goes_to_stdout_and_thinking_to_stderr(
    script: Script, capfd: pytest.CaptureFixture[str]
) -> None:
    script({"text": "forty two \U0001f680", "thinking": "let me see"})
    assert main(["run", "-p", "hi", "--thinking"]) == 0
    out, err = capfd.readouterr()
    assert out == "forty two \U0001f680\n"
    assert err.strip() == "let me see"


def test_json_is_one_object_with_the_names_of_the_contract(
    script: Script, capfd: pytest.CaptureFixture[str]
) -> None:
    script({"text": "a b c", "prompt_tokens": 7})
    assert main(["run", "-p", "hi", "--json", "--seed", "5", "--temperature", "0.5"]) == 0
    out, err = capfd.readouterr()
    found = json.loads(out)
    assert err == ""
    check_shape(found, CONTRACT)
    for key in ("ttft_s", "allocator", "experts", "io", "routing"):
        assert found[key].keys() == CONTRACT[key].keys()  # type: ignore[attr-defined]
    assert (found["text"], found["finish_reason"], found["completion_tokens"]) == ("a b c", "stop", 3)
    assert (found["prompt_tokens"], len(found["prompt_ids"]), len(found["ids"])) == (7, 7, 3)
    assert (found["model"], found["tier"], found["seed"]) == ("scripted", "nano", 5)


def test_the_report_takes_every_figure_from_its_own_counter() -> None:
    counters = Counters(
        kv_bytes=3,
        kv_bytes_per_token=4,
        recurrent_bytes=5,
        io_wait_s=0.25,
        io_bandwidth=6.0,
        experts=ExpertCounters(slots=1, hits=2, misses=3, bytes_read=300, bytes_requested=200, dropped=4),
        routing=RoutingReport("predicted", 31, 0.75, {"7": 0.75}),
    )
    found = figures(counters)
    assert (found["kv_bytes"], found["kv_bytes_per_token"], found["recurrent_bytes"]) == (3, 4, 5)
    assert found["io"] == {"wait_s": 0.25, "bandwidth": 6.0}
    routing = {"mode": "predicted", "predicted_layers": 31, "agreement": 0.75, "agreement_by_layer": {"7": 0.75}}
    assert found["routing"] == routing
    assert found["experts"] == {
        "slots": 1,
        "hits": 2,
        "misses": 3,
        "bytes_read": 300,
        "dropped": 4,
        "read_amplification": 1.5,
    }
    finished = Finished("g", "length", "t", "h", [1], [2], counters, 9)
    whole = report(ModelInfo("m", "35b", "/p"), finished)
    assert (whole["prompt_ids"], whole["ids"], whole["seed"], whole["tier"]) == ([1], [2], 9, "35b")


@pytest.mark.parametrize(
    ("kind", "code"), [("usage", 2), ("plan", 3), ("files", 4), ("template", 4), ("engine", 5)]
)
def test_exit_codes_of_refused_replies(
    script: Script, capfd: pytest.CaptureFixture[str], kind: str, code: int
) -> None:
    script({"text": "a b c", "fail_after": 1, "fail_kind": kind, "fail_message": "Sorry.", "fail_hint": "Try."})
    assert main(["run", "-p", "hi", "--json"]) == code
    out, err = capfd.readouterr()
    assert json.loads(out) == {
        "text": "a",
        "thinking": "",
        "finish_reason": "error",
        "error": {"kind": kind, "message": "Sorry.", "hint": "Try."},
    }
    assert "Sorry. Try." in err


def test_exit_code_of_a_refused_load(script: Script, capfd: pytest.CaptureFixture[str]) -> None:
    script(load_fail_kind="plan", load_fail_message="It does not fit.", load_fail_hint="Use nano.")
    assert main(["run", "-p", "hi"]) == 3
    out, err = capfd.readouterr()
    assert out == "" and "It does not fit. Use nano." in err


def test_a_model_that_is_being_deleted_is_exit_code_2(
    script: Script, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script({"text": "hi"})
    folder = write_synthetic(tmp_path / "going", tiny(), seed=0)
    with alone(folder):
        assert main(["run", "-m", str(folder), "-p", "hi", "--json"]) == 2
    out, err = capfd.readouterr()
    assert json.loads(out)["error"]["kind"] == "in use"
    assert "going is being deleted. Choose another model." in err
    assert "2 wrong usage, or the model is being deleted" in exit_codes.EPILOG


def test_a_crash_keeps_the_text_and_is_exit_code_5(script: Script, capfd: pytest.CaptureFixture[str]) -> None:
    script({"text": "one two three", "crash_after": 1, "pace": 0.1})
    assert main(["run", "-p", "hi"]) == 5
    out, err = capfd.readouterr()
    assert out == "one\n" and "exit code 70" in err


def test_sampling_is_the_checkpoints_with_what_was_asked_for(
    script: Script, capfd: pytest.CaptureFixture[str]
) -> None:
    script({"text": "a b c d e f"}, info={"sampling": {"temperature": 0.3, "max_tokens": 4}})
    assert main(["run", "-p", "hi", "--greedy", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["finish_reason"] == "length"
    assert main(["run", "-p", "hi", "--max-tokens", "2", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["text"] == "a b"


def test_thinking_is_refused_where_it_has_no_effect(script: Script, capfd: pytest.CaptureFixture[str]) -> None:
    script(info={"supports_thinking": False})
    assert main(["run", "-p", "hi", "--thinking"]) == 2
    assert "--thinking" in capfd.readouterr().err


def _spawn(*arguments: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "edge0_tui.cli", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def workers(script: Path) -> list[psutil.Process]:
    """Processes that follow this script."""
    found = psutil.process_iter(["cmdline"])
    return [process for process in found if str(script) in (process.info["cmdline"] or [])]


def test_interrupt_keeps_the_partial_text(script: Script, tmp_path: Path) -> None:
    script({"text": "word " * 5000, "pace": 0.05})
    with _spawn("run", "-p", "hi") as process:
        assert process.stdout is not None
        first = process.stdout.read(4)
        assert workers(tmp_path / "script.json")
        process.send_signal(signal.SIGINT)
        rest, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert (first + rest).startswith(b"word") and (first + rest).endswith(b"\n") and len(rest) < 20_000
    assert err == b""
    assert not workers(tmp_path / "script.json")


def test_interrupt_with_json_prints_the_object(script: Script, tmp_path: Path) -> None:
    script({"text": "word " * 5000, "pace": 0.05, "prints": "begun"})
    log = tmp_path / "home" / "logs" / "engine.log"
    with _spawn("run", "-p", "hi", "--json") as process:
        deadline = time.monotonic() + 60
        while not (log.exists() and b"begun" in log.read_bytes()) and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    found = json.loads(out)
    assert process.returncode == 130
    assert found["finish_reason"] == "cancelled" and found["text"].startswith("word")


def test_interrupt_twice_ends_an_engine_that_hangs(script: Script, tmp_path: Path) -> None:
    script({"text": "one two three", "hang_after": 1})
    with _spawn("run", "-p", "hi") as process:
        assert process.stdout is not None
        assert process.stdout.read(3) == b"one"
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == 130
    assert not workers(tmp_path / "script.json")


def test_a_reader_that_leaves_is_no_error_message(script: Script) -> None:
    script({"text": "word " * 5000, "pace": 0.01})
    with _spawn("run", "-p", "hi") as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.read(4)
        process.stdout.close()
        err = process.stderr.read()
        assert process.wait(60) == 130
    assert err == b""


def test_the_prompt_from_standard_input(script: Script) -> None:
    script({"match": "größe", "text": "understood"}, {"text": "not understood"})
    command = [sys.executable, "-m", "edge0_tui.cli", "run"]
    good = subprocess.run([*command, "-"], input="größe".encode(), capture_output=True, timeout=60)
    assert (good.returncode, good.stdout) == (0, b"understood\n")
    bad = subprocess.run([*command, "-p", "-"], input=b"\xff\xfe", capture_output=True, timeout=60)
    assert bad.returncode == 2 and b"UTF-8" in bad.stderr


def test_two_prompts_contradict_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "-p", "text", "-"]) == 2
    assert "-p and - contradict each other." in capsys.readouterr().err


def test_importing_the_command_line_is_cheap() -> None:
    program = """
import sys
import edge0_tui.cli, edge0_tui.headless, engine.client, engine.process.replay
from edge0_tui.commands import adapters, bench, doctor, models, run, transcripts
heavy = ("mlx", "mlx_lm", "numba", "numpy", "huggingface_hub", "tokenizers", "textual", "engine.session")
print([name for name in heavy if name in sys.modules])
"""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("COV")}
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert found.stdout.strip() == "[]", found.stderr

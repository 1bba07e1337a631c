"""`bench plan` on a small checkpoint: its figures come from a measured machine and from a reply that was run."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from engine.bench import __main__ as bench
from engine.bench import expected
from engine.checkpoint.synthetic import tiny
from engine.outlook import cold, disk_probe

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="pages are dropped as on Linux")


def test_expected_and_achieved_are_of_real_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench, "full", tiny)
    monkeypatch.setattr(bench, "ROUTINGS", ("predicted",))
    monkeypatch.setattr(disk_probe, "SECONDS", 0.05)
    monkeypatch.setattr(cold, "SECONDS_OF_WRITING", 0.3)
    asked: list[tuple[str, ...]] = []
    run = bench._run

    def noted(module: str, *arguments: str) -> object:
        reply = run(module, *arguments)
        asked.append((module, *arguments))
        assert reply["decode_s"] > 0 and reply["experts"]["bytes_read"] > 0
        replies.append(reply)
        return reply

    replies: list[dict[str, float]] = []
    monkeypatch.setattr(bench, "_run", noted)
    assert bench.main(["plan", "--dir", str(tmp_path), "--json"]) == 0
    (result,) = json.loads(capsys.readouterr().out)
    figures = result["figures"]
    assert set(figures) == {
        "expected_s", "expected_least_s", "expected_most_s", "achieved_s", "first_token_expected_s",
        "first_token_achieved_s", "budget", "page_cache", "disk_bytes_per_second",
    }  # fmt: skip
    assert all(value > 0 for value in figures.values())
    assert figures["expected_least_s"] <= figures["expected_s"] <= figures["expected_most_s"]
    (reply,) = replies
    assert (figures["achieved_s"], figures["first_token_achieved_s"]) == (reply["decode_s"], reply["prefill_s"])
    ratio = max(figures["expected_s"] / reply["decode_s"], reply["decode_s"] / figures["expected_s"])
    assert result["value"] == pytest.approx(ratio) and result["reached"] == (ratio <= expected.BAR)
    assert result["name"] == "expected against achieved, predicted routing" and "achieved" in result["note"]
    assert asked[0][0] == "engine.bench.ours" and "--drop-cache" in asked[0]

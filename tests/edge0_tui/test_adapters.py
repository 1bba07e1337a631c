"""`edge0-tui adapters`: listing with what fits, adding whole or not at all, removing only from the folder."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from edge0_tui import adapter_folder
from edge0_tui.adapters import in_folder, list_adapters
from edge0_tui.cli import main
from edge0_tui.paths import Paths, find_paths
from engine.checkpoint.synthetic import tiny, write_synthetic
from engine.checkpoint.synthetic.adapters import HEADS, LORA

NAME = Path(LORA).stem


@pytest.fixture
def paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paths:
    monkeypatch.setenv("EDGE0_HOME", str(tmp_path / "home"))
    for variable in ("EDGE0_8B_MODEL", "EDGE0_35B_MODEL"):
        monkeypatch.delenv(variable, raising=False)
    return find_paths()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two checkpoints of different width, to be copied or looked at."""
    folder = tmp_path_factory.mktemp("made")
    write_synthetic(folder / "tiny", tiny(), seed=1)
    write_synthetic(folder / "wide", replace(tiny(), model=replace(tiny().model, hidden_size=192)), seed=1)
    return folder


def run(*arguments: str) -> int:
    try:
        return main(["adapters", *arguments])
    except SystemExit as error:
        return int(error.code or 0)


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    """The JSON a command that succeeds prints."""
    capsys.readouterr()
    assert run(*arguments, "--json") == 0
    return json.loads(capsys.readouterr().out)


def mlx_folder(folder: Path, value: float = 0.0) -> Path:
    folder.mkdir()
    at = "language_model.model.layers.3.self_attn.q_proj"
    factors = {f"{at}.lora_a": np.full((128, 4), value, np.float32), f"{at}.lora_b": np.zeros((4, 256), np.float32)}
    save_file(factors, folder / "adapters.safetensors")
    config = {
        "fine_tune_type": "lora",
        "lora_parameters": {"rank": 4, "scale": 20.0},
        "model": "some/tiny-8B\x1b[2J",
    }
    (folder / "adapter_config.json").write_text(json.dumps(config))
    (folder / "train.py").write_text("print('not copied')")
    return folder


def test_what_each_model_is_offered(made: Path, paths: Paths, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("add", str(made / "tiny" / LORA), "--name", "style") == 0
    rows = said(capsys, "ls", "-m", str(made / "tiny"))
    offered = {(row["name"], row["place"], row["kind"]): row for row in rows}
    assert set(offered) == {
        (NAME, "beside", "lora"),
        ("style", "folder", "lora"),
        (Path(HEADS).stem, "beside", "prerouter"),
    }
    style = offered["style", "folder", "lora"]
    assert (style["format"], style["rank"], style["targets"], style["applied"], style["fits"]) == (
        *("published", 4, 62, 62),
        True,
    )
    rows = {row["name"]: row for row in said(capsys, "ls", "-m", str(made / "wide")) if row["kind"] == "lora"}
    assert rows[NAME]["fits"] and not rows["style"]["fits"]
    assert "does not belong to wide" in rows["style"]["reason"] and rows["style"]["names"]
    assert run("ls", "-m", str(made / "wide")) == 0
    assert "no: style.safetensors" in capsys.readouterr().out
    # without -m every installed model: the built-in one, and copies in the models folder
    shutil.copytree(made / "tiny", paths.models / "mine")
    assert {(row["model"], row["name"], row["fits"]) for row in said(capsys, "ls") if row["kind"] == "lora"} == {
        *(("nano", "lora_nano_recovery", True), ("nano", "lora_nano_short", True)),
        *(("nano", "style", False), ("mine", NAME, True), ("mine", "style", True)),
    }


def test_a_folder_of_mlx_lm_is_added_and_told(made: Path, paths: Paths, capsys: pytest.CaptureFixture[str]) -> None:
    source = mlx_folder(paths.data.parent.parent / "tuned")
    added = said(capsys, "add", str(source), "-m", str(made / "tiny"))
    assert (added["name"], added["format"], added["scale"], added["tier"]) == ("tuned", "mlx-lm", 20.0, "8b")
    assert added["made_for"] == "some/tiny-8B[2J", "control characters never reach a terminal"
    assert sorted(file.name for file in (paths.adapters / "tuned").iterdir()) == [
        "adapter_config.json",
        "adapters.safetensors",
    ]
    info = said(capsys, "info", "tuned", "-m", str(made / "tiny"))
    assert info["modules"] == {"self_attn.q_proj": 1} and info["fit"]["applied"] == 1
    assert run("info", "tuned", "-m", str(made / "wide"), "--json") == 4
    assert "differ in shape" in json.loads(capsys.readouterr().out)["fit"]["reason"]
    assert run("info", str(source)) == 0
    assert "mlx-lm" in capsys.readouterr().out
    assert run("info", "nowhere") == 4


def test_nothing_is_overwritten_and_nothing_half_added(
    made: Path, paths: Paths, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("add", str(made / "tiny" / LORA)) == 0
    assert run("add", str(made / "wide" / LORA)) == 2
    assert "There is an adapter" in capsys.readouterr().err
    assert run("add", str(made / "tiny" / LORA), "--name", "../up") == 2
    assert run("add", str(made / "tiny" / LORA), "--name", "none") == 2
    assert run("add", str(made / "wide" / LORA), "--name", "wide", "-m", str(made / "tiny")) == 4
    assert run("add", str(made / "tiny" / HEADS)) == 4
    assert run("add", str(mlx_folder(paths.data.parent.parent / "nan", float("nan")))) == 4
    assert "not finite" in capsys.readouterr().err

    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(adapter_folder, "_copy", full)
    assert run("add", str(made / "tiny" / LORA), "--name", "second") == 4
    assert "No space left" in capsys.readouterr().err
    assert os.listdir(paths.adapters) == [LORA]  # noqa: PTH208  # hidden files as well


def test_what_a_killed_run_left_is_cleared_away(made: Path, paths: Paths) -> None:
    left, running = paths.adapters / ".unfinished-999999999-x", paths.adapters / f".unfinished-{os.getpid()}-y"
    for folder in (left, running):
        (folder / "style").mkdir(parents=True)
    assert in_folder(paths) == []
    assert run("add", str(made / "tiny" / LORA)) == 0
    assert not left.exists() and running.exists(), "another run may still be at work"


def test_only_the_folders_own_are_removed(made: Path, paths: Paths, capsys: pytest.CaptureFixture[str]) -> None:
    copy = Path(shutil.copytree(made / "tiny", paths.models / "mine"))
    assert run("rm", NAME) == 2
    assert "lies beside the checkpoint mine" in capsys.readouterr().err
    assert run("rm", "nowhere") == 4
    assert run("rm", "../models/mine/" + LORA) == 4
    assert run("add", str(mlx_folder(paths.data.parent.parent / "tuned"))) == 0
    size = in_folder(paths)[0].bytes
    assert said(capsys, "rm", "tuned") == {"name": "tuned", "freed_bytes": size} and size > 0
    (paths.adapters / "linked.safetensors").symlink_to(copy / LORA)
    assert run("rm", "linked") == 0
    assert (copy / LORA).exists() and in_folder(paths) == []


def test_listing_needs_no_mlx(made: Path, paths: Paths) -> None:
    import subprocess
    import sys

    code = (
        "import sys; from pathlib import Path; from edge0_tui.adapters import list_adapters; "
        "from edge0_tui.paths import find_paths; import edge0_tui.adapter_folder; "
        f"assert len(list_adapters(Path({str(made / 'tiny')!r}), 'x', find_paths())) == 2; "
        "sys.exit('mlx' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    assert [offer.fit.fits for offer in list_adapters(made / "tiny", "x", paths)] == [True, True]

"""The pure parts around the screen: keys, figures, numbers, the models menu, the clipboard, the editor."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from edge0_tui import keys, units
from edge0_tui.app import Edge0App
from edge0_tui.choice import Choice
from edge0_tui.clipboard import commands, copy
from edge0_tui.editor import EditorError, edit
from edge0_tui.figures import Figures
from edge0_tui.installed import Installed
from edge0_tui.model_menu import menu
from edge0_tui.quantities import QUANTITIES
from edge0_tui.screens.chat import ChatScreen
from edge0_tui.screens.chats import ChatsScreen
from edge0_tui.screens.models import ModelsScreen
from edge0_tui.screens.sampling import SamplingScreen
from edge0_tui.screens.system_prompt import SystemPromptScreen
from edge0_tui.shelf import Shelf, Stored
from edge0_tui.widgets.bars import meter, sparkline
from engine.protocol import Allocator, Counters, ExpertCounters, ModelInfo, RoutingReport, Ttft

FULL = Counters(
    prompt_tokens=10,
    completion_tokens=5,
    prefill_tok_s=120.0,
    decode_tok_s=41.25,
    decode_tok_s_now=39.0,
    ttft=Ttft(0.42, 0.003, 0.2, 0.217),
    allocator=Allocator(1 << 30, 3 << 29, 1 << 20),
    footprint_bytes=3 << 30,
    cached_pages_bytes=5 << 30,
    kv_bytes=307_200,
    kv_bytes_per_token=20_480,
    recurrent_bytes=1 << 20,
    context_used=15,
    context_limit=32_768,
    experts=ExpertCounters(2048, 90, 10, 1_010, 1_000, 0),
    io_wait_s=0.1,
    io_bandwidth=812e6,
    routing=RoutingReport("predicted", 32, 0.875),
)


def test_no_key_is_one_that_terminals_send_for_another_and_none_is_taken_twice() -> None:
    for scopes in (("app", "chat", "prompt"), ("app", "chats"), ("app", "models")):
        used = [key for action in keys.ACTIONS if action.scope in scopes for key in action.keys]
        assert len(set(used)) == len(used)
        assert not keys.UNUSABLE_KEYS & set(used)
    assert len(keys.BY_ID) == len(keys.ACTIONS)


OWNERS: dict[str, tuple[type, ...]] = {
    "app": (Edge0App,),
    "chats": (ChatsScreen,),
    "models": (ModelsScreen,),
    "sheet": (SamplingScreen, SystemPromptScreen),
}


def test_every_action_can_be_run_where_its_scope_says() -> None:
    for action in keys.ACTIONS:
        if action.id != "history":
            for owner in OWNERS.get(action.scope, (ChatScreen,)):
                assert hasattr(owner, f"action_{action.id}"), action.id


def test_every_quantity_is_shown_once_it_is_known_and_explained_in_a_sentence() -> None:
    figures = Figures(info=ModelInfo("nano", "nano", ""))
    figures.update(FULL, 0.0)
    values = figures.values()
    assert {quantity.id for quantity in QUANTITIES} == values.keys()
    assert units.UNKNOWN not in values.values()
    assert all(quantity.meaning.endswith(".") for quantity in QUANTITIES)
    assert values["kv_per_token"] == "20,480 B" and values["hits"] == "90.0 %"
    assert values["amplification"] == "1.01 ×" and values["agreement"] == "87.5 %"
    assert values["peak"] == "1.50 GiB" and values["bandwidth"] == "812 MB/s"


def test_what_is_not_measured_is_not_invented() -> None:
    assert Figures().values() == {}
    figures = Figures()
    figures.update(Counters(), 0.0)
    shown = {name: value for name, value in figures.values().items() if value != units.UNKNOWN}
    assert shown == {"mode": "exact", "dropped": "0", "predicted_layers": "0", "bytes_read": "0 B", "wait": "0 ms"}


def test_speeds_are_sampled_by_time_and_start_again_with_a_reply() -> None:
    figures = Figures()
    for step in range(100):
        figures.update(replace(FULL, decode_tok_s_now=float(step + 1)), step * 0.033)
    assert 6 <= len(figures.speeds) <= 8
    figures.begin_reply()
    assert not figures.speeds


def test_the_context_of_a_chat_just_opened_is_unknown() -> None:
    figures = Figures(info=ModelInfo("nano", "nano", "", context_limit=4096), context_known=False)
    assert figures.values()["tokens"] == "– / 4,096"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("3GiB", 3 << 30), ("3 g", 3 << 30), ("0.5GiB", 1 << 29), ("900MiB", 900 << 20), ("1024", 1024)],
)
def test_sizes_are_read(text: str, expected: int) -> None:
    assert units.parse_size(text) == expected


def test_numbers_keep_three_digits_and_their_unit() -> None:
    assert [units.size(n) for n in (None, 0, 1023, 1536, 250 << 20, 3 << 30)] == [
        "–", "0 B", "1023 B", "1.50 KiB", "250 MiB", "3.00 GiB",
    ]  # fmt: skip
    assert [units.seconds(s) for s in (0.003, 0.42, 41.24, 185.0)] == ["3 ms", "0.42 s", "41.2 s", "3 min 05 s"]
    assert units.tokens_per_second(0.0) == "–" and units.rate(2.5e9) == "2.50 GB/s"


def test_bars_fill_their_width() -> None:
    assert sparkline([1, 2, 4], 5) == "  ▃▅█" and sparkline([], 3) == "   "
    assert sparkline(list(range(1, 100)), 4)[-1] == "█"
    for share in (0.0, 0.001, 0.5, 0.999, 1.0, 1.7):
        full, rest = meter(share, 10)
        assert len(full + rest) == 10
        assert bool(full) == (share > 0) and bool(rest) == (share < 1)


def test_the_models_menu_marks_what_is_loaded_and_says_what_cannot_be_had() -> None:
    installed = [Installed("nano", Path("/n"), "built in"), Installed("35b", Path("/m/35b"), "models folder")]
    info = ModelInfo("35b", "35B", "/m/35b", adapter="none", adapters_available=["/a/r16"], routing="exact")
    loaded = Choice("/m/35b", memory_bytes=123)
    lines = menu(Shelf(tuple(Stored(item, 1 << 30) for item in installed)), loaded, info)
    assert [line.text for line in lines if line.marked] == ["35b", "none", "exact"]
    nano = next(line for line in lines if line.text == "nano")
    assert nano.choice == Choice("nano", memory_bytes=123, label="nano")
    adapter = next(line for line in lines if line.text == "r16")
    assert adapter.choice == replace(loaded, adapter="/a/r16")
    predicted = next(line for line in lines if line.text == "predicted")
    assert predicted.choice is None and "no prerouter heads" in predicted.note


def test_the_clipboard_tool_follows_the_session() -> None:
    assert commands({}, "darwin") == [["pbcopy"]]
    assert commands({"WAYLAND_DISPLAY": "w", "DISPLAY": ":0"}, "linux")[0] == ["wl-copy"]
    assert commands({}, "linux") == []
    assert commands({"SSH_CONNECTION": "a"}, "darwin") == []
    assert commands({"SSH_CONNECTION": "a", "TMUX": "/tmp/tmux-0/default,1,0"}, "linux")[0][0] == "tmux"
    assert [tool[0] for tool in commands({"DISPLAY": ":0", "TMUX": "x"}, "linux")] == ["xclip", "tmux"]


async def test_copying_says_which_way_it_went(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    assert "OSC 52" in await copy("text", asked.append, environ={}, platform="linux")
    assert asked == ["text"]
    tool = tmp_path / "xclip"
    tool.write_text(f"#!/bin/sh\ncat > {tmp_path}/clip\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert await copy("grüße", asked.append, environ={"DISPLAY": ":0"}, platform="linux") == "copied with xclip"
    assert (tmp_path / "clip").read_text() == "grüße" and asked == ["text"]
    tool.write_text("#!/bin/sh\nexit 1\n")
    assert "OSC 52" in await copy("more", asked.append, environ={"DISPLAY": ":0"}, platform="linux")


async def test_what_a_terminal_may_refuse_to_copy_is_in_a_file_as_well(tmp_path: Path) -> None:
    asked: list[str] = []
    file = tmp_path / "data" / "copied.txt"
    assert str(file) not in await copy("short", asked.append, environ={}, platform="linux", file=file)
    long = "é" * 40_000
    assert str(file) in await copy(long, asked.append, environ={}, platform="linux", file=file)
    assert file.read_text() == long and asked == ["short", long] and file.stat().st_mode & 0o077 == 0
    (tmp_path / "blocked").write_text("")
    said = await copy(long, asked.append, environ={}, platform="linux", file=tmp_path / "blocked" / "x")
    assert "failed" in said


def test_the_editor_gives_back_what_was_written_and_failures_are_named(tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nprintf " and more\\n" >> "$1"\n')
    editor.chmod(0o755)
    assert edit("some", [str(editor)]) == "some and more"
    with pytest.raises(EditorError, match="status 1"):
        edit("some", ["false"])
    with pytest.raises(EditorError, match="no-such-editor"):
        edit("some", ["no-such-editor"])


def test_opening_the_application_imports_neither_mlx_nor_the_hub_nor_the_session() -> None:
    program = "import sys, edge0_tui.app, engine.client; print(*sys.modules)"
    modules = set(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout.split())
    assert "edge0_tui.app" in modules
    banned = {
        "mlx",
        "mlx.core",
        "numpy",
        "huggingface_hub",
        "engine.session",
        "numba",
        "tokenizers",
        "jinja2",
        "psutil",
    }
    assert not banned & modules
    assert not {name for name in modules if name.startswith("edge0_tui.screens.") and name.split(".")[-1] in {
        "help", "log", "models", "settings", "themes", "chats"}}  # fmt: skip

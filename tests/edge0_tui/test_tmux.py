"""An evening in a real terminal, tmux's: the screen is read as a person sees it."""

from __future__ import annotations

import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

if shutil.which("tmux") is None:
    pytest.skip("tmux is not installed", allow_module_level=True)

PROMPT = "write > "
PATIENCE = 120.0


class Tmux:
    """A window of 100 by 30 with a shell, on a server of its own."""

    def __init__(self, folder: Path) -> None:
        self._base = ["tmux", "-f", "/dev/null", "-S", str(folder / "tmux")]
        self("new-session", "-d", "-x", "100", "-y", "30", f"env PS1={shlex.quote(PROMPT)} /bin/sh")

    def __call__(self, *arguments: str) -> str:
        return subprocess.run([*self._base, *arguments], check=True, capture_output=True, text=True).stdout

    @property
    def screen(self) -> str:
        return self("capture-pane", "-p")

    def type(self, text: str, *keys: str) -> None:
        """The text as it stands, then keys by name."""
        self("send-keys", "-l", text)
        for key in keys:
            self("send-keys", key)

    def until(self, met: Callable[[str], object]) -> str:
        end = time.monotonic() + PATIENCE
        while not met(screen := self.screen):
            assert time.monotonic() < end, f"waited in vain:\n{screen}"
            time.sleep(0.1)
        return screen

    @property
    def modes(self) -> str:
        """Alternate screen, mouse and cursor, as the terminal has them now."""
        return self("display-message", "-p", "#{alternate_on} #{mouse_any_flag} #{cursor_flag}").strip()

    def engine(self) -> psutil.Process:
        """The engine's process."""
        shell = psutil.Process(int(self("display-message", "-p", "#{pane_pid}")))
        found = [one for one in shell.children(recursive=True) if "engine.worker" in " ".join(one.cmdline())]
        return found[0]

    def close(self) -> None:
        subprocess.run([*self._base, "kill-server"], check=False, capture_output=True)


@pytest.fixture
def tmux(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Tmux]:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "tour-seen").touch()
    monkeypatch.setenv("EDGE0_HOME", str(tmp_path))
    monkeypatch.delenv("TMUX", raising=False)
    terminal = Tmux(tmp_path)
    yield terminal
    terminal.close()


def reasons(home: Path) -> list[str]:
    """How the answers on disk have ended."""
    written = "".join(path.read_text() for path in home.glob("data/transcripts/*.json"))
    return re.findall(r'"finish_reason": ?"(stop|length|cancelled)"', written)


def test_an_evening(tmp_path: Path, tmux: Tmux) -> None:
    tmux.until(lambda screen: PROMPT.strip() in screen)
    before = tmux.modes
    command = shlex.join([sys.executable, "-m", "edge0_tui.cli", "-m", "nano"])
    tmux.type(f"PYTHONPATH={shlex.quote(str(Path.cwd()))} {command}; echo left with $?", "Enter")
    tmux.until(lambda screen: "Write a message · /" in screen)
    assert tmux.modes.split()[0] == "1", "the full screen is the terminal's other one"
    # nano says little and says it fast, so that now and then it is done before the stop arrives.
    for number in range(1, 6):
        tmux.type(f"Count the slots, time {number}.", "Enter")
        tmux("send-keys", "Escape")
        tmux.until(lambda screen: len(reasons(tmp_path)) == number)  # noqa: B023
        if "cancelled" in reasons(tmp_path):
            break
    tmux.until(lambda screen: "stopped" in screen and "esc stop" not in screen)
    engine = tmux.engine()
    engine.send_signal(signal.SIGKILL)
    tmux.until(lambda screen: "The engine stopped" in screen and "was restarted" in screen)
    tmux.until(lambda screen: "Write a message · /" in screen)
    again = tmux.engine()
    assert again.pid != engine.pid
    tmux.type("And the layers?", "Enter")
    tmux.until(lambda screen: len(reasons(tmp_path)) == number + 1)
    tmux("send-keys", "C-q")
    screen = tmux.until(lambda screen: "left with" in screen)
    assert "left with 0" in screen and "Traceback" not in screen
    assert tmux.modes == before, "screen, mouse and cursor are as they were"
    psutil.wait_procs([again], timeout=10)
    assert not again.is_running()
    (path,) = tmp_path.glob("data/transcripts/*.md")
    text = path.read_text()
    assert "Count the slots, time 1." in text and "And the layers?" in text
    tmux.type("echo as before", "Enter")
    tmux.until(lambda screen: "\nas before" in screen)

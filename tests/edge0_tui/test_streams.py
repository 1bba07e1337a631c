"""The command line where a shell closed or filled its streams, and where there is no home: no traceback."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from edge0_tui.chat.conversation import Conversation
from edge0_tui.chat.turn import Turn
from edge0_tui.cli import main
from edge0_tui.exchange.formats import export
from edge0_tui.paths import find_paths
from engine.errors import UsageError
from engine.home import expanded

PROGRAM = f"{sys.executable} -c 'import sys; from edge0_tui.cli import main; sys.exit(main())'"


def shell(line: str, home: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    surroundings = {**os.environ, "EDGE0_HOME": str(home), **environment}
    return subprocess.run(["sh", "-c", line], capture_output=True, text=True, env=surroundings, timeout=60)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (f"{PROGRAM} <&-", 2),
        (f"{PROGRAM} transcripts ls <&- >&- 2>&-", 0),
        (f"{PROGRAM} transcripts ls --json >/dev/full", 4),
    ],
    ids=["no input", "nothing", "full"],
)
def test_streams_that_are_closed_or_full(line: str, code: int, tmp_path: Path) -> None:
    if "/dev/full" in line and not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    done = shell(line, tmp_path)
    assert done.returncode == code and "Traceback" not in done.stderr
    if code:
        assert "edge0-tui: " in done.stderr


def test_a_home_that_is_nobodys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert expanded("~no-such-user/x") == Path("~no-such-user/x")
    monkeypatch.setenv("EDGE0_HOME", "~no-such-user/x")
    monkeypatch.chdir(tmp_path)
    assert find_paths().data == tmp_path / "~no-such-user/x/data"
    # As in a container whose user stands in no list, where HOME is not set either.
    monkeypatch.delenv("EDGE0_HOME")
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    for variable in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "HOME"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(UsageError, match="EDGE0_HOME"):
        find_paths()


def test_messages_nested_without_end_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EDGE0_HOME", str(tmp_path))
    (deep := tmp_path / "deep.json").write_text("[" * 100_000)
    assert main(["run", "--messages", str(deep)]) == 4
    assert "deep.json" in capsys.readouterr().err


def test_what_an_imported_chat_is_called_does_not_drive_the_terminal(tmp_path: Path) -> None:
    title = "\x1b]0;owned\x07\x1b[31mred\x9b2J"
    given = tmp_path / "given.json"
    given.write_bytes(export(Conversation(name=title).add(Turn("user", title)), "json"))
    shown = on_terminal([sys.executable, "-m", "edge0_tui.cli", "transcripts", "import", str(given)], tmp_path)
    assert "red" in shown and not {"\x1b", "\x07", "\x9b"} & set(shown)
    missing = on_terminal([sys.executable, "-m", "edge0_tui.cli", "transcripts", "show", "\x1b[31mno"], tmp_path)
    assert "there is no chat" in missing and "\x1b" not in missing


def on_terminal(command: list[str], home: Path) -> str:
    """What a command writes to standard error, which is a terminal."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "EDGE0_HOME": str(home)}
    subprocess.run(command, stderr=theirs, stdout=subprocess.DEVNULL, env=environment, timeout=60)
    os.close(theirs)
    data = b""
    try:
        while piece := os.read(ours, 65536):
            data += piece
    except OSError:
        pass
    os.close(ours)
    return data.decode()

"""Where things are kept. `EDGE0_HOME` puts everything below one folder; nothing is created here."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

HOME_VARIABLE = "EDGE0_HOME"
_APP = "edge0-tui"


@dataclass(frozen=True)
class Paths:
    """Folders and files of one user. `chats` differs from `data` where the setting moves the conversations."""

    data: Path
    settings: Path
    logs: Path
    chats: Path

    @property
    def transcripts(self) -> Path:
        return self.chats / "transcripts"

    @property
    def models(self) -> Path:
        return self.data / "models"

    @property
    def adapters(self) -> Path:
        """Adapters kept apart from the checkpoints; see `edge0_tui.adapters`."""
        return self.data / "adapters"

    @property
    def engine_log(self) -> Path:
        """What the engine's process writes to standard error."""
        return self.logs / "engine.log"


def find_paths(data_dir: str = "") -> Paths:
    """The usual places of this system, or below `EDGE0_HOME` if that is set.

    `data_dir` is the setting of that name: it moves the conversations and nothing else, so that the command line
    and the application look for models in one place.
    """
    home = os.environ.get(HOME_VARIABLE)
    if home:
        base = Path(home).expanduser().absolute()
        data, settings, logs = base / "data", base / "config", base / "logs"
    else:
        from platformdirs import user_config_path, user_data_path, user_log_path

        data = user_data_path(_APP, appauthor=False)
        settings = user_config_path(_APP, appauthor=False)
        logs = user_log_path(_APP, appauthor=False)
    chats = Path(data_dir).expanduser().absolute() if data_dir else data
    return Paths(data, settings / "settings.toml", logs, chats)

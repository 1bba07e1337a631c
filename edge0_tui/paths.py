"""Where things are kept. `EDGE0_HOME` puts everything below one folder; nothing is created here."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

HOME_VARIABLE = "EDGE0_HOME"
_APP = "edge0-tui"


@dataclass(frozen=True)
class Paths:
    """Folders and files of one user."""

    data: Path
    settings: Path
    logs: Path

    @property
    def transcripts(self) -> Path:
        return self.data / "transcripts"

    @property
    def models(self) -> Path:
        return self.data / "models"

    @property
    def engine_log(self) -> Path:
        """What the engine's process writes to standard error."""
        return self.logs / "engine.log"


def find_paths(data_dir: str = "") -> Paths:
    """The usual places of this system, or below `EDGE0_HOME` if that is set; `data_dir` is the setting."""
    home = os.environ.get(HOME_VARIABLE)
    if home:
        base = Path(home).expanduser().absolute()
        found = Paths(base / "data", base / "config" / "settings.toml", base / "logs")
    else:
        from platformdirs import user_config_path, user_data_path, user_log_path

        found = Paths(
            user_data_path(_APP, appauthor=False),
            user_config_path(_APP, appauthor=False) / "settings.toml",
            user_log_path(_APP, appauthor=False),
        )
    if data_dir:
        return Paths(Path(data_dir).expanduser().absolute(), found.settings, found.logs)
    return found

"""`edge0-tui doctor`: what a report about a problem needs to contain."""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
from importlib import metadata
from typing import Any

from edge0_tui import units
from edge0_tui.console import Console, table
from edge0_tui.exit_codes import DONE, ENGINE
from edge0_tui.installed import installed_models
from edge0_tui.paths import find_paths
from edge0_tui.settings_file import read
from engine import probe

_DISTRIBUTIONS = ("edge0-tui", "mlx", "textual", "tokenizers", "numpy", "numba", "scipy-openblas32", "psutil")
_DESCRIBE_TIMEOUT = 120


def run(options: argparse.Namespace) -> int:
    """Everything is asked anew; the engine in a process of its own. Exit code 5 if the engine does not start."""
    console = Console()
    console.progress("asking the engine")
    facts: dict[str, Any] = {
        "versions": {"python": platform.python_version(), **_versions()},
        "platform": {"system": platform.platform(), "machine": platform.machine()},
        "engine": _engine(),
        "memory": _memory(),
        "paths": _paths(),
        "models": {model.name: str(model.path) for model in installed_models(find_paths())},
    }
    if options.json:
        console.json(facts)
    else:
        for section, values in facts.items():
            rows: list[tuple[str, ...]] = [(f"  {key}", _shown(section, value)) for key, value in values.items()]
            console.data(section + "\n" + table(rows or [("  none",)]))
    return ENGINE if "problem" in facts["engine"] else DONE


def _versions() -> dict[str, str | None]:
    return {name: _version(name) for name in _DISTRIBUTIONS}


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _engine() -> dict[str, Any]:
    command = [sys.executable, "-P", "-m", "engine.worker", "--describe"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_DESCRIBE_TIMEOUT, check=True)
        found: dict[str, Any] = json.loads(done.stdout)
    except subprocess.CalledProcessError as error:
        last = error.stderr.strip().splitlines() or [f"exit code {error.returncode}"]
        return {"problem": last[-1]}
    except (OSError, subprocess.TimeoutExpired, ValueError) as error:
        return {"problem": str(error)}
    return found


def _memory() -> dict[str, int | None]:
    memory = probe.memory()
    return {
        "total": memory.total,
        "available": memory.available,
        "swap_used": memory.swap_used,
        "control_group_limit": memory.limit,
        "usable": memory.usable,
    }


def _paths() -> dict[str, str]:
    places = find_paths(read(find_paths().settings).settings.storage.data_dir)
    return {
        "data": str(places.data),
        "transcripts": str(places.transcripts),
        "models": str(places.models),
        "settings": str(places.settings),
        "engine log": str(places.engine_log),
    }


def _shown(section: str, value: Any) -> str:
    if value is None:
        return "none"
    return units.size(value) if section == "memory" else str(value)

"""Where an adapter's files are: one file as published, or the folder that mlx-lm or PEFT wrote."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from engine.checkpoint.faults import fault
from engine.errors import CheckpointError

CONFIG = "adapter_config.json"
WEIGHTS = ("adapters.safetensors", "adapter_model.safetensors")
PICKLE = "adapter_model.bin"
MAX_ENTRIES = 512


@dataclass(frozen=True)
class AdapterSource:
    """`name` as menus and the command line call it; `config` is None where there is only the file."""

    name: str
    weights: Path
    config: Path | None

    @property
    def place(self) -> Path:
        """The file or folder a person would name."""
        return self.weights.parent if self.weights.name in WEIGHTS else self.weights


def locate(path: Path) -> AdapterSource:
    """The adapter in the file or folder `path`. Raises CheckpointError when there is none."""
    if not path.is_dir():
        if not path.exists():
            raise CheckpointError(f"{path}: there is no such adapter.", "Give a .safetensors file or a folder.")
        config = path.parent / CONFIG
        name = path.absolute().parent.name if path.name in WEIGHTS else path.stem
        return AdapterSource(name, path, config if config.exists() else None)
    found = [path / name for name in WEIGHTS if (path / name).exists()]
    found = found or [file for file in sorted(path.glob("*.safetensors")) if _visible(file)]
    if not found and (path / PICKLE).exists():
        raise fault(path / PICKLE, "is a pickle, which could run code when read", hint="Save it as safetensors.")
    if len(found) != 1:
        what = "no adapter file" if not found else f"{len(found)} adapter files"
        raise fault(path, f"holds {what}", hint=f"A folder holds one: {WEIGHTS[0]} or {WEIGHTS[1]}.")
    config = path / CONFIG
    return AdapterSource(path.absolute().name, found[0], config if config.exists() else None)


def folder_adapters(folder: Path) -> tuple[Path, ...]:
    """Folders in `folder` that look like an adapter of mlx-lm or PEFT, by name."""
    if not folder.is_dir():
        return ()
    found = [entry for entry in sorted(folder.iterdir()) if _visible(entry) and (entry / CONFIG).is_file()]
    return tuple(found[:MAX_ENTRIES])


def stored_adapters(folder: Path) -> tuple[Path, ...]:
    """All files and folders in the adapters folder `folder` that may be a LoRA adapter, by name."""
    if not folder.is_dir():
        return ()
    files = [file for file in _safetensors(folder) if not is_heads(file.name)]
    return (*files[:MAX_ENTRIES], *folder_adapters(folder))


def stored_heads(folder: Path) -> tuple[Path, ...]:
    """Prerouter heads in the adapters folder, by name. They are not used there: heads lie beside their model."""
    return tuple(file for file in _safetensors(folder) if is_heads(file.name))[:MAX_ENTRIES]


def is_lora(name: str) -> bool:
    """Whether a file of this name beside a checkpoint is a LoRA adapter, in whatever case it is written."""
    return name.lower().startswith("lora_") and is_safetensors(name)


def is_heads(name: str) -> bool:
    """The same for prerouter heads."""
    return name.lower().startswith("prerouter_") and is_safetensors(name)


def is_safetensors(name: str) -> bool:
    return name.lower().endswith(".safetensors")


def _safetensors(folder: Path) -> list[Path]:
    """By name, without regard to case, so that the order is the same on every file system."""
    if not folder.is_dir():
        return []
    found = [file for file in folder.iterdir() if is_safetensors(file.name) and _visible(file)]
    return sorted(found, key=lambda file: (file.name.lower(), file.name))


def stored_name(path: Path) -> str:
    """The name of what `stored_adapters` found."""
    return path.stem if is_safetensors(path.name) and not path.is_dir() else path.name


def _visible(path: Path) -> bool:
    return not path.name.startswith(".")

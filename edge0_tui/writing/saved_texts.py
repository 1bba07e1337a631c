"""Prompts and system prompts a person keeps: one .md or .txt file each, in a folder that any editor can change."""

from __future__ import annotations

import contextlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

LARGEST = 256 * 1024
MOST = 500
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
INPUT = "{input}"


class SavedTextError(Exception):
    """A text could not be saved or read; the message says which and why."""


@dataclass(frozen=True)
class SavedText:
    """`name` is the file's name without its ending, in small letters."""

    name: str
    text: str

    @property
    def first_line(self) -> str:
        return next((line.strip() for line in self.text.split("\n") if line.strip()), "")

    def filled(self, argument: str) -> str:
        """The text with what was written after its name in the place of `{input}`, else below it."""
        if INPUT in self.text:
            return self.text.replace(INPUT, argument)
        return f"{self.text}\n\n{argument}" if argument else self.text


class SavedTexts:
    """The texts of one folder. All methods but `get` touch the disk; none expects the folder to be there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.texts: dict[str, SavedText] = {}
        self.problems: list[str] = []

    def read(self) -> None:
        """Look at the folder again. What cannot be used is named in `problems`."""
        texts: dict[str, SavedText] = {}
        problems: list[str] = []
        try:
            paths = sorted(path for path in self.folder.iterdir() if path.suffix.lower() in (".md", ".txt"))
        except FileNotFoundError:
            paths = []
        except OSError as error:
            paths, problems = [], [f"{self.folder}: {error.strerror}"]
        for path in paths[:MOST]:
            name = re.sub(r"\s+", "-", path.stem.lower())
            try:
                if NAME.fullmatch(name) is None:
                    raise SavedTextError("a name has letters a to z, digits, - and _, at most 40")
                if name in texts:
                    raise SavedTextError(f"there are two texts called {name}")
                texts[name] = SavedText(name, _read(path))
            except SavedTextError as error:
                problems.append(f"{path.name}: {error}")
        self.texts, self.problems = texts, problems

    def get(self, name: str) -> SavedText | None:
        return self.texts.get(name.lower())

    def save(self, name: str, text: str) -> Path:
        """Write a new text. Raises `SavedTextError`; a text that is there is never written over."""
        if NAME.fullmatch(name) is None:
            raise SavedTextError(f"{name!r} is no name: letters a to z, digits, - and _, at most 40.")
        if not text.strip():
            raise SavedTextError("There is no text to save.")
        data = (text.rstrip("\n") + "\n").encode(errors="replace")
        if len(data) > LARGEST:
            raise SavedTextError(f"The text is longer than {LARGEST // 1024} KiB.")
        path = self.folder / f"{name}.md"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            if path.exists() or path.with_suffix(".txt").exists():
                raise SavedTextError(f"{name} is there already; choose another name or edit {path}.")
            _write_new(path, data)
        except OSError as error:
            raise SavedTextError(f"{path}: {error.strerror}.") from None
        self.read()
        return path


def _write_new(path: Path, data: bytes) -> None:
    import tempfile

    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}", suffix=".part")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        os.link(temporary, path)  # unlike a rename, never over another file
    finally:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()


def _read(path: Path) -> str:
    try:
        if not path.is_file():
            raise SavedTextError("no ordinary file")
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise SavedTextError(f"longer than {LARGEST // 1024} KiB")
        text = data.decode("utf-8-sig").replace("\r\n", "\n").strip("\n")
    except OSError as error:
        raise SavedTextError(error.strerror or str(error)) from None
    except UnicodeDecodeError:
        raise SavedTextError("no UTF-8 text") from None
    if "\0" in text or not text.strip():
        raise SavedTextError("no text")
    return text

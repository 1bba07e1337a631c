"""Files named in a prompt as `@path` or `@"a path"`: found, read within bounds, and put below the message."""

from __future__ import annotations

import codecs
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

from edge0_tui import units
from edge0_tui.writing.file_blocks import FileBlock, block, split

LARGEST = 1 << 20
MOST = 20
_MENTION = re.compile(r'(?<![\w@/.])@(?:"(?P<quoted>[^"\n]+)"|(?P<plain>[^\s"\'`@]+))')
_TRAILING = ".,;:!?)]}>"
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


@dataclass(frozen=True)
class Attached:
    """A text file as it was read. `size` in bytes, on disk."""

    name: str
    text: str
    size: int

    @property
    def block(self) -> str:
        return block(self.name, self.text, self.size)


@dataclass(frozen=True)
class Refused:
    """A file that is not attached, and why, in words for a person."""

    name: str
    reason: str

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}"


def mentions(text: str, base: Path) -> list[str]:
    """The paths a prompt names that are there, as they were written, each once. What is no path is left alone."""
    found: dict[str, None] = {}
    for match in _MENTION.finditer(text):
        for name in [match["quoted"]] if match["quoted"] else _candidates(match["plain"]):
            if _is_there(name, base):
                found.setdefault(name)
                break
    return list(found)


def missing(text: str, base: Path) -> list[str]:
    """Names with a slash that look like paths and are none: most likely a slip."""
    names = [match["quoted"] or match["plain"].rstrip(_TRAILING) for match in _MENTION.finditer(text)]
    return [
        name
        for name in dict.fromkeys(names)
        if "/" in name and not any(_is_there(other, base) for other in _candidates(name))
    ]


def mention(path: str) -> str:
    """How a path is written in a prompt."""
    return f'@"{path}"' if re.search(r"[\s'`@]", path) or path.endswith(tuple(_TRAILING)) else f"@{path}"


def read(name: str, base: Path, largest: int = LARGEST) -> Attached | Refused:
    """A text file of at most so many bytes. Blocks; never waits for a pipe or a device."""
    shown = _CONTROLS.sub("\ufffd", name)
    if shown != name:
        return Refused(shown, "the name has control characters")
    try:
        # A pipe opened without O_NONBLOCK would wait for somebody to write into it.
        handle = os.open(_path(name, base), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            about = os.fstat(handle)
            if not stat.S_ISREG(about.st_mode):
                return Refused(name, "this is no ordinary file")
            if about.st_size > largest:
                return Refused(name, _too_large(about.st_size, largest))
            data = file.read(largest + 1)
    except FileNotFoundError:
        return Refused(name, "there is no such file")
    except IsADirectoryError:
        return Refused(name, "this is a folder; name a file in it")
    except (OSError, ValueError) as error:
        return Refused(name, getattr(error, "strerror", None) or str(error))
    if len(data) > largest:
        return Refused(name, _too_large(len(data), largest))
    text = _decode(data)
    if text is None:
        return Refused(name, "this is no text (neither UTF-8 nor UTF-16)")
    if not text.strip():
        return Refused(name, "the file is empty")
    return Attached(name, text, len(data))


def with_files(text: str, base: Path) -> tuple[str, list[Refused]]:
    """The message that is sent: the prompt, and below it every file it names. Blocks."""
    there = {part.name for part in split(text) if isinstance(part, FileBlock)}
    written = "".join(part for part in split(text) if isinstance(part, str))
    names = [name for name in mentions(written, base) if name not in there]
    if len(names) > MOST:
        return text, [Refused(names[MOST], f"at most {MOST} files go with one message")]
    files = [read(name, base) for name in names]
    refused = [file for file in files if isinstance(file, Refused)]
    blocks = [file.block for file in files if isinstance(file, Attached)]
    return "\n\n".join([text, *blocks]), refused


def _candidates(name: str) -> list[str]:
    """`src/a.py).` may be followed by the sentence's own marks."""
    names = [name]
    while names[-1] and names[-1][-1] in _TRAILING:
        names.append(names[-1][:-1])
    return [candidate for candidate in names if candidate]


def _is_there(name: str, base: Path) -> bool:
    """A folder is there only if it is meant as one: `@src/`, not the word `@src`."""
    try:
        path = _path(name, base)
        return path.exists() and (name.endswith("/") or not path.is_dir())
    except (OSError, ValueError):
        return False


def _path(name: str, base: Path) -> Path:
    try:
        return base / Path(name).expanduser()
    except RuntimeError as error:  # ~nobody
        raise ValueError(str(error)) from None


def _too_large(size: int, largest: int) -> str:
    return f"{units.size(size)} is too large; {units.size(largest)} is the most"


def _decode(data: bytes) -> str | None:
    wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = data.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else re.sub("\r\n?", "\n", text)

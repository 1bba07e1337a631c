"""Writing a chat in one of the formats, and reading a file in any of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from edge0_tui.chat import files, sidecar
from edge0_tui.chat.conversation import Conversation
from edge0_tui.chat.errors import FormatError, StoreError
from edge0_tui.exchange import markdown
from edge0_tui.exchange.package import pack, unpack

Format = Literal["md", "json", "html"]
FORMATS: tuple[Format, ...] = get_args(Format)
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Taken:
    """A chat from a file, and what is to be said about it."""

    conversation: Conversation
    note: str = ""


def export(conversation: Conversation, format: Format, *, branch: bool = False) -> bytes:
    """The file's content; with `branch` of the visible branch alone."""
    shown = conversation.visible() if branch else conversation
    match format:
        case "md":
            return markdown.write(shown)
        case "json":
            return (pack(shown, indent=1) + "\n").encode()
        case "html":
            from edge0_tui.exchange import html

            return html.write(shown)


def read_file(path: Path) -> Taken:
    """An export, or a transcript with the sidecar beside it. Raises `StoreError` naming the file."""
    data = files.read(path)
    if data is None:
        raise StoreError.because(path, "there is no such file")
    try:
        whole = _beside(path, data)
        return Taken(whole) if whole is not None else parse(data)
    except FormatError as error:
        raise StoreError.because(path, f"cannot be imported: {error}") from error


def parse(data: bytes) -> Taken:
    """Tell the format by the content. Raises `FormatError`."""
    data = data.removeprefix(_BOM)
    start = data[:512].lstrip().lower()
    if start.startswith(b"{"):
        return Taken(_parse_json(data))
    if start.startswith(b"---"):
        return Taken(*markdown.read(data))
    if start.startswith(b"<!doctype html"):
        from edge0_tui.exchange import html

        return Taken(html.read(data))
    raise FormatError("neither Markdown, JSON nor HTML that edge0-tui exported")


def _parse_json(data: bytes) -> Conversation:
    try:
        text = data.decode("utf-8", "surrogatepass")
    except ValueError as error:
        raise FormatError(f"not UTF-8: {error}") from error
    try:
        return unpack(text)
    except FormatError:
        # A transcript's sidecar has all of it, too.
        if b'"markdown"' not in data[:4096]:
            raise
        return sidecar.read(data).conversation


def _beside(path: Path, markdown: bytes) -> Conversation | None:
    """The whole chat of a transcript that is as edge0-tui wrote it, from its sidecar."""
    if path.suffix != ".md" or (data := files.read(sidecar.path_of(path))) is None:
        return None
    try:
        whole = sidecar.read(data)
    except FormatError:
        return None
    return whole.conversation if files.digest(markdown) in whole.markdown else None

"""What goes with a prompt: its folded texts and the files it names, each with its text and size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from edge0_tui import units
from edge0_tui.writing.attachments import Refused, mentions, missing, read
from edge0_tui.writing.file_blocks import FileBlock, line_count, split


@dataclass(frozen=True)
class Weighed:
    """`text` is what its tokens are counted of; empty with a `problem`."""

    name: str
    size: str = ""
    text: str = ""
    problem: str = ""


def weigh(prompt: str, chips: Sequence[tuple[str, str]], base: Path) -> list[Weighed]:
    """Everything that goes with a prompt as it stands on screen. Blocks where it names files."""
    found = [Weighed(label, text=text) for label, text in chips]
    inside = {part.name for _, text in chips for part in split(text) if isinstance(part, FileBlock)}
    if "@" not in prompt:
        return found
    for name in mentions(prompt, base):
        if name in inside:
            continue
        file = read(name, base)
        if isinstance(file, Refused):
            found.append(Weighed(f"@{file.name}", problem=file.reason))
        else:
            lines = line_count(file.text)
            size = f"{units.size(file.size)} · {lines:,} {'line' if lines == 1 else 'lines'}"
            found.append(Weighed(f"@{file.name}", size, file.block))
    found += [Weighed(f"@{name}", problem="there is no such file; sent as text") for name in missing(prompt, base)]
    return found

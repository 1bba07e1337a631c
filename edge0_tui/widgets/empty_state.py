"""What stands where the conversation will be: what this is, and the conversation that can be gone on with."""

from __future__ import annotations

from dataclasses import dataclass, field

from textual.content import Content
from textual.widgets import Static

from edge0_tui.keymap import Keymap

_HINTS = (
    ("models", "models", "choose a checkpoint, an adapter and the routing"),
    ("chats", "chats", "earlier conversations"),
    ("command_palette", "commands", "everything else"),
)

SUGGESTION = "What is the allocator peak?"
"""nano only knows this application, so its first visitor is told what to ask."""


@dataclass(frozen=True)
class Welcome:
    """`model` is said once it is loaded; `resume` is the title of the last conversation, if there is one."""

    model: str = ""
    resume: str = ""
    keymap: Keymap = field(default_factory=Keymap)


class EmptyState(Static):
    """Quiet, and gone with the first message."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(markup=False, id=id)
        self.welcome = Welcome()

    def show(self, welcome: Welcome) -> None:
        if welcome != self.welcome:
            self.welcome = welcome
            self._redraw()

    def on_resize(self) -> None:
        self._redraw()

    def _redraw(self) -> None:
        width, height = self.container_size
        lines = [Content.assemble(("edge0", "$primary bold"), ("  local, streamed from disk", "$text-muted"))]
        if self.welcome.model:
            lines.append(
                Content.assemble(("Ask ", "$text-muted"), self.welcome.model, (" something.", "$text-muted"))
            )
            if self.welcome.model == "nano" and width >= 40:
                lines.append(Content.styled("For instance: " + SUGGESTION, "$text-muted"))
        if self.welcome.resume:
            title = Content(self.welcome.resume).truncate(max(8, width - 26), ellipsis=True)
            lines += [
                Content(""),
                Content.assemble(
                    ("enter", "$accent bold"), ("  go on with ", "$text-muted"), ("“", "$text-muted"), title
                )
                + Content.styled("”", "$text-muted"),
            ]
        if height >= 12 and width >= 40:
            lines.append(Content(""))
            for id, word, meaning in _HINTS:
                key = next(iter(self.welcome.keymap.keys(id)), "")
                more = f"  {meaning}" if width >= 74 else ""
                lines.append(
                    Content.assemble((f"{key:8}", "$primary"), (f"{word:10}", "$foreground"), (more, "$text-muted"))
                )
        self.update(Content("\n").join(lines[: max(1, height)]))

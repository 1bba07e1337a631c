"""The line above the prompt: how far a reply without words is, or which message waits its turn."""

from __future__ import annotations

from dataclasses import dataclass

from textual.content import Content
from textual.widgets import Static

from edge0_tui.widgets.bars import meter

_BAR = 16


@dataclass(frozen=True)
class Activity:
    """`words` in a quiet colour, then the share done as a bar, then `text` as a person wrote it."""

    words: str = ""
    share: float | None = None
    text: str = ""


class ActivityLine(Static):
    """Says nothing most of the time. Its row stays, so that nothing moves when it does; low screens give it up."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(markup=False, id=id)
        self.add_class("-quiet")
        self.activity = Activity()

    def show(self, activity: Activity) -> None:
        if activity == self.activity:
            return
        self.activity = activity
        self.set_class(not activity.words, "-quiet")
        if not activity.words:
            self.update("", layout=False)
            return
        line = Content.assemble(("◇ ", "$accent"), (activity.words, "$text-muted"))
        if activity.share is not None:
            full, rest = meter(activity.share, _BAR)
            line = Content.assemble(line, "  ", (full, "$accent"), (rest, "$hairline"))
        if activity.text:
            line = Content.assemble(line, (": ", "$text-muted"), " ".join(activity.text.split()))
        self.update(line, layout=False)

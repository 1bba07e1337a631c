"""One notice above the prompt: what happened, what can be done. Errors stay until they are closed."""

from __future__ import annotations

from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from edge0_tui.notices import Notice

_MARK = {"info": ("·", "$primary"), "warning": ("!", "$warning bold"), "error": ("✕", "$error bold")}
_SECONDS = 6.0


class Banner(Static):
    """Hidden while there is nothing to say. Notices that only inform leave by themselves."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(markup=False, id=id)
        self.notice: Notice | None = None
        self._timer: Timer | None = None
        self.display = False

    def show(self, notice: Notice) -> None:
        if self._timer:
            self._timer.stop()
            self._timer = None
        self.notice = notice
        mark, style = _MARK[notice.tone]
        message, hint = " ".join(notice.message.split()), " ".join(notice.hint.split())
        self.update(
            Content.assemble(
                (f"{mark} ", style), (message, "$foreground"), (f"  {hint}" if hint else "", "$text-muted")
            )
        )
        self.display = True
        if notice.tone == "info":
            self._timer = self.set_timer(_SECONDS, self.close)

    def close(self) -> bool:
        """Put the notice away; true if there was one."""
        was = self.notice is not None
        self.notice = None
        self.display = False
        return was

    def on_click(self) -> None:
        self.close()

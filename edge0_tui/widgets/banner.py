"""One notice above the prompt: what happened, what can be done. Errors stay until they are closed."""

from __future__ import annotations

from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from edge0_tui.notices import Notice

_MARK = {"info": ("·", "$primary"), "warning": ("!", "$warning bold"), "error": ("✕", "$error bold")}
_SECONDS = 6.0
_MOST = 4


class Banner(Static):
    """Hidden while there is nothing to say. What only informs leaves by itself and hides nothing that stands.

    While another screen covers it nothing leaves: nobody has read it.
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(markup=False, id=id)
        self.notice: Notice | None = None
        self._standing: list[Notice] = []
        self._timer: Timer | None = None
        self.display = False

    def show(self, notice: Notice) -> None:
        """A notice of the same topic takes the place of the former one."""
        if notice.topic:
            self._standing = [other for other in self._standing if other.topic != notice.topic]
        if notice.tone != "info":
            self._standing = [*self._standing[-_MOST:], notice]
        self._draw(notice)

    def in_view(self) -> None:
        """The screen is in front again: what came while another covered it stays as long as it would have."""
        if self.notice is not None:
            self._draw(self.notice)

    def close(self) -> bool:
        """Put the notice on screen away, and show the one it covered; true if there was one."""
        was = self.notice
        if was is not None:
            self._standing = [notice for notice in self._standing if notice is not was]
        self._draw(self._standing[-1] if self._standing else None)
        return was is not None

    def over(self, topic: str) -> None:
        """What was told under this topic no longer holds."""
        self._standing = [notice for notice in self._standing if notice.topic != topic]
        if self.notice is not None and self.notice.topic == topic:
            self.close()

    def on_click(self) -> None:
        self.close()

    def _draw(self, notice: Notice | None) -> None:
        if self._timer:
            self._timer.stop()
            self._timer = None
        self.notice = notice
        self.display = notice is not None
        if notice is None:
            return
        mark, style = _MARK[notice.tone]
        message, hint = " ".join(notice.message.split()), " ".join(notice.hint.split())
        told = Content.assemble((f"{mark} ", style), (message, "$foreground"))
        self.update(Content.assemble(told, (f"  {hint}", "$text-muted")) if hint else told)
        if notice.tone == "info" and self.screen.is_active:
            self._timer = self.set_timer(_SECONDS, self._leave)

    def _leave(self) -> None:
        """What informs has been there long enough, unless something covers it by now; see `in_view`."""
        if self.screen.is_active:
            self.close()

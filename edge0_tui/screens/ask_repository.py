"""Asks for a repository of the hub by name."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.widgets import Input, Static

from edge0_tui.screens.dialog import Dialog
from edge0_tui.widgets.plan.about import OTHER
from engine.errors import UsageError


class AskRepositoryScreen(Dialog[str]):
    """Answers with `owner/name` or `owner/name@revision`."""

    CSS_PATH = ["dialog.tcss", "ask.tcss", "ask_repository.tcss"]
    TITLE = "Another repository"
    KEYS = (("enter", "make the plan"), ("esc", "back"))

    def body(self) -> ComposeResult:
        yield Static(OTHER, id="ask-text", markup=False)
        yield Input(placeholder="owner/name", compact=True, id="repository")
        yield Static("", id="repository-error", markup=False)

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    @on(Input.Changed)
    def _typing(self) -> None:
        self.query_one("#repository-error", Static).update("")

    @on(Input.Submitted)
    def _typed(self, event: Input.Submitted) -> None:
        from edge0_tui.manager.repo_id import parse_repo

        try:
            id = parse_repo(event.value)
        except UsageError as error:
            self.query_one("#repository-error", Static).update(str(error))
            return
        self.dismiss(str(id))

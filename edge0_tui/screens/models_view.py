"""What the models screen looks like: the list, the card of the line under the cursor, and the keys. Draws only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Static

from edge0_tui.choice import Choice
from edge0_tui.keymap import keymap_of
from edge0_tui.keys import BY_ID
from edge0_tui.model_desk import ModelDesk
from edge0_tui.model_menu import MenuLine
from edge0_tui.notices import Notice
from edge0_tui.screens.dialog import Dialog
from edge0_tui.screens.models_head import head_rows, title, unusable
from edge0_tui.widgets.action_line import ActionLine, Entry
from edge0_tui.widgets.models_list import ModelsList
from edge0_tui.widgets.plan import about
from edge0_tui.widgets.plan.rows import Rows
from edge0_tui.widgets.plan_card import PlanCard, verdict_of

if TYPE_CHECKING:
    from edge0_tui.manager.details import Details
    from engine.outlook.types import Outlook

BESIDE_FROM = 100
"""Columns from which the card stands beside the list."""
_TONES = {"info": "$text-muted", "warning": "$warning", "error": "$error"}
_USE_WORDS = {
    "installed": "load", "fetch": "fetch", "other": "type a name", "adapter": "put on", "routing": "switch",
    "agreement": "switch",
}  # fmt: skip


class ModelsViewScreen(Dialog[Choice]):
    """`budget` and `context` are what the sliders were set to; None: what the engine would choose."""

    CSS_PATH = ["dialog.tcss", "models.tcss"]
    TITLE = "Models"

    def __init__(self, desk: ModelDesk) -> None:
        super().__init__()
        self.desk = desk
        present = desk.link.loaded or desk.link.loading
        self.budget = present.memory_bytes if present else None
        self.context = present.context if present else None
        self.details: Details | None = None
        self.measuring = ""
        self._told_on = ""

    def compose(self) -> ComposeResult:
        with Vertical(classes="sheet"):
            yield Static(Content.styled(self.heading, "bold"), classes="sheet-title")
            with Horizontal(id="models-middle"):
                yield ModelsList(id="models-list")
                yield PlanCard(id="card")
            yield Static("", id="models-note", markup=False)
            yield ActionLine(id="models-keys")

    @property
    def line(self) -> MenuLine | None:
        # Work beside the screen may end when its widgets are gone already.
        return next((view.line for view in self.query(ModelsList)), None)

    @property
    def narrow(self) -> bool:
        return self.app.size.width < BESIDE_FROM

    @property
    def on_card(self) -> bool:
        """Whether the card is what is seen; where both are, the list has the cursor."""
        return self.narrow and self.has_class("-card")

    @property
    def card_seen(self) -> bool:
        """Whether the card is on the screen: beside the list, or in its place."""
        return not self.narrow or self.has_class("-card")

    def tell(self, notice: Notice) -> None:
        """One line above the keys, while the screen is there."""
        if not self.query("#models-note"):
            return
        self._told_on = self.line.id if self.line else ""
        hint = f"  {notice.hint}" if notice.hint else ""
        text = Content.assemble((notice.message, _TONES[notice.tone]), (hint, "$text-muted"))
        self.query_one("#models-note", Static).update(text)

    def hush(self) -> None:
        """Take back what was told about another line, unless that line has gone: then it says why."""
        line = self.line
        if line is None or self.measuring or not self._told_on or line.id == self._told_on:
            return
        if any(other.id == self._told_on for other in self.query_one(ModelsList).lines):
            self.query_one("#models-note", Static).update("")
            self._told_on = ""
        else:
            self._told_on = line.id

    # --- drawing ---

    def plan(self, line: MenuLine) -> Outlook | None:
        """What to expect of a line with the sliders as they are; of what cannot be used, nothing."""
        if unusable(line):
            return None
        seen = self.desk.seen(line.plan) if line.plan else None
        if seen is None or seen.prospect is None:
            return None
        info = self.desk.link.info
        routing: str = info.routing if info and line.marked else ""
        if line.kind == "routing":
            routing = line.text
        return seen.prospect.outlook(self.budget, self.context, routing, self.desk.link.footprint)

    def draw(self) -> None:
        """Everything that depends on the line under the cursor."""
        if not self.query(ModelsList) or (line := self.line) is None:  # closed, or not filled yet
            return
        card = self.query_one(PlanCard)
        out = self.plan(line)
        self._draw_keys(line, planned=out is not None)
        if not self.card_seen or not card.content_size.width:  # it has no width to draw for; a Resized follows
            return
        head = head_rows(self.desk, line, card.room)
        if out is not None:
            head.append(Content(""))
            card.show_head(title(line), head, verdict_of(out))
            more = about.details_rows(self.details, card.room) if self.details else []
            key = keymap_of(self.app).label("model_measure")
            card.show_plan(out, self.budget is None, more, f"{key} measures it" if key else "")
            return
        word = "✕ cannot be used" if unusable(line) else "planning…" if self._planning(line) else ""
        card.show_head(title(line), head, word)
        card.show_text(*self._instead(line))

    def as_it_is(self, line: MenuLine) -> bool:
        """Whether this is what is loaded, and with the sliders as they were then: nothing is left to do."""
        loaded = self.desk.link.loaded
        now = (self.budget, self.context)
        return line.marked and loaded is not None and now == (loaded.memory_bytes, loaded.context)

    def _planning(self, line: MenuLine) -> bool:
        return bool(line.plan) and not self.desk.needs_asking(line) and self.desk.seen(line.plan) is None

    def _instead(self, line: MenuLine) -> tuple[str, Rows]:
        """What stands in the place of a plan."""
        if line.kind == "other":
            return about.OTHER, []
        if self.desk.needs_asking(line):
            return "Its plan is made from what the hub says of it; o asks there. No weight is fetched for it.", []
        if unusable(line) or (line.download is not None and line.download.state == "failed"):
            return "", []  # the head says it
        seen = self.desk.seen(line.plan)
        return (seen.problem if seen else ""), []

    def _draw_keys(self, line: MenuLine, planned: bool) -> None:
        words = {"model_use": self._use_word(line)}
        if self._checking(line):
            words["model_cancel"] = "stop verifying"
        if self.desk.begins(line):
            words["model_start"] = "automatic start"
        entries: list[Entry] = []
        for id in self.actions(line, planned):
            both = id == "model_less"  # stands for the two keys, and a click could mean either
            entries.append(
                ("← →" if both else keymap_of(self.app).label(id), words.get(id, BY_ID[id].bar), "" if both else id)
            )
        if planned and self.card_seen:
            entries.append(("pgdn", "more", "model_page(1)"))
        entries.append(("esc", "list" if self.on_card else "close", "close"))
        self.query_one(ActionLine).show(entries)

    def _use_word(self, line: MenuLine) -> str:
        if self.narrow and not self.on_card and line.kind != "other":
            return "show the plan"
        if line.kind == "fetch" and line.fetch and line.fetch.state == "unfinished":
            return "go on fetching"
        if line.download is not None and line.download.state == "failed":
            return "try again"
        if line.marked:
            return "load again"
        return _USE_WORDS.get(line.kind, "")

    def _checking(self, line: MenuLine) -> bool:
        check = self.desk.jobs.checks.get(str(line.stored.model.path)) if line.stored else None
        return check is not None and check.running

    def actions(self, line: MenuLine, planned: bool) -> list[str]:
        """What can be done with a line now, most important first; `planned`: there are sliders."""
        ids = []
        usable = (line.choice is not None and not self.as_it_is(line)) or line.kind in (
            "fetch",
            "other",
            "agreement",
        )
        if (usable and not line.running) or (self.narrow and not self.on_card):
            ids.append("model_use")
        if line.kind == "fetch":
            if line.running:
                ids += ["model_pause", "model_cancel"]
            elif line.fetch and line.fetch.state == "unfinished":
                ids.append("model_cancel")
        if line.kind == "fetch" and self.desk.needs_asking(line):
            ids.append("model_repository")
        if planned and self.card_seen:
            ids += ["model_less", "model_context"] + (["model_automatic"] if self.budget is not None else [])
            ids.append("model_measure")
        if line.kind == "installed" and line.stored is not None:
            if self.card_seen:
                ids.append("model_details")
                ids.append("model_cancel" if self._checking(line) else "model_verify")
            if line.choice is not None:
                ids.append("model_start")
            if line.stored.removable and not line.marked:
                ids.append("model_delete")
        return ids

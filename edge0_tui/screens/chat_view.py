"""What the chat looks like: header, transcript, prompt, figures and keys. What happens is the controller's."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.widgets import Static

from edge0_tui.chat.branches import places
from edge0_tui.chat.conversation import Conversation
from edge0_tui.chat.turn import Attribution, Turn
from edge0_tui.controller import Controller
from edge0_tui.keymap import Keymap
from edge0_tui.library import ChatLine
from edge0_tui.notices import Notice
from edge0_tui.screens.chrome import doing, header_state, key_bar, message_keys, placeholder
from edge0_tui.settings import Settings
from edge0_tui.widgets.activity_line import ActivityLine
from edge0_tui.widgets.backdrop import Backdrop
from edge0_tui.widgets.banner import Banner
from edge0_tui.widgets.empty_state import SUGGESTION, EmptyState, Welcome
from edge0_tui.widgets.header import HeaderLine
from edge0_tui.widgets.key_bar import KeyBar
from edge0_tui.widgets.panel import Panel, PanelScroll
from edge0_tui.widgets.prompt import Prompt
from edge0_tui.widgets.prompt_notes import PromptNotes
from edge0_tui.widgets.proposals import Proposals
from edge0_tui.widgets.status_line import StatusLine
from edge0_tui.widgets.transcript import FLUSH_HZ, Transcript
from edge0_tui.window import Window
from engine.protocol import Piece

if TYPE_CHECKING:
    from edge0_tui.manager.events import Download

PANEL_FROM = 100
PANEL_ASKED_FROM = 72
STATUS_FROM = 60
LOW = 16
_REDRAWS_PER_SECOND = FLUSH_HZ / 2


class ChatViewScreen(Screen[None], Backdrop):
    """Implements `view.ChatView`. Figures and lines around the text are redrawn at most 4.5 times a second."""

    AUTO_FOCUS = "#prompt"

    def __init__(self, controller: Controller) -> None:
        super().__init__(id="chat")
        self.controller = controller
        self.offer: ChatLine | None = None
        self.panel_wanted = controller.settings.look.panel
        self.panel_asked = False
        self._fetching = ""
        self.keymap = Keymap()
        self.window = Window()
        self._dirty = True
        self._with_next_text = False

    def compose(self) -> ComposeResult:
        chat = self.controller.settings.chat
        yield HeaderLine(id="header")
        with Horizontal(id="middle"):
            with Vertical(id="column"):
                with Vertical(id="above"):
                    yield EmptyState(id="empty")
                    yield Transcript()
                with Vertical(id="below"):
                    yield Banner(id="banner")
                    yield ActivityLine(id="activity")
                    yield PromptNotes(id="prompt-notes")
                    yield Proposals(id="proposals")
                    with Horizontal(id="prompt-row"):
                        yield Static("❯", id="prompt-mark", markup=False)
                        yield Prompt(id="prompt", enter_sends=chat.enter_sends)
            with PanelScroll(id="panel-scroll"):
                yield Panel(id="panel")
        yield StatusLine(id="status")
        yield KeyBar(id="keys")

    def on_mount(self) -> None:
        self.query_one(Transcript).display = False
        self.query_one(Transcript).on_shown = self._redraw_with_text
        settings = self.controller.settings
        self.query_one(Prompt).cursor_blink = settings.look.animations
        self.use_keymap(self.keymap)
        if settings.chat.show_thinking:
            self.query_one(Transcript).toggle_thinking()
        self.set_interval(1 / _REDRAWS_PER_SECOND, self._redraw_between)
        self.lay_out()
        self._redraw()

    def on_resize(self) -> None:
        self.lay_out()
        self.call_after_refresh(self._redraw)

    def on_screen_resume(self) -> None:
        for banner in self.query(Banner):
            banner.in_view()

    def on_key(self, event: events.Key) -> None:
        """Whatever has the focus, what is written goes to the prompt."""
        prompt = self.query_one(Prompt)
        if not (event.is_printable and event.character) or self.focused is prompt:
            return
        if not self._for_a_message(event.key):
            event.stop()
            self.write(event.character)

    def write(self, text: str) -> None:
        """Put this into the prompt, where its cursor is."""
        self.query_one(Prompt).focus()
        self.query_one(Prompt).insert(text)

    def hand_on(self, event: events.Event) -> None:
        """Keys and pasted text that came while another screen was in front."""
        self.query_one(Prompt).post_message(event)

    def after_tour(self, followed: bool | None) -> None:
        """Whoever has read the introduction finds a question that nano can answer, to be sent with enter."""
        info, prompt = self.controller.link.info, self.query_one(Prompt)
        if followed and info is not None and info.tier == "nano" and not prompt.text:
            self.write(SUGGESTION)

    def _for_a_message(self, key: str) -> bool:
        """Whether this key does something to the chosen message."""
        transcript = self.query_one(Transcript)
        if transcript.chosen is None or self.focused is not transcript:
            return False
        bound = self.active_bindings.get(key)
        return bound is not None and bound.node is transcript

    def update_node_styles(self, animate: bool = True) -> None:
        """Nothing: the terminal's focus asks for it, and with a long chat restyling everything takes seconds.

        No style here depends on the screen's own classes; those that change are on `#column`.
        """

    # --- the controller's view ---

    def changed(self) -> None:
        self._dirty = True

    async def show_conversation(self, conversation: Conversation) -> None:
        turns = conversation.path
        self._show_transcript(bool(turns))
        await self.query_one(Transcript).load(turns, places(conversation))
        self.query_one(Prompt).put(conversation.draft)
        self.query_one(Prompt).focus()

    def draft(self) -> str:
        return self.query_one(Prompt).whole

    def show_user(self, turn: Turn) -> None:
        self._show_transcript(True)
        self.query_one(Transcript).add_user(turn)

    def show_branch(self, conversation: Conversation, beside: tuple[str, ...] = (), without: str = "") -> None:
        turns = [turn for turn in conversation.path if turn.id != without]
        self._show_transcript(bool(turns))
        together = [conversation.turns[id] for id in beside if id in conversation.turns]
        self.query_one(Transcript).show_path(turns, places(conversation), together)

    def show_reply(self, turn: Turn, model: str) -> None:
        self.window.asked()
        self.query_one(Transcript).go_on(turn, model)

    def show_pieces(self, pieces: list[Piece], thinking_tokens: int) -> None:
        self.query_one(Transcript).append(pieces, thinking_tokens)

    def show_finish(self, attribution: Attribution) -> None:
        self.query_one(Transcript).finish(attribution)
        wanted, chat = self.controller.settings.attention, self.controller.conversation.title
        self.window.answered(attribution.model, chat, self.app.app_focus, wanted)

    def show_notice(self, notice: Notice) -> None:
        said = dataclasses.replace(
            notice, message=self.keymap.say(notice.message), hint=self.keymap.say(notice.hint)
        )
        self.query_one(Banner).show(said)

    def close_notice(self, topic: str) -> None:
        self.query_one(Banner).over(topic)

    def set_prompt(self, text: str) -> None:
        prompt = self.query_one(Prompt)
        prompt.put(text)
        prompt.focus()

    def ask_for_room(self, answer: Turn, refusal: str) -> None:
        """What can be done is the chat screen's."""
        raise NotImplementedError

    def give_back(self, text: str) -> None:
        self.query_one(Prompt).restore(text)

    def use_keymap(self, keymap: Keymap) -> None:
        """Actions have these keys now."""
        self.keymap = keymap
        self._dirty = True
        for prompt in self.query(Prompt):
            prompt.use_keys(keymap.keys("send"), keymap.keys("newline"))

    def apply(self, settings: Settings) -> None:
        """Settings have changed."""
        self.panel_wanted = settings.look.panel
        self.query_one(Prompt).enter_sends = settings.chat.enter_sends
        self.query_one(Prompt).cursor_blink = settings.look.animations
        self.lay_out()

    def show_downloads(self, running: Sequence[Download]) -> None:
        """What is being fetched, for the header."""
        from edge0_tui.widgets.plan.transfer import short

        self._fetching = " · ".join(map(short, running))
        self.changed()

    # --- drawing ---

    def _show_transcript(self, shown: bool) -> None:
        self.query_one(Transcript).display = shown
        self.query_one(EmptyState).display = not shown

    def lay_out(self) -> None:
        """Show what the terminal's size has room for."""
        self._dirty = True
        width, height = self.app.size
        panel = self.panel_wanted and (width >= PANEL_FROM or (self.panel_asked and width >= PANEL_ASKED_FROM))
        self.query_one("#panel-scroll").display = panel
        self.query_one(StatusLine).display = not panel and width >= STATUS_FROM and height >= LOW
        self.query_one(KeyBar).display = height >= 8
        self.query_one(HeaderLine).display = height >= 5
        self.query_one("#column").set_class(height < LOW, "-low")

    def _redraw_between(self) -> None:
        if not self.query_one(Transcript).writing:
            self._redraw()

    def _redraw_with_text(self) -> None:
        self._with_next_text = not self._with_next_text
        if not self._with_next_text:
            self._redraw()

    def _redraw(self) -> None:
        if not self._dirty or not self.is_attached:
            return
        self._dirty = False
        controller = self.controller
        self.query_one(HeaderLine).show(dataclasses.replace(header_state(controller), fetching=self._fetching))
        panel = self.query_one("#panel-scroll")
        if panel.display:
            self.query_one(Panel).show(controller.figures, panel.size.height)
        else:
            self.query_one(StatusLine).show(controller.figures)
        chosen = self.query_one(Transcript).chosen
        self.query_one(KeyBar).show(*(message_keys(controller, chosen.turn_id) if chosen else key_bar(controller)))
        self.query_one(Prompt).placeholder = self.keymap.say(placeholder(controller))
        activity = doing(controller)
        self.query_one(ActivityLine).show(dataclasses.replace(activity, words=self.keymap.say(activity.words)))
        self.query_one(EmptyState).show(self._welcome())
        self.window.show_title(controller.conversation.title, controller.settings.attention.title)

    def _welcome(self) -> Welcome:
        info = self.controller.link.info
        return Welcome(info.name if info else "", self.offer.title if self.offer else "", self.keymap)

"""Writing in the chat: commands, files, earlier and saved prompts, and what is sent in the end."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual import events, on
from textual.worker import Worker

from edge0_tui.controller import Controller
from edge0_tui.notices import Notice, Tone
from edge0_tui.paths import Paths
from edge0_tui.screens.chat_view import ChatViewScreen
from edge0_tui.token_counts import TokenCounts
from edge0_tui.widgets.prompt import Prompt
from edge0_tui.widgets.prompt_notes import Part, PromptNotes
from edge0_tui.widgets.proposals import Proposals
from edge0_tui.widgets.transcript import Transcript
from edge0_tui.writing.prompt_history import PromptHistory
from edge0_tui.writing.saved_texts import SavedTextError, SavedTexts

if TYPE_CHECKING:
    from edge0_tui.choice import Choice
    from edge0_tui.live_themes import LiveThemes
    from edge0_tui.writing.completion import Item, Menu
    from edge0_tui.writing.slash import Command
    from edge0_tui.writing.weighing import Weighed

WRITING = "writing"
_PAUSE = 0.15


class WritingScreen(ChatViewScreen):
    """What `ChatScreen` builds on for everything about the prompt."""

    colours: LiveThemes
    """Set by the application."""

    def __init__(self, controller: Controller, places: Paths) -> None:
        super().__init__(controller)
        config = places.settings.parent
        self.places = places
        self.saved_prompts = SavedTexts(config / "prompts")
        self.saved_systems = SavedTexts(config / "system")
        self.prompt_history = PromptHistory(places.chats / "prompt_history.jsonl")
        self.counts = TokenCounts(lambda texts: self.controller.link.count(texts))
        self._commands: dict[str, Command] = {}
        self._scanned: tuple[str, list[Item]] = ("", [])
        self._models: list[tuple[str, str]] | None = None
        self._weighed: list[Weighed] = []
        self._counted_by = ""

    def on_mount(self) -> None:
        self.query_one(Prompt).proposals = self._propose
        self.call_after_refresh(lambda: self.run_worker(self._fetch()))

    async def _fetch(self) -> None:
        """What the disk knows of former evenings, once the first picture is there."""
        from edge0_tui.writing.slash import commands

        self._commands = commands()
        earlier = await asyncio.to_thread(self._read_saved)
        self.query_one(Prompt).remember(earlier)

    def _read_saved(self) -> list[str]:
        self.saved_prompts.read()
        self.saved_systems.read()
        if self.controller.settings.chat.keep_prompts:
            with contextlib.suppress(OSError):
                return self.prompt_history.read()
        return []

    def tell(self, message: str, hint: str = "", tone: Tone = "warning") -> None:
        self.show_notice(Notice(message, hint, tone, WRITING))

    def _alone(self, group: str, work: Callable[[], Coroutine[Any, Any, None]]) -> Worker[None]:
        """Run this beside the screen, in the place of what still runs in its group."""
        return self.run_worker(work, group=group, exclusive=True)

    def switch(self, choice: Choice) -> None:
        """Load this and say what came of it; like the next four the chat screen's matter."""
        raise NotImplementedError

    def open_models(self, line: str = "") -> None:
        """The models screen, beginning on this line."""
        raise NotImplementedError

    def open_chats(self, words: str = "") -> None:
        """The list of saved chats, searched for these words."""
        raise NotImplementedError

    async def export_to(self, wanted: str) -> bool:
        """Write the chat on screen in a format, or to a file; false if it could not be, which is said."""
        raise NotImplementedError

    async def take_in(self, wanted: Sequence[Path]) -> bool:
        """Import these files, or choose in this folder; false if one could not be, which is said."""
        raise NotImplementedError

    # --- sending ---

    @on(Prompt.Sent)
    async def _sent(self, event: Prompt.Sent) -> None:
        """Run it if it is a command, else send it with the files it names."""
        from edge0_tui.screens.slash_actions import run
        from edge0_tui.writing.slash import parse

        self.close_notice(WRITING)
        written = parse(event.text)
        if written is not None:
            if not self._commands:  # written before the first picture
                from edge0_tui.writing.slash import commands

                self._commands = commands()
            if not await run(self, written, self._commands):
                self.query_one(Prompt).restore(event.text)
            return
        text = event.text
        if "@" in text:
            from edge0_tui.writing.attachments import with_files

            text, refused = await asyncio.to_thread(with_files, text, Path.cwd())
            if refused:
                self.query_one(Prompt).restore(event.text)
                self.tell(f"Not sent. {' · '.join(map(str, refused[:3]))}")
                return
        self.controller.send(text)
        if self.controller.settings.chat.keep_prompts:
            self.run_worker(self._keep(event.text))

    async def _keep(self, text: str) -> None:
        try:
            await asyncio.to_thread(self.prompt_history.append, text)
        except OSError as error:
            self.tell(f"Earlier prompts cannot be saved: {error.strerror} ({error.filename}).")

    # --- proposals ---

    def _propose(self, before: str, first_line: bool) -> Menu | None:
        if not before.startswith("/") and "@" not in before:
            return None
        from edge0_tui.writing.completion import Menu, command_menu, path_prefix

        if first_line and before.startswith("/"):
            return command_menu(before, self._commands, self.saved_prompts.texts, self._arguments)
        if (found := path_prefix(before)) is None:
            return None
        start, prefix = found
        known, items = self._scanned
        if prefix != known:
            self._alone("paths", partial(self._scan, prefix))
            # Until then, what is known of the same folder, so that the list does not blink at every key.
            if prefix.rpartition("/")[0] != known.rpartition("/")[0]:
                return None
            name = prefix.rpartition("/")[2].lower()
            items = [item for item in items if item.label.lower().startswith(name)]
        if not items or (len(items) == 1 and items[0].insert.strip() == before[start:]):
            return None
        return Menu(start, items)

    async def _scan(self, prefix: str) -> None:
        from edge0_tui.writing.completion import paths

        self._scanned = (prefix, await asyncio.to_thread(paths, prefix, Path.cwd()))
        self.query_one(Prompt).look()

    def _arguments(self, command: str) -> Iterable[tuple[str, str]]:
        """What may follow a command, with a note on each."""
        from edge0_tui.chat.chat_sampling import PRESETS

        info = self.controller.link.info
        match command:
            case "model":
                if self._models is None:
                    self._alone("models", self._list_models)
                return self._models or []
            case "theme":
                return [(name, title) for name, title in self.colours.titles.items()]
            case "export":
                return [("md", "Markdown"), ("html", "one page"), ("json", "for programs")]
            case "adapter":
                names = info.adapters_available if info else []
                return [(name, "") for name in dict.fromkeys([*names, "none"])]
            case "routing":
                return [("exact", "the model's own router"), ("predicted", "the prerouter, one token ahead")]
            case "preset":
                return [("none", "the settings decide"), *((name, note) for name, (note, _) in PRESETS.items())]
            case "system":
                saved = self.saved_systems.texts.values()
                return [*((text.name, text.first_line) for text in saved), ("none", "no system prompt")]
            case _:
                return []

    async def _list_models(self) -> None:
        from edge0_tui.installed import installed_models

        there = await asyncio.to_thread(installed_models, self.places)
        self._models = [(model.name, model.source) for model in there if model.loadable]
        self.query_one(Prompt).look()

    @on(Prompt.MenuChanged)
    def _show_menu(self) -> None:
        prompt = self.query_one(Prompt)
        if not prompt.text:
            self._models = None  # by the next time others may have come
        self.query_one(Proposals).show(prompt.menu, prompt.chosen)

    @on(Proposals.Taken)
    def _take(self, event: Proposals.Taken) -> None:
        prompt = self.query_one(Prompt)
        prompt.take(event.index)
        prompt.focus()

    # --- what goes with it ---

    @on(Prompt.Changed, "#prompt")
    def _written(self) -> None:
        self._alone("weigh", self._weigh)

    async def _weigh(self) -> None:
        """Say what goes with the prompt, first with estimated tokens, then with counted ones."""
        prompt = self.query_one(Prompt)
        chips = prompt.chips.parts(prompt.text)
        if not chips and "@" not in prompt.text:
            self._weighed = []
            self.show_notes()
            return
        from edge0_tui.writing.weighing import weigh

        await asyncio.sleep(_PAUSE)
        self._weighed = await asyncio.to_thread(weigh, prompt.text, chips, Path.cwd())
        self.show_notes()
        if await self.counts.learn([each.text for each in self._weighed if each.text]):
            self.show_notes()

    def show_notes(self) -> None:
        """Redraw the lines about the prompt and the chat."""
        chat = self.controller.conversation
        parts = [
            Part(each.name, each.size, self.counts.get(each.text) if each.text else None, each.problem)
            for each in self._weighed
        ]
        of_chat = " · ".join(filter(None, (chat.sampling.words, "system prompt" if chat.system else "")))
        info = self.controller.link.info
        self.query_one(PromptNotes).show(parts, of_chat, info.context_limit if info else 0)

    def changed(self) -> None:
        super().changed()
        info = self.controller.link.info
        if info is not None and info.path != self._counted_by:
            self._counted_by = info.path
            self.counts.forget()
            if self._weighed:
                self._written()

    def _redraw(self) -> None:
        due = self._dirty and self.is_attached
        super()._redraw()
        if due:
            self.show_notes()

    def on_paste(self, event: events.Paste) -> None:
        """Whatever has the focus, what is pasted goes to the prompt."""
        event.stop()
        prompt = self.query_one(Prompt)
        prompt.focus()
        prompt.insert_folded(event.text)

    # --- actions ---

    def action_unfold(self) -> None:
        """In the prompt if something is folded there or was, else in the messages."""
        if not self.query_one(Prompt).toggle_fold() and not self.query_one(Transcript).toggle_folds():
            self.tell("Nothing is folded here.", tone="info")

    def action_search_prompts(self, words: str = "") -> None:
        from edge0_tui.screens.search_prompts import SearchPromptsScreen
        from edge0_tui.writing.slash import parse

        entries = [entry for entry in self.query_one(Prompt).history_walk.entries if parse(entry) is None]
        self.app.push_screen(SearchPromptsScreen(entries, words), self._use_prompt)

    def action_saved_prompts(self) -> None:
        from edge0_tui.screens.search_prompts import SavedPromptsScreen

        self.saved_prompts.read()
        self.app.push_screen(SavedPromptsScreen(self.saved_prompts), self._use_prompt)

    def _use_prompt(self, text: str | None) -> None:
        """Put an earlier or saved prompt where the cursor is; what is there stays."""
        if text is not None:
            prompt = self.query_one(Prompt)
            prompt.insert(prompt.chips.fold(text))
            prompt.focus()

    def action_save_prompt(self) -> None:
        from edge0_tui.screens.ask_name import AskNameScreen

        text = self.query_one(Prompt).whole
        if not text.strip():
            self.tell("There is no prompt to save.", "Write one first.")
            return

        def keep(name: str | None) -> None:
            if name is not None:
                self.save_prompt(name, text)

        where = str(self.saved_prompts.folder)
        self.app.push_screen(AskNameScreen(where), keep)

    def save_prompt(self, name: str, text: str) -> bool:
        """Keep a prompt under a name; false if it could not be, which is said."""
        try:
            path = self.saved_prompts.save(name, text)
        except SavedTextError as error:
            self.tell(str(error))
            return False
        self.tell(f"Saved as {path}.", f"/{name} brings it back.", "info")
        return True

    def action_sampling(self) -> None:
        from edge0_tui.screens.sampling import SamplingScreen

        info = self.controller.link.info
        present = self.controller.conversation.sampling
        resolved = self.controller.sampling(info) if info else None
        self.app.push_screen(
            SamplingScreen(present, resolved),
            lambda chosen: self.controller.change_chat(sampling=chosen) if chosen is not None else None,
        )

    def action_system_prompt(self) -> None:
        from edge0_tui.screens.system_prompt import SystemPromptScreen

        self.saved_systems.read()
        self.app.push_screen(
            SystemPromptScreen(self.controller.conversation.system, self.saved_systems),
            lambda text: self.controller.change_chat(system=text) if text is not None else None,
        )

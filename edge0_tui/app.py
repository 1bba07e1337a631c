"""The full-screen application: puts settings, themes, engine, conversations and screens together."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual.app import App
from textual.binding import BindingType
from textual.screen import Screen
from textual.worker import Worker

from edge0_tui import keymap_file, keys, settings_file, themes
from edge0_tui.clipboard import copy
from edge0_tui.controller import Controller
from edge0_tui.engine_link import EngineLink
from edge0_tui.in_browser import in_browser
from edge0_tui.keymap import Keymap
from edge0_tui.library import Library
from edge0_tui.live_themes import TOPIC, LiveThemes
from edge0_tui.model_jobs import ModelJobs
from edge0_tui.notices import Notice
from edge0_tui.options import AppOptions
from edge0_tui.paths import Paths, find_paths
from edge0_tui.safe_start import SafeStart
from edge0_tui.screens.chat import ChatScreen
from edge0_tui.settings import Model, Settings
from edge0_tui.terminal_keys import know_alt_enter
from edge0_tui.terminal_title import RESTORE, SAVE
from edge0_tui.window import Window
from engine.interface import Engine

if TYPE_CHECKING:
    from textual.command import Provider

    from edge0_tui.chat.conversation import Conversation
    from edge0_tui.chat.store import Saved, TranscriptStore
    from edge0_tui.model_desk import ModelDesk
    from engine.protocol import Finished, ModelInfo

_TWICE_SECONDS = 2.0
_PATIENCE_SECONDS = 6.0


def _action_commands() -> type[Provider]:
    from edge0_tui.palette import ActionCommands

    return ActionCommands


def _model_commands() -> type[Provider]:
    from edge0_tui.model_palette import ModelCommands

    return ModelCommands


class Edge0App(App[int], inherit_bindings=False):
    """Wiring only: what happens in the chat is `Controller`'s, what it looks like is the screens'."""

    TITLE = "edge0"
    CSS_PATH: ClassVar[Any] = ["screens/chat.tcss", "screens/palette.tcss"]
    COMMANDS: ClassVar[Any] = {_action_commands, _model_commands}
    BINDINGS: ClassVar[list[BindingType]] = keys.bindings("app")
    VERTICAL_BREAKPOINTS = [(0, "-tiny"), (13, "-low"), (28, "-high")]

    def __init__(self, options: AppOptions, paths: Paths, reading: settings_file.Reading, engine: Engine) -> None:
        # Without this Textual greys colours out, and greys the terminal's own to black on black.
        super().__init__(ansi_color=True if "NO_COLOR" in os.environ else None)
        self.options, self.paths, self.settings = options, paths, reading.settings
        self.settings_errors = reading.errors
        self.keymap_path = paths.settings.parent / keymap_file.NAME
        reading_keys = keymap_file.read(self.keymap_path)
        self.keymap_errors = reading_keys.errors
        self.themes = LiveThemes(self, paths.settings.parent / "themes", self._theme_wanted(), self._keep_theme)
        self.controller = Controller(self.settings, self._save, self.spawn)
        self.link = EngineLink(engine, self.controller, SafeStart(paths.logs), self.spawn)
        self.jobs = ModelJobs(paths, self.spawn, self._jobs_changed, lambda notice: self.chat.show_notice(notice))
        self.chat = ChatScreen(self.controller, Library(lambda: self.store, paths), paths, lambda: self.desk)
        self.chat.colours = self.themes
        self.chat.window = Window(self.write_to_terminal)
        self.controller.attach(self.chat, self.link)
        self.controller.replied = self._learn
        self.use_keymap(reading_keys.keymap)
        self._interrupted = -_TWICE_SECONDS
        self._leaving = self._asked_to_leave = False
        self._show_look()

    @cached_property
    def store(self) -> TranscriptStore:
        """The saved conversations; its imports are not needed for the first picture."""
        from edge0_tui.chat.store import TranscriptStore

        return TranscriptStore(self.paths.transcripts)

    @cached_property
    def desk(self) -> ModelDesk:
        """What the models screen works on; not needed before it is opened."""
        from edge0_tui.model_desk import ModelDesk

        return ModelDesk(self.paths, self.link, self.jobs, lambda: self.settings.model, self._change_model_settings)

    def _change_model_settings(self, model: Model) -> str:
        return self.change_settings(dataclasses.replace(self.settings, model=model))

    def _jobs_changed(self) -> None:
        """A download or a verification has moved on."""
        self.chat.show_downloads(self.jobs.running)
        for screen in self.screen_stack:
            if hasattr(screen, "jobs_changed"):
                screen.jobs_changed()

    def _save(self, conversation: Conversation) -> Saved:
        return self.store.save(conversation)

    def _learn(self, model: ModelInfo, finished: Finished) -> None:
        """What a reply came at is compared with what was expected of it, beside the screen."""
        from edge0_tui.learning import note_reply

        if finished.finish_reason in ("stop", "length"):
            self.spawn(asyncio.to_thread(note_reply, self.paths, model, finished))

    def get_default_screen(self) -> Screen[Any]:
        return self.chat

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """What our styles use beyond Textual's own, and what Textual takes for granted in 16-colour themes."""
        return {"hairline": "#7f7f7f 35%", "ansi-background": "ansi_black", "ansi-foreground": "ansi_white"}

    def spawn(self, work: Coroutine[Any, Any, None]) -> Worker[None]:
        """Run beside the screen. An error in there ends the application with its traceback, like any other."""
        return self.run_worker(work, exit_on_error=True)

    def on_mount(self) -> None:
        """Everything that may take long comes after the first picture."""
        for number in (signal.SIGTERM, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, self._told_to_leave, number)
        self.call_after_refresh(self._begin)

    def _told_to_leave(self, number: int) -> None:
        """Leave in good order; a terminal that is gone can block that for ever, so not later than in a while."""
        last_resort = threading.Timer(_PATIENCE_SECONDS, os._exit, (128 + number,))
        last_resort.daemon = True
        last_resort.start()
        self.spawn(self._leave())

    def _begin(self) -> None:
        if not gc.isenabled():  # off since `edge0_tui.cli`; what is there now stays and need not be looked at again
            gc.enable()
            gc.freeze()
        from edge0_tui.startup import begin

        self.spawn(begin(self))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While a screen waits for any key, no key does anything else."""
        return not any(getattr(screen, "TAKES_EVERY_KEY", False) for screen in self.screen_stack[-1:])

    # --- actions of the whole application ---

    async def action_quit(self) -> None:
        """Leave; while something is being fetched, only after a question."""
        if not self.jobs.running or self._asked_to_leave:
            await self._leave()
            return
        from edge0_tui.screens.ask import AskScreen

        self._asked_to_leave = True
        answers = [
            ("stay", "Stay", "the download goes on"),
            ("leave", "Leave", "it pauses, and goes on from there next time"),
        ]
        self.push_screen(AskScreen("A download is running", "", answers), self._answered_leaving)

    def _answered_leaving(self, said: str | None) -> None:
        self._asked_to_leave = False
        if said == "leave":
            self.spawn(self._leave())

    async def _leave(self) -> None:
        if not self._leaving:
            self._leaving = True
            await asyncio.gather(self.controller.close(), self.jobs.close())
            self.exit(0)

    def action_copy_or_stop(self) -> None:
        """Copy what is selected, else stop; with nothing to stop, twice leaves."""
        selected = getattr(self.focused, "selected_text", "") or self.screen.get_selected_text()
        if selected:
            self.copy_to_clipboard(selected)
            self.screen.clear_selection()
        elif self.controller.stop():
            pass
        elif time.monotonic() - self._interrupted < _TWICE_SECONDS:
            self.spawn(self.action_quit())
        else:
            self._interrupted = time.monotonic()
            self.chat.show_notice(Notice("{key:copy_or_stop} again leaves.", topic="leave"))

    def copy_to_clipboard(self, text: str) -> None:
        """Textual's own way is the second; see `edge0_tui.clipboard`."""
        self.spawn(self._copy(text))

    async def _copy(self, text: str) -> None:
        way = await copy(text, super().copy_to_clipboard, file=self.paths.chats / "copied.txt")
        self.chat.show_notice(Notice(f"{len(text):,} characters {way}."))

    def action_command_palette(self) -> None:
        from edge0_tui.screens.palette import Palette

        if not Palette.is_open(cast("App[object]", self)):
            self.push_screen(Palette(id="--command-palette"))

    def action_help(self) -> None:
        from edge0_tui.screens.help import HelpScreen

        self._show(HelpScreen(self.keymap))

    def action_log(self) -> None:
        from edge0_tui.screens.log import LogScreen

        self._show(LogScreen(self.paths.engine_log))

    def action_settings(self) -> None:
        from edge0_tui.screens.settings import SettingsScreen

        self._show(
            SettingsScreen(self.settings, self.themes.titles, self.change_settings, str(self.paths.settings))
        )

    def action_keys(self) -> None:
        from edge0_tui.screens.keys import KeysScreen

        self._show(KeysScreen(self.keymap, self.change_keymap, self.keymap_errors))

    def action_tour(self) -> None:
        from edge0_tui.screens.tour import TourScreen

        self._show(TourScreen(self.keymap, self.chat.hand_on), self.chat.after_tour)

    def action_theme(self) -> None:
        from edge0_tui.screens.themes import ThemesScreen

        self.push_screen(ThemesScreen(self.themes), self._keep_theme)

    def _show(self, screen: Screen[Any], answered: Callable[[Any], None] | None = None) -> None:
        """Open a screen over the chat; the key that opened it closes it, and another one's takes its place."""
        from edge0_tui.screens.dialog import Dialog

        present = self.screen
        if isinstance(present, Dialog):
            present.action_close()
        if type(present) is not type(screen):
            self.push_screen(screen, answered)

    # --- settings ---

    def change_settings(self, settings: Settings) -> str:
        """Use these from now on and write them down; answers with what hinders the latter."""
        self.settings = settings
        self.controller.apply(settings)
        self.chat.apply(settings)
        self._show_look()
        if self.settings_errors:
            return f"Not written: {self.paths.settings} has errors and is left as it is."
        try:
            settings_file.write(self.paths.settings, settings)
        except OSError as error:
            return f"Not written: {error}"
        return ""

    def use_keymap(self, keymap: Keymap) -> None:
        """These keys from now on, in bindings and wherever keys are shown."""
        self.keymap = keymap
        self.set_keymap(keymap.for_textual())
        self.chat.use_keymap(keymap)

    def change_keymap(self, keymap: Keymap) -> str:
        """Use these keys and write them down; answers with what hinders the latter."""
        self.use_keymap(keymap)
        if self.keymap_errors:
            return f"Not written: {self.keymap_path} has errors and is left as it is."
        try:
            keymap_file.write(self.keymap_path, keymap)
        except OSError as error:
            return f"Not written: {error}"
        return ""

    def _keep_theme(self, name: str | None) -> None:
        if name is not None:
            look = dataclasses.replace(self.settings.look, theme=name)
            if problem := self.change_settings(dataclasses.replace(self.settings, look=look)):
                self.chat.show_notice(Notice(problem, tone="warning"))
            elif self.no_color:
                title = self.themes.titles.get(name, name)
                self.chat.show_notice(Notice(f"{title} is kept, but NO_COLOR is set."))

    def _theme_wanted(self) -> str:
        return themes.WITHOUT_COLOUR if self.no_color else self.settings.look.theme

    def write_to_terminal(self, sequence: str) -> None:
        """A sequence that draws nothing, between two of Textual's pictures."""
        if self._driver is not None and not self.is_web:
            self._driver.write(sequence)

    def look_at_themes(self) -> None:
        """Show what has changed in the user's theme files, and say what is wrong with them."""
        if self.themes.changed():
            self.chat.close_notice(TOPIC)
            if problem := self.themes.problem():
                self.chat.show_notice(problem)

    def _show_look(self) -> None:
        self.themes.show(self._theme_wanted())
        self.animation_level = "full" if self.settings.look.animations else "none"


def run_app(options: AppOptions) -> int:
    """Run until the person leaves; the engine is gone and the terminal as before when this returns."""
    from engine.client import EngineClient

    know_alt_enter()
    paths = find_paths()
    reading = settings_file.read(paths.settings)
    if reading.settings.storage.data_dir:
        paths = find_paths(reading.settings.storage.data_dir)
    engine = EngineClient(log_path=paths.engine_log)
    return asyncio.run(_run(Edge0App(options, paths, reading, engine), engine))


async def _run(app: Edge0App, engine: Engine) -> int:
    _to_terminal(SAVE)
    try:
        await app.run_async()
    finally:
        _to_terminal(RESTORE)
        await asyncio.gather(engine.close(), app.jobs.close())
    return app.return_code or 0


def _to_terminal(sequence: str) -> None:
    """Before and after the full screen; a terminal that is gone needs nothing restored, and a browser has none."""
    if in_browser():
        return
    with contextlib.suppress(OSError):
        sys.stdout.write(sequence)
        sys.stdout.flush()

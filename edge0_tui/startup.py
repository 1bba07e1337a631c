"""The start: what is loaded, which chat is offered, and what is wrong with settings and themes."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING

from edge0_tui import units
from edge0_tui.automatic import AUTOMATIC, automatic
from edge0_tui.choice import Choice
from edge0_tui.first_run import is_first_run, remember
from edge0_tui.installed import resolve
from edge0_tui.manager.errors import InUseError
from edge0_tui.notices import Notice
from edge0_tui.options import AppOptions
from edge0_tui.paths import Paths
from edge0_tui.settings import Settings
from engine.errors import CheckpointError

if TYPE_CHECKING:
    from edge0_tui.app import Edge0App

_THEMES_SECONDS = 1.0


async def begin(app: Edge0App) -> None:
    """Runs once the first picture is on screen."""
    for problem in (_settings_problem(app), _keymap_problem(app), app.themes.problem()):
        if problem:
            app.chat.show_notice(problem)
    app.set_interval(_THEMES_SECONDS, app.look_at_themes)
    if is_first_run(app.paths) and not (app.options.resume or app.options.continue_last or app.chat.draft()):
        app.action_tour()
        remember(app.paths)
    await asyncio.gather(
        app.link.open(_choose(app)), app.chat.show_last(app.options), asyncio.to_thread(_import_messages)
    )


async def _choose(app: Edge0App) -> Choice:
    """What is installed and what this machine is are found out beside the screen, while the engine starts."""
    choice, notice = await asyncio.to_thread(first_choice, app.options, app.settings, app.paths)
    if notice:
        app.chat.show_notice(notice)
    return choice


def _import_messages() -> None:
    """What the first message needs, while the engine loads; in a thread, where it holds up nothing."""
    import_module("edge0_tui.widgets.message_reply")
    import_module("edge0_tui.widgets.message_user")
    import_module("edge0_tui.widgets.markdown.warm").warm()


def first_choice(options: AppOptions, settings: Settings, paths: Paths) -> tuple[Choice, Notice | None]:
    """The choice, and why it is this one: a missing checkpoint gives nano, several tiers the one that suits.

    Blocks on the disk.
    """
    wanted = options.model or settings.model.default
    memory = options.memory or (units.parse_size(settings.model.memory) if settings.model.memory else None)
    context = options.context or settings.model.context or None
    if wanted == AUTOMATIC:
        found = automatic(paths, memory, context)
        choice = Choice(found.model, options.adapter, options.routing, memory, context, found.label, found.reason)
        if not found.reason:
            return choice, None
        return choice, Notice(f"Chosen for this machine: {found.reason}", "{key:models} shows the plans.")
    try:
        model = resolve(wanted, paths)
    except (CheckpointError, InUseError) as error:
        notice = Notice(f"{error.message} nano is loaded instead.", error.hint, "warning")
        return Choice(memory_bytes=memory, context=context), notice
    label = wanted if wanted != model else ""
    return Choice(model, options.adapter, options.routing, memory, context, label), None


def _settings_problem(app: Edge0App) -> Notice | None:
    if not app.settings_errors:
        return None
    first, more = app.settings_errors[0], len(app.settings_errors) - 1
    rest = f" and {more} more" if more else ""
    return Notice(
        f"Settings: {first}{rest}.", f"Defaults are used; {app.paths.settings} is left as it is.", "warning"
    )


def _keymap_problem(app: Edge0App) -> Notice | None:
    if not app.keymap_errors:
        return None
    hint = f"These keep their usual keys; {app.keymap_path} is left as it is."
    return Notice(f"Keys: {' · '.join(app.keymap_errors)}.", hint, "warning")

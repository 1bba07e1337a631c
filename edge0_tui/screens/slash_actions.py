"""What the commands of the prompt do."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from edge0_tui.chat.chat_sampling import PRESETS, ChatSampling
from edge0_tui.choice import Choice
from edge0_tui.keys import BY_ID, target
from edge0_tui.widgets.prompt import Prompt
from edge0_tui.writing.slash import Command, Written, nearest
from engine.errors import EngineError

if TYPE_CHECKING:
    from edge0_tui.screens.writing import WritingScreen


async def run(screen: WritingScreen, written: Written, known: Mapping[str, Command]) -> bool:
    """Do what was written; false, after saying why, if that cannot be done and the person should have it back."""
    command = known.get(written.name)
    if command is None:
        return _insert_saved(screen, written, known)
    if written.argument and not command.argument:
        screen.tell(f"/{command.name} takes nothing after it.", "With a space before it, it is sent as text.")
        return False
    if command.action and not written.argument:
        await screen.app.run_action(target(BY_ID[command.action]), screen)
        return True
    if command.needed and not written.argument:
        screen.tell(f"/{command.name} needs something after it: /{command.name} {command.argument}")
        return False
    return await _OWN[command.name](screen, written.argument)


def _insert_saved(screen: WritingScreen, written: Written, known: Mapping[str, Command]) -> bool:
    saved = screen.saved_prompts.get(written.name)
    if saved is None:
        screen.saved_prompts.read()  # it may have been put there a moment ago
        saved = screen.saved_prompts.get(written.name)
    if saved is not None:
        screen.query_one(Prompt).put(saved.filled(written.argument))
        return True
    near = nearest(written.name, [*known, *screen.saved_prompts.texts])
    also = f"Did you mean /{near[0]}? " if near else ""
    screen.tell(
        f"There is no command and no saved prompt /{written.name}.",
        f"{also}With a space before it, it is sent as text.",
    )
    return False


async def _model(screen: WritingScreen, name: str) -> bool:
    from edge0_tui.installed import installed_models, resolve

    try:
        model = await asyncio.to_thread(resolve, name, screen.places)
    except EngineError as error:
        there = await asyncio.to_thread(installed_models, screen.places)
        near = nearest(name, (each.name for each in there), 3)
        screen.tell(error.message, _meant(near) or error.hint)
        return False
    link = screen.controller.link
    base = link.loaded or Choice()
    label = name if name != model else ""
    screen.switch(replace(base, model=model, adapter="", routing="", label=label))
    return True


async def _adapter(screen: WritingScreen, name: str) -> bool:
    link = screen.controller.link
    if link.loaded is None or link.info is None:
        screen.tell("No model is loaded.", "/model loads one.")
        return False
    if not name:
        screen.open_models(f"adapter:{link.info.adapter}")
        return True
    known = [*link.info.adapters_available, "none"]
    matching = [each for each in known if name in (each, each.rpartition("/")[2])]
    if not matching:
        near = nearest(name, known, 3)
        screen.tell(
            f"There is no adapter {name} for {link.info.name}.", _meant(near) or f"There are: {', '.join(known)}."
        )
        return False
    screen.switch(replace(link.loaded, adapter=matching[0]))
    return True


async def _routing(screen: WritingScreen, mode: str) -> bool:
    link = screen.controller.link
    if mode not in ("exact", "predicted", ""):
        screen.tell(f"{mode} is no routing.", "It is exact or predicted.")
    elif link.loaded is None or link.info is None:
        screen.tell("No model is loaded.", "/model loads one.")
    elif not mode:
        screen.open_models(f"routing:{link.info.routing}")
        return True
    elif mode == "predicted" and not link.info.predicted_available:
        screen.tell(f"{link.info.name} has no prerouter heads, so its routing is exact.")
    else:
        screen.switch(replace(link.loaded, routing=mode))
        return True
    return False


async def _theme(screen: WritingScreen, name: str) -> bool:
    """By name or title, however it is written."""
    titles = screen.colours.titles
    called = {**{title.casefold(): id for id, title in titles.items()}, **{id: id for id in titles}}
    if (found := called.get(name.casefold())) is None:
        near = nearest(name, [*titles, *titles.values()], 3)
        near = list(dict.fromkeys(called[each.casefold()] for each in near))
        screen.tell(f"There is no theme {name}.", _meant(near) or f"There are: {', '.join(titles)}.")
        return False
    screen.colours.keep(found)
    return True


async def _chats(screen: WritingScreen, words: str) -> bool:
    screen.open_chats(words)
    return True


async def _export(screen: WritingScreen, wanted: str) -> bool:
    return await screen.export_to(wanted)


async def _import(screen: WritingScreen, name: str) -> bool:
    from edge0_tui.exchange.picking import named

    return await screen.take_in(await asyncio.to_thread(named, name, Path.cwd()))


async def _history(screen: WritingScreen, words: str) -> bool:
    screen.action_search_prompts(words)
    return True


async def _system(screen: WritingScreen, name: str) -> bool:
    if not name:
        screen.action_system_prompt()
        return True
    if name == "none":
        screen.controller.change_chat(system="")
        screen.tell("This chat has no system prompt.", tone="info")
        return True
    screen.saved_systems.read()
    saved = screen.saved_systems.get(name)
    if saved is None:
        meant = _meant(nearest(name, screen.saved_systems.texts, 3))
        screen.tell(
            f"There is no system prompt {name}.", meant or f"Each is a file in {screen.saved_systems.folder}."
        )
        return False
    screen.controller.change_chat(system=saved.text)
    screen.tell(f"System prompt of this chat: {saved.name}.", saved.first_line, "info")
    return True


async def _preset(screen: WritingScreen, name: str) -> bool:
    if not name:
        screen.action_sampling()
        return True
    if name not in (*PRESETS, "none"):
        screen.tell(f"There is no preset {name}.", f"There are: {', '.join([*PRESETS, 'none'])}.")
        return False
    # A preset is a whole: single values that were changed before would make it another one.
    kept = screen.controller.conversation.sampling
    chosen = ChatSampling("" if name == "none" else name, seed=kept.seed, max_tokens=kept.max_tokens)
    return await _sample(screen, chosen)


def _meant(near: Sequence[str]) -> str:
    """`Did you mean a, b or c?`, empty without any."""
    return f"Did you mean {' or '.join(filter(None, (', '.join(near[:-1]), near[-1])))}?" if near else ""


def _value(name: str) -> Callable[[WritingScreen, str], Awaitable[bool]]:
    async def change(screen: WritingScreen, text: str) -> bool:
        try:
            chosen = screen.controller.conversation.sampling.having(name, text)
        except ValueError as error:
            screen.tell(f"{str(error)[:1].upper()}{str(error)[1:]}.")
            return False
        return await _sample(screen, chosen)

    return change


async def _sample(screen: WritingScreen, chosen: ChatSampling) -> bool:
    screen.controller.change_chat(sampling=chosen)
    screen.tell(f"Sampling of this chat: {chosen.words or 'as in the settings'}.", tone="info")
    return True


async def _attach(screen: WritingScreen, path: str) -> bool:
    from edge0_tui.writing.attachments import Refused, mention, read

    prompt = screen.query_one(Prompt)
    if not path:  # the proposals for a path come with its sign
        prompt.put("@")
        return True
    path = path.strip('"')
    found = await asyncio.to_thread(read, path, Path.cwd())
    if isinstance(found, Refused):
        screen.tell(f"Not attached. {found}.")
        return False
    prompt.put(f"{mention(path)} ")
    return True


async def _save(screen: WritingScreen, argument: str) -> bool:
    name, _, text = argument.partition("\n") if "\n" in argument.partition(" ")[0] else argument.partition(" ")
    sent = [entry for entry in screen.query_one(Prompt).history_walk.entries if not entry.startswith("/")]
    return screen.save_prompt(name.lower(), text.strip() or (sent[-1] if sent else ""))


_OWN: Mapping[str, Callable[[WritingScreen, str], Awaitable[bool]]] = {
    "model": _model,
    "theme": _theme,
    "chats": _chats,
    "search": _chats,
    "export": _export,
    "import": _import,
    "history": _history,
    "adapter": _adapter,
    "routing": _routing,
    "system": _system,
    "preset": _preset,
    "temperature": _value("temperature"),
    "seed": _value("seed"),
    "max": _value("max_tokens"),
    "attach": _attach,
    "save": _save,
}

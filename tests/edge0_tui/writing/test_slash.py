"""Commands as they are written and proposed."""

from __future__ import annotations

import pytest

from edge0_tui.keys import ACTIONS, BY_ID
from edge0_tui.screens.slash_actions import _OWN
from edge0_tui.writing.completion import command_menu
from edge0_tui.writing.saved_texts import SavedText
from edge0_tui.writing.slash import Written, commands, nearest, parse


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("/new", Written("new")),
        ("/Preset  precise ", Written("preset", "precise")),
        ("/save a b\nc", Written("save", "a b\nc")),
        ("/usr/bin/env is a path", None),
        (" /new", None),
        ("/", None),
        ("//", None),
        ("no /new", None),
    ],
)
def test_what_is_a_command(text: str, written: Written | None) -> None:
    assert parse(text) == written


def test_every_action_of_the_palette_is_a_command_and_every_command_does_something() -> None:
    known = commands()
    reached = {command.action for command in known.values()}
    assert {action.id for action in ACTIONS if action.palette} <= reached
    for command in known.values():
        assert command.help
        assert not command.action or command.action in BY_ID
        assert (command.name in _OWN) == bool(command.argument), "what follows it is for a function"
    assert {"new", "chats", "search", "help", "theme", "copy", "model", "system", "preset", "attach"} <= set(known)


def test_proposals_for_names_saved_prompts_and_arguments() -> None:
    saved = {"newest": SavedText("newest", "What is new?"), "new": SavedText("new", "hidden by the command")}
    menu = command_menu("/ne", commands(), saved, lambda _: [])
    assert menu is not None and menu.start == 0
    assert [item.insert for item in menu.items] == ["/new", "/newest"]
    words = {"preset": [("precise", "a"), ("balanced", "b")]}
    menu = command_menu("/preset p", commands(), saved, lambda name: words.get(name, []))
    assert menu is not None and (menu.start, [item.insert for item in menu.items]) == (8, ["precise"])
    for before in ("/usr/", "text", "/preset x", "/preset a b"):
        assert command_menu(before, commands(), saved, lambda name: words.get(name, [])) is None
    needs = command_menu("/seed", commands(), saved, lambda _: [])
    assert needs is not None and not needs.items[0].whole and needs.items[0].insert == "/seed "


def test_a_slip_is_told_what_was_meant() -> None:
    assert nearest("presett", commands()) == ["preset"]
    assert nearest("qqqqqqq", commands()) == []
    assert nearest("dark", ["slate-dark", "Darkroom", "dusk", "paper"], 3) == ["Darkroom", "slate-dark"]

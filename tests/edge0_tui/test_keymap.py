"""Other keys for actions: which are possible, what a file may say, and that nothing loses its way."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.binding import Binding
from textual.widgets import TextArea

from edge0_tui import keymap_file
from edge0_tui.key_rules import WRITING, normal, refuse
from edge0_tui.keymap import Keymap, clashes
from edge0_tui.keys import ACTIONS, BY_ID


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        ("ctrl+i", "terminals send tab for ctrl+i"),
        ("ctrl+m", "terminals send enter for ctrl+m"),
        ("ctrl+h", "terminals send backspace for ctrl+h"),
        ("ctrl+[", "terminals send escape for ctrl+left_square_bracket"),
        ("super+k", "terminals keep super+k for themselves"),
        ("ctrl+shift+g", "most terminals send ctrl+g for ctrl+shift+g"),
        ("ctrl+1", "most terminals do not send ctrl+1"),
        ("ctrl+enter", "most terminals do not send ctrl+enter"),
        ("g", "g is for writing"),
        ("?", "question_mark is for writing"),
        ("down", "down moves and edits"),
        ("tab", "tab moves and edits"),
        ("ctrl+k", "ctrl+k edits text in the prompt"),
        ("ctrl+hyper", "there is no key 'ctrl+hyper'"),
        ("f25", "there is no key 'f25'"),
        ("", "there is no key ''"),
    ],
)
def test_a_key_that_cannot_be_had_is_refused_with_the_reason(key: str, reason: str) -> None:
    assert refuse(normal(key), BY_ID["models"]) == reason


@pytest.mark.parametrize("key", ["ctrl+g", "f9", "alt+m", "ctrl+]", "Ctrl+G", "alt+shift+f5", "shift+f3", "alt+."])
def test_a_key_that_can_be_had_is_taken(key: str) -> None:
    assert refuse(normal(key), BY_ID["models"]) == ""


def test_every_usual_key_is_allowed_and_arrow_keys_of_the_history_stay() -> None:
    for action in ACTIONS:
        for key in action.keys:
            assert normal(key) == key
            assert refuse(key, action) == action.fixed
    assert "stay" in refuse("ctrl+g", BY_ID["history"])
    assert clashes(Keymap()) == []


def test_the_list_of_writing_keys_is_what_the_prompt_binds() -> None:
    bound = {key for binding in Binding.make_bindings(TextArea.BINDINGS) for key in binding.key.split(",")}
    plain = {"up", "down", "left", "right", "home", "end", "pageup", "pagedown", "backspace", "delete"}
    shifted = {f"shift+{key}" for key in plain}
    kept_by_terminals = {key for key in bound if key.startswith("super+")}
    assert bound - plain - shifted - kept_by_terminals - WRITING == set()


def test_what_is_written_is_read_and_nothing_to_write_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "config" / keymap_file.NAME
    keymap = Keymap().having("models", ("ctrl+g", "f9")).having("theme", ("f10",)).having("log", ())
    keymap_file.write(path, keymap)
    assert keymap_file.read(path) == keymap_file.KeymapReading(keymap)
    back = keymap.having("models", BY_ID["models"].keys).having("theme", ()).having("log", ("ctrl+l",))
    assert back == Keymap()
    keymap_file.write(path, back)
    assert not path.exists() and keymap_file.read(path) == keymap_file.KeymapReading()


def test_every_mistake_in_the_file_is_named_and_the_rest_is_used(tmp_path: Path) -> None:
    path = tmp_path / "keymap.toml"
    path.write_text(
        'new_chat = "ctrl+g"\nmodels = ["ctrl+g"]\nchats = 3\nfly = ["f9"]\nhelp = ["ctrl+i", "x"]\n'
        'log = ["ctrl+n"]\nhistory = []\ntheme = "Alt+T"\n'
    )
    reading = keymap_file.read(path)
    assert (
        reading.keymap.changed == {"log": ("ctrl+n",), "theme": ("alt+t",)} or "log" not in reading.keymap.changed
    )
    text = "\n".join(reading.errors)
    for part in (
        'chats: keys were expected, as ["ctrl+g"]',
        "fly: there is no such action",
        "help: terminals send tab for ctrl+i; x is for writing",
        "ctrl+g: both new_chat and models",
        "history: the arrow keys",
    ):
        assert part in text
    assert clashes(reading.keymap) == []
    path.write_text("models = [")
    assert str(path) in keymap_file.read(path).errors[0]


def test_letters_are_keys_where_nothing_is_written(tmp_path: Path) -> None:
    assert refuse("t", BY_ID["message_again"]) == "" and refuse("t", BY_ID["chats_pin"]) == "t is for writing"
    assert refuse("down", BY_ID["message_again"]) == "down moves the cursor"
    path = tmp_path / "keymap.toml"
    path.write_text('message_again = ["t"]\nmodel_verify = ["t"]\nmessage_fork = ["e"]\n')
    reading = keymap_file.read(path)
    assert reading.keymap.changed == {"message_again": ("t",), "model_verify": ("t",)}
    assert reading.errors == ("e: both message_edit and message_fork",)


def test_a_key_taken_from_a_usual_place_clashes_only_where_both_can_be_used() -> None:
    keymap = Keymap().having("theme", ("ctrl+n",))
    assert [(key, one.id, other.id) for key, one, other in clashes(keymap)] == [("ctrl+n", "new_chat", "theme")]
    holder = keymap.holder("models", "ctrl+n")
    assert holder and holder.id == "new_chat"


def test_texts_that_name_a_key_say_the_present_one() -> None:
    text = "{key:restart_engine} restarts, {key:nothing} stays, {braces} too"
    assert Keymap().say(text) == "f5 restarts, {key:nothing} stays, {braces} too"
    assert Keymap().having("restart_engine", ("alt+r",)).say(text).startswith("alt+r restarts")
    assert "“Restart the engine” in the palette" in Keymap().having("restart_engine", ()).say(text)
    assert Keymap().say("{key:stop}") == "esc"

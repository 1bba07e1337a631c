"""The settings schema, its file, and what is said about mistakes in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge0_tui import settings_file
from edge0_tui.settings import Settings
from edge0_tui.settings_schema import Key, SettingError, keys

KEYS = {key.path: key for key in keys()}


def test_every_setting_explains_itself_and_has_a_default_that_is_allowed() -> None:
    for key in KEYS.values():
        assert key.option.title and key.option.help.endswith("."), key.path
        assert key.check(key.default) == key.default


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("sampling.temperature", 3.5, "sampling.temperature: 3.5 is above 2"),
        ("sampling.temperature", float("nan"), "sampling.temperature: nan is below 0"),
        ("sampling.top_k", True, "sampling.top_k: True is not a whole number"),
        ("chat.autosave_seconds", 0, "chat.autosave_seconds: 0 is below 0.5"),
        ("chat.enter_sends", 1, "chat.enter_sends: 1 is not true or false"),
        ("model.memory", "much", "model.memory: 'much' is not a size; write it as 3GiB or 900MiB"),
        ("models.folders", "/a", "models.folders: '/a' is not a list of texts"),
        ("models.folders", [""], "models.folders: [''] is not a list of texts"),
        ("look.theme", None, "look.theme: a value is needed"),
    ],
)
def test_a_wrong_value_is_named(path: str, value: object, message: str) -> None:
    with pytest.raises(SettingError) as error:
        KEYS[path].check(value)
    assert str(error.value) == message


def test_what_is_typed_is_read_or_refused() -> None:
    assert KEYS["sampling.temperature"].parse(" 0.25 ") == 0.25
    assert KEYS["sampling.temperature"].parse("") is None
    assert KEYS["sampling.max_tokens"].parse("4,096") == 4096
    with pytest.raises(SettingError, match="'abc' is not a whole number"):
        KEYS["sampling.max_tokens"].parse("abc")
    folders = KEYS["models.folders"]
    assert folders.parse(" /a b : /c:") == ("/a b", "/c") and folders.parse("") == ()
    assert folders.text(folders.parse("/a:/b")) == "/a:/b"


def _values(key: Key) -> st.SearchStrategy[Any]:
    low, high = key.option.low, key.option.high
    if key.option.choices:
        return st.sampled_from(key.option.choices)
    if key.kind is bool:
        return st.booleans()
    if key.kind is int:
        return st.integers(int(low or 0), int(high or 100))
    if key.kind is float:
        return st.floats(low, high)
    if key.option.kind == "size":
        return st.sampled_from(["", "3GiB", "900 MiB", "123456"])
    text = st.text(st.characters(codec="utf-8", exclude_characters="\x7f", exclude_categories=["Cc", "Cs"]))
    return st.lists(text.filter(bool)).map(tuple) if key.kind is tuple else text


@given(st.data())
def test_any_settings_survive_the_file(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    settings = Settings()
    for key in KEYS.values():
        settings = key.replaced(settings, data.draw(_values(key), key.path))
    path = tmp_path_factory.mktemp("settings") / "deep" / "settings.toml"
    settings_file.write(path, settings)
    assert settings_file.read(path) == settings_file.Reading(settings)


def test_all_mistakes_are_listed_and_the_rest_is_used(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text('look = 3\n[chat]\nthinking = true\nenter_sends = "no"\n[sampling]\nheat = 1\n[extra]\n')
    reading = settings_file.read(path)
    assert reading.settings.chat.thinking is True and reading.settings.chat.enter_sends is True
    assert reading.errors == [
        "look: a section was expected, as [look]",
        "chat.enter_sends: 'no' is not true or false",
        "sampling.heat: there is no such setting",
        "extra: there is no such section",
    ]


def test_a_file_that_is_not_toml_says_where(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text("[look\n")
    (error,) = settings_file.read(path).errors
    assert "line 1" in error and str(path) in error
    assert settings_file.read(tmp_path / "none.toml") == settings_file.Reading()

"""Our themes: complete, readable, found; and what is said about a user's theme that is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.color import Color

from edge0_tui import themes
from tests.edge0_tui.colour_vision import KINDS, apart, contrast

SHIPPED = themes.load()
COLOURED = [name for name, theme in SHIPPED.themes.items() if not theme.ansi]
HIGH_CONTRAST = {"lighthouse", "noon"}
FOR_COLOUR_BLIND = {"harbour", "sandbar", "lighthouse"}
TEXTS = ("foreground", "primary", "secondary", "accent", "warning", "error", "success")
TELLING = (("warning", "primary"), ("error", "foreground"), ("error", "primary"), ("accent", "primary"))
"""A meter that is nearly full, an alarming figure, the mark of a notice, and whose words these are."""
GOOD_AND_BAD = (("error", "success"), ("text-error", "text-success"), ("warning", "error"))


def colours(name: str) -> dict[str, str]:
    """Every colour of a theme by its variable, with Textual's own where the theme is silent."""
    return SHIPPED.themes[name].to_color_system().generate()


def least(name: str) -> float:
    return 7.0 if name in HIGH_CONTRAST else 4.5


def test_our_themes_are_shipped_without_errors_for_every_need() -> None:
    assert SHIPPED.errors == []
    assert len(SHIPPED.themes) >= 8 and SHIPPED.themes.keys() >= HIGH_CONTRAST | FOR_COLOUR_BLIND
    assert themes.DEFAULT in SHIPPED.themes and themes.WITHOUT_COLOUR in SHIPPED.themes
    assert {theme.dark for theme in SHIPPED.themes.values() if theme.name in HIGH_CONTRAST} == {True, False}
    assert {theme.dark for theme in SHIPPED.themes.values() if theme.name in FOR_COLOUR_BLIND} == {True, False}
    assert [name for name, theme in SHIPPED.themes.items() if theme.ansi] == ["terminal16"]


@pytest.mark.parametrize("name", COLOURED)
def test_every_text_is_readable_on_every_ground(name: str) -> None:
    found = colours(name)
    for ground in ("background", "surface", "panel"):
        for text in (*TEXTS, *(f"text-{text}" for text in TEXTS[1:]), "text-muted"):
            assert contrast(found[text], found[ground]) >= least(name), (text, ground)
        assert contrast(found["text-disabled"], found[ground]) >= 3.0, ground
    code = Color.parse(found["background"]) + Color.parse(found["boost"])
    assert contrast(found["text-accent"], code.hex) >= least(name)


@pytest.mark.parametrize("name", COLOURED)
def test_the_line_under_the_cursor_and_what_is_selected_stay_readable(name: str) -> None:
    found = colours(name)
    for part in ("block-cursor", "input-selection", "screen-selection"):
        text = found.get(f"{part}-foreground", found["foreground"])
        assert contrast(text, found[f"{part}-background"]) >= least(name), part


@pytest.mark.parametrize("name", COLOURED)
def test_colours_that_tell_something_differ_for_every_kind_of_eye(name: str) -> None:
    """In themes made for colour-blind eyes good and bad differ, too; elsewhere marks and words tell these apart."""
    found = colours(name)
    pairs = (*TELLING, *GOOD_AND_BAD) if name in FOR_COLOUR_BLIND else TELLING
    for one, other in pairs:
        for kind in ("", *KINDS):
            assert apart(found[one], found[other], kind) >= 10, (one, other, kind)


def test_the_simulation_confuses_what_is_known_to_be_confused() -> None:
    assert apart("#b02020", "#207020") > 60
    assert apart("#9f5a2a", "#757a2a", "deuteranopia") < 16 < apart("#9f5a2a", "#757a2a")
    assert all(apart("#ffffff", "#000000", kind) > 99 for kind in ("", *KINDS))
    assert contrast("#ffffff", "#000000") == pytest.approx(21.0)


def test_a_theme_of_the_users_is_added_and_may_replace_ours(tmp_path: Path) -> None:
    text = (themes.shipped_directory() / "tidepool.toml").read_text()
    (tmp_path / "mine.toml").write_text(text.replace('"tidepool"', '"mine"').replace("#6fc3b0", "#ffffff"))
    (tmp_path / "ours.toml").write_text(text.replace("#6fc3b0", "#eeeeee"))
    found = themes.load(tmp_path)
    assert found.errors == []
    assert found.themes["mine"].primary == "#ffffff"
    assert found.themes["tidepool"].primary == "#eeeeee"


def test_everything_wrong_with_a_theme_is_in_one_message(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text(
        'name = "bad"\ndark = 3\nshine = true\n[colors]\nprimary = "reddish"\nglow = "#fff"\nforeground = "#fff"\n'
    )
    (tmp_path / "worse.toml").write_text("[colors\n")
    bad, worse = themes.load(tmp_path).errors
    for part in (
        "bad.toml: ",
        "dark is true or false",
        "shine: there is no such key",
        "colors.glow: there is no such colour",
        "colors.background is missing",
        "colors.primary: 'reddish' is not a colour",
    ):
        assert part in bad
    assert worse.startswith("worse.toml: ")

"""Our themes: complete, readable, found; and what is said about a user's theme that is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.color import Color

from edge0_tui import themes

SHIPPED = themes.load()


def luminance(color: Color) -> float:
    def linear(part: int) -> float:
        share = part / 255
        return share / 12.92 if share <= 0.03928 else float(((share + 0.055) / 1.055) ** 2.4)

    return 0.2126 * linear(color.r) + 0.7152 * linear(color.g) + 0.0722 * linear(color.b)


def contrast(one: str, other: str) -> float:
    """WCAG's ratio of two colours."""
    lights = sorted((luminance(Color.parse(one)), luminance(Color.parse(other))), reverse=True)
    return (lights[0] + 0.05) / (lights[1] + 0.05)


def test_four_themes_are_shipped_without_errors() -> None:
    assert SHIPPED.errors == []
    assert {"tidepool", "foolscap", "lighthouse", "terminal16"} <= SHIPPED.themes.keys()
    assert themes.DEFAULT in SHIPPED.themes and themes.WITHOUT_COLOUR in SHIPPED.themes


@pytest.mark.parametrize("name", [name for name, theme in SHIPPED.themes.items() if not theme.ansi])
def test_every_text_is_readable_on_every_ground(name: str) -> None:
    colours = SHIPPED.themes[name].to_color_system().generate()
    least = 7.0 if name == "lighthouse" else 4.5
    texts = ("foreground", "primary", "secondary", "accent", "warning", "error", "success", "text-muted")
    for ground in ("background", "surface", "panel"):
        for text in texts:
            assert contrast(colours[text], colours[ground]) >= least, (text, ground)
        assert contrast(colours["text-disabled"], colours[ground]) >= 3.0, ground


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

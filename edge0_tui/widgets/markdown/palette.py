"""The styles of Markdown, all through theme variables, so that every theme and NO_COLOR work."""

from __future__ import annotations

# Two words of our own, which the view puts into the theme's terms: see `in_theme`.
MUTED = "@muted"
FAINT = "@faint"

STRONG = "bold"
EMPHASIS = "italic"
STRUCK = "strike"
CODE = "$text-accent on $boost"
LINK = "underline $text-primary"
MATH = "italic $text-secondary"

HEADING = {1: "bold underline $text-primary", 2: "bold $text-primary", 3: "bold"}
HEADING_DEEP = f"bold {MUTED}"

BULLET = "$text-primary"
CHECKED = "$text-success"
BAR = "$primary 60%"
QUOTED = MUTED
LINE = FAINT
TABLE_HEAD = "bold"

FENCE = "on $surface"
FENCE_HEAD = f"{MUTED} on $surface"
FENCE_TEXT = "$foreground on $surface"


def in_theme(style: str, ansi: bool, text_muted: str) -> str:
    """Write `style` for a theme. A sixteen-colour terminal has no shades, only dim; and an automatic colour
    (`auto 60%`, the usual $text-muted) would lose its transparency inside `Content`."""
    if "@" not in style:
        return style
    if ansi:
        return style.replace(MUTED, "dim").replace(FAINT, "dim")
    return style.replace(MUTED, text_muted.replace("auto", "$foreground")).replace(FAINT, "$foreground 25%")

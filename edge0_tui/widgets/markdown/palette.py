"""The styles of Markdown, all through theme variables, so that every theme and NO_COLOR work."""

from __future__ import annotations

STRONG = "bold"
EMPHASIS = "italic"
STRUCK = "strike"
CODE = "$text-accent on $boost"
LINK = "underline $text-primary"
MATH = "italic $text-secondary"

HEADING = {1: "bold underline $text-primary", 2: "bold $text-primary", 3: "bold"}
HEADING_DEEP = "bold $text-muted"

BULLET = "$text-primary"
CHECKED = "$text-success"
BAR = "$primary 60%"
QUOTED = "$text-muted"
LINE = "$foreground 25%"
TABLE_HEAD = "bold"

FENCE = "on $surface"
FENCE_HEAD = "$text-muted on $surface"
FENCE_TEXT = "$foreground on $surface"

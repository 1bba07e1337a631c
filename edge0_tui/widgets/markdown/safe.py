"""`edge0_tui.safe_text`, which needs nothing of Markdown, under the name the painters know it by."""

from edge0_tui.safe_text import harmless, one_break

__all__ = ["harmless", "one_break"]

"""Markdown shown cheaply: parsed once, laid out once for a width, painted where it is seen."""

from edge0_tui.widgets.markdown.blocks import Block, Label, Plain
from edge0_tui.widgets.markdown.section import Growing, Section
from edge0_tui.widgets.markdown.view import BlockView

__all__ = ["Block", "BlockView", "Growing", "Label", "Plain", "Section"]
